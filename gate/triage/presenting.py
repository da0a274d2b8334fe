"""A draft as its page shows it: checks, the entries that they read with the fields marked, and what else was tried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.shortcuts import get_object_or_404
from django.utils import timezone

from audit import marked_json, reading, retention
from audit.kinds import Kind
from audit.models import Entry, Retained
from audit.reading import seq_of
from evidence.metrics import reading_answers
from evidence.survival.fields import LIMITATION
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import (
    answers,
    closing,
    gathering,
    given_up,
    guards,
    inbox,
    receipts,
    survival_grounds,
    survival_reports,
)
from gate.triage.models import Draft, Finding, Incident, Investigation, Review
from gate.triage.mutation import CALL, RESULT
from gate.triage.rule_models import Examination
from gate.triage.survival_grounds import Grounds

GLYPHS = {"holds": "✓", "fails": "✕", "unreadable": "?"}
MOST_UNCITED = 30
MOST_TRIES = 200


@dataclass(frozen=True)
class Mark:
    """A state as pages show it."""

    glyph: str
    css: str
    words: str


MARKS = {
    Draft.Status.AGREED: Mark("✓", "state--ok", "Agreed"),
    Draft.Status.OVERRULED: Mark("✕", "state--bad", "Overruled"),
    Draft.Status.SENT_BACK: Mark("↻", "state--wait", "Sent back"),
}


@dataclass(frozen=True)
class Part:
    """A piece of a sentence: plain, or code."""

    text: str
    is_code: bool


def parts(sentence: str) -> list[Part]:
    """A sentence in which `code` stands in backticks, cut into its pieces."""
    return [Part(text, place % 2 == 1) for place, text in enumerate(sentence.split("`")) if text]


@dataclass(frozen=True)
class Read:
    """The fields of one entry that a check read."""

    ref: str
    seq: int
    exists: bool  # an agent may cite what never was
    paths: Sequence[str]
    asked: Sequence[str]  # of its arguments


@dataclass(frozen=True)
class Cited:
    """A finding with the number of the entry that it cites, when its id has the form of one."""

    finding: Finding
    seq: int | None


@dataclass(frozen=True)
class CheckLine:
    """One line of the verdict."""

    number: int
    fact: str
    outcome: str
    glyph: str
    title_parts: Sequence[Part]
    seen: str
    why_parts: Sequence[Part]
    reads: Sequence[Read]


@dataclass(frozen=True)
class Card:
    """A cited entry, with the fields that checks read marked by the checks' numbers."""

    entry: Entry
    is_intact: bool
    why: str
    asked: Sequence[marked_json.Line]  # its arguments
    lines: Sequence[marked_json.Line]  # its result
    is_foreign: bool
    is_redacted: bool
    leaf: int | None  # where it stands in the sealed tree, when that was proven now
    metric: reading_answers.Shown | None  # what it says of a metric, when it is an answer about one


def dotted(pointer: str) -> str:
    """A JSON pointer as people write it: /job/state is job.state."""
    return pointer.lstrip("/").replace("/", ".") or "the whole result"


def draft_page(pk: int, reader: Person) -> DraftPage:
    """The page of one draft. Raises Http404."""
    drafts = Draft.objects.select_related(
        "investigation__incident__incident_class", "investigation__agent", "claimed_by", "review__by", "examination"
    )
    return DraftPage(get_object_or_404(drafts, pk=pk), reader)


