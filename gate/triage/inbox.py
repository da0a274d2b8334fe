"""What waits for a person: drafted verdicts, writes and versions, oldest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet, Value
from django.urls import reverse
from django.utils import timezone

from audit import twohands
from audit.models import Definition
from audit.templatetags.ui import minutes_until
from evidence import alerts
from gate.people.models import Person
from gate.triage import guards, receipts, written
from gate.triage.models import Draft, Incident
from gate.triage.receipts import Shown
from gate.triage.rule_models import Drift
from gate.writes import queue
from gate.writes.models import WriteRequest

MOST_COUNTED = 100
MOST_SHOWN = 100


@dataclass(frozen=True)
class Row:
    """One line of the inbox."""

    glyph: str
    glyph_css: str
    ref: str
    url: str
    title: str
    note: str
    chip: str
    chip_css: str
    who: str
    since: datetime


@dataclass(frozen=True)
class Group:
    """Rows that ask the same thing, and whether they ask it of this reader."""

    title: str
    rows: Sequence[Row]
    is_yours: bool

    @property
    def title_for_others(self) -> str:
        return self.title.replace(" your ", " ")


@dataclass(frozen=True)
class Filters:
    """What the address asks for."""

    kind: str = ""  # incident, claim, write
    order: str = ""  # newest, or oldest first
    text: str = ""

    @property
    def are_set(self) -> bool:
        return bool(self.kind or self.text)


def open_drafts() -> QuerySet[Draft]:
    """Drafts that nobody decided and nobody put away."""
    awake = Q(snoozed_until=None) | Q(snoozed_until__lte=timezone.now())
    return Draft.objects.filter(awake, status__in=guards.OPEN)


def open_writes() -> QuerySet[WriteRequest]:
    """Writes that wait for an approval."""
    return WriteRequest.objects.filter(status=WriteRequest.Status.WAITING)


@dataclass(frozen=True)
class Counts:
    """How much waits for one person, each counted up to 100."""

    drafts: int
    writes: int
    versions: int
    written: int
    alerts: int  # about agents: they wait on the agents' pages, not in the inbox

    @property
    def all(self) -> int:
        return self.drafts + self.writes + self.versions + self.written


def counts(person: Person) -> Counts:
    """What waits for this person, by what their role may do: every page shows it, so it takes one query."""
    waiting: list[tuple[str, QuerySet[Any]]] = [
        ("gate.review_draft", open_drafts()),
        ("gate.decide_write", open_writes()),
        ("gate.change_definition", twohands.waiting()),
        ("gate.close_incident", written.open_ones()),
        ("evidence.acknowledge_alert", alerts.open_ones()),
    ]
    asked = [
        rows.order_by("pk").values_list(Value(act))[:MOST_COUNTED] for act, rows in waiting if person.has_perm(act)
    ]
    found = Counter(act for (act,) in asked[0].union(*asked[1:], all=True)) if asked else Counter[str]()
    return Counts(*(found[act] for act, _ in waiting))


def groups(filters: Filters, person: Person) -> list[Group]:
    """The inbox's groups that hold something, in nine queries at most while all evidence is well."""
    may = person.has_perm
    found = [
        Group("Reads that wrote", _written(filters), may("gate.close_incident")),
        Group("Needs your review", _draft_rows(_drafts(filters)), may("gate.review_draft")),
        Group("Writes to approve", _write_rows(filters, person), may("gate.decide_write")),
        Group("Versions to activate", _versions(filters, person), may("gate.change_definition")),
        Group("Answers that changed", _drift(filters, person), may("gate.change_definition")),
    ]
    return [group for group in found if group.rows]


def _written(filters: Filters) -> list[Row]:
    """Whatever is searched for: a source is dark, and agents wait for it."""
    if filters.kind not in {"", "incident"}:
        return []
    return [written_row(one) for one in written.open_ones().select_related("owner").order_by("pk")[:MOST_SHOWN]]


def _versions(filters: Filters, person: Person) -> list[Row]:
    if filters.are_set or not person.has_perm("gate.change_definition"):
        return []
    waiting = twohands.waiting().select_related("drafted_by")
    return [version_row(version) for version in waiting.order_by("pk")[:MOST_SHOWN]]


def _drift(filters: Filters, person: Person) -> list[Row]:
    if filters.are_set or not person.has_perm("gate.change_definition"):
        return []
    return [drift_row(one) for one in Drift.objects.filter(settled_at=None).order_by("pk")[:MOST_SHOWN]]


