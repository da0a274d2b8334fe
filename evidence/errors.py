"""What an agent is told when its request is not served, and why a read was not done."""

from __future__ import annotations


class Problem(Exception):
    """A refusal or failure that the agent reads: an HTTP status, a slug for programs, and one sentence.

    `audit_id` and `digest` are those of the entry of a call that ran and failed: a failed call is an answer, too.
    `is_recorded` says that the refusal is an entry already. `retry_after` is of a limit that fills up again: the
    seconds until then.
    """

    def __init__(
        self, status: int, code: str, sentence: str, audit_id: str = "", digest: str = "", *, retry_after: int = 0
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.sentence = sentence
        self.audit_id = audit_id
        self.digest = digest
        self.is_recorded = bool(audit_id)
        self.retry_after = retry_after


class Refused(Exception):
    """A read that was not done, or not finished: a slug for programs and one sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


def unknown_tool() -> Problem:
    """The one answer for a tool that does not exist, is not in force, or is not for this agent: they look the same."""
    return Problem(
        404,
        "unknown_tool",
        "There is no such tool for you here; your briefing names the ones there are.",
    )
