"""An agreed answer as pages offer it: to be copied, to be sent, and whom it was sent to."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from django.utils import timezone

from audit import marked_json
from gate.errors import NotAllowed
from gate.people.models import Person
from gate.triage import sending_guards
from gate.triage.models import Draft, Investigation, Sending

# Longer than a mail server is waited for: whoever tried then will not say any more what came of it.
ANSWERED_BY = timedelta(minutes=1)
Status = Sending.Status
MARKS = {
    Status.SENT: ("✓", "state--ok", "sent"),
    Status.REFUSED: ("✕", "state--bad", "not sent"),
    Status.UNKNOWN: ("?", "state--wait", "not known whether it was sent"),
    Status.TRYING: ("●", "state--wait", "being sent"),
}


def wording(investigation: Investigation) -> str:
    """The agent's answer as a person reads it, copies it and sends it: plain lines, in which nothing is hidden."""
    return plain(marked_json.undisguised(investigation.answer))


def plain(text: str) -> str:
    """A text with one sort of line break: browsers send their own."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True)
class Sent:
    """One sending, and how its words differ from the agent's."""

    sending: Sending
    changes: Sequence[str]

    @property
    def status(self) -> Status:
        """What is known now. An attempt that nobody finished stays unknown."""
        is_late = timezone.now() - self.sending.begun_at > ANSWERED_BY
        is_lost = self.sending.status == Status.TRYING and is_late
        return Status.UNKNOWN if is_lost else Status(self.sending.status)

    @property
    def glyph(self) -> str:
        return MARKS[self.status][0]

    @property
    def css(self) -> str:
        return MARKS[self.status][1]

    @property
    def words(self) -> str:
        return MARKS[self.status][2]


class Answer:
    """The answer of one draft that somebody agreed with, for one reader."""

    def __init__(self, draft: Draft, reader: Person) -> None:
        self.draft = draft
        self.reader = reader
        self.agent = draft.investigation.agent.name

    @cached_property
    def text(self) -> str:
        return wording(self.draft.investigation)

    @property
    def is_unproven(self) -> bool:
        """Whether what somebody agreed with is that the checks do not hold."""
        return self.draft.outcome == Draft.Outcome.FAIL

    @cached_property
    def sent(self) -> Sequence[Sent]:
        """Every attempt to send it, the newest first."""
        return sent_of(self.draft)

    @property
    def may_be_there(self) -> bool:
        """Whether somebody may have it already."""
        return any(sending_guards.may_be_there(sent.sending) for sent in self.sent)

    @cached_property
    def why_not_send(self) -> str:
        """The sentence that keeps this reader from sending it; empty when nothing does."""
        try:
            sending_guards.check_can_send(self.reader, self.draft)
        except NotAllowed as refusal:
            return str(refusal)
        return ""


def sent_of(draft: Draft) -> Sequence[Sent]:
    """Every attempt to send the answer of a draft, the newest first, beside the agent's words."""
    text = wording(draft.investigation)
    return [Sent(one, difference(text, one.text)) for one in draft.sendings.select_related("by").order_by("-pk")]


def of(draft: Draft | None, reader: Person) -> Answer | None:
    """The answer of a draft; None unless somebody agreed with it."""
    return Answer(draft, reader) if draft is not None and draft.status == Draft.Status.AGREED else None


def difference(before: str, after: str) -> Sequence[str]:
    """The lines that were taken out and put in, as a diff shows them; none when the texts are the same."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=1)
    return [line for line in list(lines)[2:] if not line.startswith("@@")]