def _drafts(filters: Filters) -> QuerySet[Draft]:
    drafts = open_drafts().select_related("investigation__incident", "claimed_by")
    if filters.kind == "write":
        return drafts.none()
    if filters.kind:
        drafts = drafts.filter(investigation__incident__kind=filters.kind)
    if filters.text:
        drafts = drafts.filter(investigation__incident__title__icontains=filters.text)
    return drafts.order_by("-pk" if filters.order == "newest" else "pk")[:MOST_SHOWN]


def _writes(filters: Filters) -> QuerySet[WriteRequest]:
    writes = open_writes().filter(title__icontains=filters.text)
    if filters.kind not in {"", "write"}:
        return writes.none()
    return writes.order_by("-pk" if filters.order == "newest" else "pk")[:MOST_SHOWN]


def _draft_rows(drafts: Iterable[Draft]) -> list[Row]:
    listed = list(drafts)
    shown = receipts.glanced(listed)
    return [draft_row(draft, shown[draft.pk]) for draft in listed]


def draft_row(draft: Draft, shown: Shown) -> Row:
    """A draft's line, with its verdict as it stands now: an agent's until a person decides."""
    incident = draft.investigation.incident
    holder = guards.claimant(draft)
    return Row(
        "◇", "state--agent", draft.ref, reverse("gate:draft", args=[draft.pk]), incident.title, _note(incident),
        chip_words(draft, shown), f"{chip_css(shown)} chip--drafted", str(holder) if holder else "Unclaimed",
        draft.rendered_at,
    )  # fmt: skip


def _write_rows(filters: Filters, person: Person) -> list[Row]:
    return [write_row(row) for row in queue.listed(_writes(filters), person)]


def write_row(row: queue.Row) -> Row:
    """A write's line, as the list of writes says how far it came."""
    write, state = row.write, row.state
    expires = f"expires in {minutes_until(write.expires_at)}"
    note = f"I-{write.incident_id}, {expires}" if write.incident_id else expires
    return Row(
        "◇" if write.by_agent else "◌", "state--agent" if write.by_agent else "", write.ref,
        reverse("writes:write", args=[write.pk]), write.title, note, f"{state.glyph} {state.words}", "chip--wait",
        write.proposer, write.proposed_at,
    )  # fmt: skip


def version_row(version: Definition) -> Row:
    """A drafted definition's line."""
    plural = twohands.KINDS[version.kind].plural
    return Row(
        "◌", "", f"v{version.version}", reverse("definitions:one", args=[plural, version.name]),
        f"{version.kind} {version.name}", version.reason[:100], "◌ drafted", "chip--drafted", str(version.drafted_by),
        version.drafted_at,
    )  # fmt: skip


def written_row(incident: Incident) -> Row:
    """A line about a read that wrote; closing its incident lights the source again."""
    return Row(
        "!", "state--bad", incident.ref, reverse("gate:incident", args=[incident.pk]), incident.title,
        f"during {incident.facts['during']}", "! source is dark", "chip--bad", str(incident.owner or "Unclaimed"),
        incident.opened_at,
    )  # fmt: skip


def drift_row(drift: Drift) -> Row:
    """A line about a tool whose answers changed."""
    return Row(
        "!", "state--wait", f"A-{drift.entry_seq}", reverse("gate:drift"), f"{drift.tool}: {drift.path}",
        drift.get_what_display().lower(), "! to look at", "chip--wait", "", drift.first_at,
    )  # fmt: skip


def _note(incident: Incident) -> str:
    return f"{incident.ref}, claim" if incident.kind == Incident.Kind.CLAIM else incident.ref


def chip_css(shown: Shown) -> str:
    """The color of a verdict, which its words and glyph say as well."""
    return "chip--ok" if shown.outcome == Draft.Outcome.PASS else "chip--bad"


def chip_words(draft: Draft, shown: Shown) -> str:
    """A verdict in one chip: "✓ Pass, 6 of 6 checks hold", "✕ Fail, no rule", "✕ Fail, evidence is lost"."""
    if shown.is_lost:
        return "✕ Fail, evidence is lost"
    outcomes = [check["outcome"] for check in draft.checks]
    if draft.outcome == Draft.Outcome.PASS:
        return f"✓ Pass, {outcomes.count('holds')} of {len(outcomes)} checks hold"
    if outcomes:
        return f"✕ Fail, {outcomes.count('holds')} of {len(outcomes)} checks hold"
    return f"✕ Fail, {str(draft.reasons[0]['code']).replace('_', ' ')}"
