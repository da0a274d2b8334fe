"""Everything that the page of one entry shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit import comparing, marked_json, reading, seal_trust, surroundings, trust
from audit.kinds import Kind
from audit.models import Entry, Link, Redaction
from audit.reading import Content
from audit.sentences import sentence
from audit.surroundings import Surroundings, Viewer
from audit.templatetags.ui import span

MOST_SHOWN = 20_000  # bytes of a payload that is shown as text because it cannot be read


@dataclass(frozen=True)
class EntryPage:
    """An entry with its content, checked now, and what surrounds it."""

    entry: Entry
    content: Content
    pair: trust.Pair
    answers: list[trust.Answer]
    previous: comparing.Comparison | None
    cited_by: list[Link]
    redaction: Redaction | None  # a request to take a part of it away, which waits for a second person
    viewers: Sequence[Viewer]

    @property
    def is_of_the_log(self) -> bool:
        """Whether it is about the log itself: such entries are not redacted."""
        return self.entry.kind.startswith("log.")

    @property
    def title(self) -> str:
        return sentence(self.entry)

    @property
    def is_about_its_incident(self) -> bool:
        return self.entry.subject == f"I-{self.entry.incident_id}"

    @property
    def has_result(self) -> bool:
        """Whether there is a result to show: a call has one by its nature, other entries only when they say so."""
        is_empty = (
            self.content.is_intact or self.content.redacted_by is not None
        ) and self.content.result_raw == b"null"
        return self.entry.kind == Kind.CALL_FINISHED or not is_empty

    @property
    def args(self) -> list[marked_json.Line]:
        return marked_json.lines(self.content.args)

    @property
    def result(self) -> list[marked_json.Line]:
        """The result, with the fields marked that something read; the numbers of checks belong to a draft's page."""
        return marked_json.lines(self.content.result, {path: () for link in self.cited_by for path in link.paths})

    @property
    def before(self) -> str:
        """How long before this entry the previous same call was."""
        if self.previous is None:
            return ""
        return span((self.entry.at - self.previous.entry.at).total_seconds())

    @property
    def readers(self) -> str:
        return ", ".join(link.subject for link in self.cited_by if link.paths)

    @property
    def args_text(self) -> str:
        return self.content.args_raw[:MOST_SHOWN].decode(errors="backslashreplace")

    @property
    def result_text(self) -> str:
        return self.content.result_raw[:MOST_SHOWN].decode(errors="backslashreplace")


def entry_page(entry: Entry, by: Any) -> EntryPage:
    """Read and check an entry, find what belongs beside it, and record that somebody looked."""
    beside = surroundings.of(entry)
    neighbors, calls = trust.neighbors_of(entry, comparing.earlier(entry))
    likely = comparing.likely(entry, calls)
    contents = reading.contents_of([entry, *likely])
    content = contents[entry.pk]
    return EntryPage(
        entry=entry,
        content=content,
        pair=neighbors.pair,
        answers=[
            trust.content_answer(content),
            seal_trust.sealed_answer(entry, beside, beside.head),
            seal_trust.witnessed_answer(beside),
            trust.completeness_answer(entry, neighbors),
        ],
        previous=comparing.since_previous(content, likely, contents),
        cited_by=list(beside.cited_by),
        redaction=_redaction(beside),
        viewers=surroundings.recorded_view(entry, beside, by).viewers,
    )


def _redaction(beside: Surroundings) -> Redaction | None:
    if beside.redaction is None:
        return None
    return Redaction.objects.select_related("asked_by").filter(pk=beside.redaction).first()
