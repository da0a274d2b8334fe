"""Everything that the page of one entry shows."""

from __future__ import annotations

from dataclasses import dataclass

from audit import comparing, links, marked_json, reading, trust
from audit.kinds import Kind
from audit.models import Entry, Link
from audit.reading import Content
from audit.sentences import sentence
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

    @property
    def title(self) -> str:
        return sentence(self.entry)

    @property
    def is_about_its_incident(self) -> bool:
        return self.entry.subject == f"I-{self.entry.incident_id}"

    @property
    def has_result(self) -> bool:
        """Whether there is a result to show: a call has one by its nature, other entries only when they say so."""
        is_empty = self.content.is_intact and self.content.result_raw == b"null"
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


def entry_page(entry: Entry) -> EntryPage:
    """Read and check an entry, and find what belongs beside it."""
    content, pair = reading.content_of(entry), trust.pair_of(entry)
    return EntryPage(
        entry=entry,
        content=content,
        pair=pair,
        answers=[trust.content_answer(content), trust.completeness_answer(entry, pair)],
        previous=comparing.since_previous(entry, content),
        cited_by=links.citing(entry.seq),
    )