class DraftPage:
    """What the draft's page shows to one reader. Its queries do not grow with the evidence."""

    limitation = LIMITATION

    def __init__(self, draft: Draft, reader: Person) -> None:
        self.draft = draft
        self.reader = reader
        self.investigation: Investigation = draft.investigation
        self.incident: Incident = draft.investigation.incident
        self.holder = guards.claimant(draft)

    @cached_property
    def shown(self) -> receipts.Shown:
        """The verdict as it stands now, with its receipt held against the log."""
        return receipts.shown(self.draft)

    @property
    def outcome(self) -> str:
        """The verdict in a word: a pass that has lost its evidence is none."""
        return str(self.shown.outcome)

    @property
    def may_agree(self) -> bool:
        """Whether the verdict may be agreed with: nothing is closed on a pass that is lost, or not sealed."""
        return not self.shown.faults and not self.shown.waits and not self.spent

    @cached_property
    def spent(self) -> str:
        """Why a pass that waits closes nothing any more though its evidence is all there; empty where it does."""
        if self.decision is not None or self.outcome != Draft.Outcome.PASS:
            return ""
        try:
            closing.check_still_earned(self.draft)
        except NotAllowed as refusal:
            return str(refusal)
        return ""

    @cached_property
    def decision(self) -> Review | None:
        return getattr(self.draft, "review", None)

    @cached_property
    def answer(self) -> answers.Answer | None:
        """The answer to copy or send, once somebody agreed."""
        return answers.of(self.draft, self.reader)

    @cached_property
    def may_not(self) -> str:
        """Why this reader cannot decide; empty when they can."""
        try:
            guards.check_can_claim(self.reader, self.draft)
        except NotAllowed as refusal:
            return str(refusal)
        return ""

    @cached_property
    def next(self) -> Draft | None:
        """The draft that waits after this one."""
        return inbox.open_drafts().filter(pk__gt=self.draft.pk).order_by("pk").first()

    @cached_property
    def findings(self) -> Sequence[Cited]:
        return [Cited(finding, seq_of(finding.audit_id)) for finding in self.investigation.findings.all()]

    @cached_property
    def checks(self) -> Sequence[CheckLine]:
        return [self._check(check) for check in self.draft.checks]

    def _check(self, check: Mapping[str, Any]) -> CheckLine:
        pointers = _by_entry(check["paths"], check["absent"])
        reads = [
            Read(
                ref,
                seq,
                seq in self.shown_numbers,
                sorted(map(dotted, pointers.get(ref, ()))),
                sorted(map(dotted, check["args"].get(ref, ()))),
            )
            for ref, seq in _known(check["audit_ids"])
        ]
        return CheckLine(
            check["number"], check["fact"], check["outcome"], GLYPHS[check["outcome"]], parts(check["title"]),
            check["seen"], parts(check["why"]), reads,
        )  # fmt: skip

    @cached_property
    def shown_numbers(self) -> frozenset[int]:
        """The numbers of entries that are there: cited ones, and this investigation's calls."""
        return frozenset(card.entry.seq for card in self.evidence) | frozenset(call.seq for call in self._calls)

    @cached_property
    def grounds(self) -> Grounds | None:
        """What the values of the agent's answer rest on; None without an answer, or while it is not measured."""
        measured = survival_reports.of_log(self.investigation)
        return survival_grounds.of_answer(measured.run, measured.report) if measured.report is not None else None

    @property
    def mark(self) -> Mark:
        """What became of the draft: glyph, color and words."""
        return MARKS[Draft.Status(self.draft.status)]

    @property
    def is_snoozed(self) -> bool:
        until = self.draft.snoozed_until
        return self.decision is None and until is not None and until > timezone.now()

    @property
    def tally(self) -> str:
        """How many checks hold, fail, and cannot be read, as one sentence."""
        outcomes = [check["outcome"] for check in self.draft.checks]
        if not outcomes:
            return "No check was run."
        if self.shown.is_lost:
            return f"All {len(outcomes)} checks held when it was rendered, from evidence that is lost since."
        if self.draft.outcome == Draft.Outcome.PASS:
            return f"All {len(outcomes)} checks hold."
        words = {"fails": "failed", "unreadable": "cannot be read"}
        rest = [f"{outcomes.count(outcome)} {said}" for outcome, said in words.items() if outcome in outcomes]
        return ", ".join([f"{outcomes.count('holds')} of {len(outcomes)} checks hold", *rest]) + "."

    @property
    def reasons(self) -> Iterator[Mapping[str, Any]]:
        """Why it failed: a headline, and a sentence in pieces."""
        said = dict.fromkeys((reason["headline"], reason["sentence"]) for reason in self.draft.reasons)
        for headline, sentence in said:  # several codes may come to the same words
            yield {"headline": headline, "sentence_parts": parts(sentence)}

    @property
    def earn(self) -> Sequence[Mapping[str, Any]]:
        """What would have to be gathered, per check that does not hold."""
        lines = [check for check in self.draft.checks if check["outcome"] != "holds" and check["earn"]]
        return [{"number": check["number"], "parts": parts(check["earn"])} for check in lines]

    @property
    def calls_left(self) -> int:
        return self.investigation.budget_calls - self.investigation.calls_used

    @property
    def consequence(self) -> str:
        """What follows from agreeing, beside the buttons."""
        if not self.may_agree:
            return f"Overruling keeps {self.incident.ref} open in your name."
        if self.draft.outcome == Draft.Outcome.PASS:
            return f"Agreeing closes {self.incident.ref}; overruling keeps it open in your name."
        return f"Agreeing keeps {self.incident.ref} open in your name; overruling closes it."

    @cached_property
    def _calls(self) -> Sequence[Entry]:
        """Every finished call of this investigation, oldest first."""
        calls = Entry.objects.filter(incident_id=self.incident.pk, run_id=str(self.investigation.pk))
        return list(calls.filter(kind=Kind.CALL_FINISHED).order_by("seq"))

    @property
    def calls_made(self) -> int:
        return len(self._calls)

    @cached_property
    def uncited(self) -> Sequence[Entry]:
        cited = self._cited_numbers
        return [call for call in self._calls if call.seq not in cited][:MOST_UNCITED]

    @cached_property
    def tries(self) -> Sequence[gathering.Try]:
        """The questions that were asked, each with how often."""
        calls = self._calls[:MOST_TRIES]
        read = gathering.read_uncited(self.draft.checks)
        return gathering.tries(calls, reading.contents_of(list(calls)), self._cited_numbers, read)

    @property
    def not_called(self) -> Sequence[str]:
        """What the class offers and nobody looked at."""
        return gathering.not_called(self.incident.incident_class.body.get("tools", ()), self._calls)

    @property
    def contradiction(self) -> Sequence[Part]:
        """What an answer that nobody cited says against it."""
        line = gathering.contradicting(self.draft.checks)
        return parts(line["why"]) if line is not None else []

    @property
    def examination(self) -> Examination | None:
        """What single changes would have done; None until the worker has tried them."""
        return getattr(self.draft, "examination", None)

    @cached_property
    def not_examined(self) -> str:
        """Why nothing was tried, where the job was given up; empty while it is still to come."""
        return given_up.examination_of(self.draft) if self.examination is None else ""

    @property
    def nearest(self) -> Sequence[Mapping[str, Any]]:
        """One row per field that was read of a result: what would have flipped the verdict, and what would not."""
        return [row for row in self._nearest if row["part"] == RESULT]

    @property
    def nearest_besides(self) -> Sequence[Mapping[str, Any]]:
        """The same for what was asked, and for the entries themselves."""
        return [row for row in self._nearest if row["part"] != RESULT]

    @cached_property
    def _nearest(self) -> Sequence[Mapping[str, Any]]:
        rows = self.examination.rows if self.examination is not None else []
        return [
            {**row, "field": dotted(row["pointer"]), "seq": seq_of(row["audit_id"]), "is_call": row["part"] == CALL}
            for row in rows
        ]

    @cached_property
    def _cited_numbers(self) -> frozenset[int]:
        return frozenset(seq for _, seq in _known(cited.finding.audit_id for cited in self.findings))

    @cached_property
    def evidence(self) -> Sequence[Card]:
        """The cited entries, each checked against its digest before it is shown."""
        entries = list(Entry.objects.filter(seq__in=self._cited_numbers, kind=Kind.CALL_FINISHED).order_by("-seq"))
        contents = reading.contents_of(entries)
        return [self._card(entry, contents[entry.pk]) for entry in entries]

    def _card(self, entry: Entry, content: reading.Content) -> Card:
        asked = marked_json.lines(content.args, self._numbers("args", entry))
        lines = marked_json.lines(content.result, self._numbers("paths", entry), self._numbers("absent", entry))
        return Card(
            entry, content.is_intact, content.why, asked, lines, entry.incident_id != self.incident.pk,
            content.redacted_by is not None, self._leaf(entry), _metric(entry, content),
        )  # fmt: skip

    @cached_property
    def pruned(self) -> Mapping[int, Retained]:
        """The cited entries that went with their month, by number. No verdict is earned by them any more."""
        return retention.pruned_numbers(self._cited_numbers - {card.entry.seq for card in self.evidence})

    def _leaf(self, entry: Entry) -> int | None:
        checked = self.shown.checked.get(entry.seq)
        return checked.receipt.leaf if checked is not None and checked.is_sealed else None

    def _numbers(self, part: str, entry: Entry) -> dict[str, list[int]]:
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        for check in self.draft.checks:
            for pointer in check[part].get(entry.ref, ()):
                numbers[pointer].append(check["number"])
        return dict(numbers)


def _metric(entry: Entry, content: reading.Content) -> reading_answers.Shown | None:
    """What a call about a metric answered; a failed one answered nothing."""
    return reading_answers.of_tool(entry.tool, content.result) if entry.status == "ok" else None


def _known(refs: Any) -> list[tuple[str, int]]:
    return [(ref, seq) for ref in dict.fromkeys(refs) if (seq := seq_of(ref)) is not None]


def _by_entry(*mappings: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for mapping in mappings:
        for ref, pointers in mapping.items():
            found[ref].update(pointers)
    return found
