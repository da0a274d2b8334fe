"""What the page of a redaction shows: what goes, what stays, where else the content stands, and who may confirm."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from audit import copies, marked_json, reading, redacting
from audit.models import Entry, Redaction
from audit.refusing import why_not
from audit.sentences import sentence

WORDS = {"args": "The arguments", "result": "The result"}
STAYS = (
    "That it happened: when, by whom, with which tool, and for which incident.",
    "How long arguments and result were, and the commitments to them: the seal and every proof go on working.",
)
CUT = "It was longer than what is kept, so a hash of the whole stays too: a short list of guesses could be tried on it."


class RedactionPage:
    """An entry as somebody who may redact sees it."""

    def __init__(self, entry: Entry, person: Any) -> None:
        self.entry = entry
        self.person = person

    @property
    def title(self) -> str:
        return sentence(self.entry)

    @cached_property
    def waiting(self) -> Redaction | None:
        return redacting.waiting_for(self.entry)

    @property
    def deed(self) -> str:
        """What confirming does."""
        return f"redact {self.waiting.get_part_display()} of {self.entry.ref}" if self.waiting else ""

    @cached_property
    def content(self) -> reading.Content:
        return reading.content_of(self.entry)

    @property
    def going(self) -> list[tuple[str, int, list[marked_json.Line], str]]:
        """Each part that is there and would go: its name, its bytes, and its content to look at once more."""
        wanted = self.waiting.parts if self.waiting else ("args", "result")
        return [self._part(name) for name in redacting.parts_there(self.entry) if name in wanted]

    def _part(self, name: str) -> tuple[str, int, list[marked_json.Line], str]:
        raw: bytes = getattr(self.content, f"{name}_raw")
        lines = marked_json.lines(getattr(self.content, name)) if self.content.is_readable else []
        return WORDS[name], len(raw), lines, "" if lines else raw.decode(errors="backslashreplace")

    @property
    def staying(self) -> list[str]:
        """What no redaction takes away: the header, which the seal is over."""
        texts = [
            f"Its {name}, as the list shows it: {text}"
            for name, text in (("summary", self.entry.summary), ("error text", self.entry.error))
            if text
        ]
        return [*STAYS, *texts, *([CUT] if self.entry.args_sha256 or self.entry.result_sha256 else [])]

    @cached_property
    def copies(self) -> list[copies.Copy]:
        return copies.of(self.entry)

    @property
    def why_not_ask(self) -> str:
        """The sentence that keeps everybody from asking now; empty when nothing does."""
        return why_not(lambda: redacting.check_can_ask(self.entry, (), self.person))

    @property
    def why_not_confirm(self) -> str:
        """The sentence that keeps this person from confirming what waits; empty when nothing does."""
        waiting = self.waiting
        return "" if waiting is None else why_not(lambda: redacting.check_can_confirm(waiting, self.person))
