"""list_job_attempts: every attempt at one job."""

from datetime import datetime

from gate.triage.readers.document import Answer

OUTCOMES = ("running", "succeeded", "failed")


class ListJobAttempts(Answer):
    """An answer of list_job_attempts. It is complete when `total` says so."""

    tools = ("list_job_attempts",)

    def asked_keys(self) -> frozenset[str]:
        """What was asked by."""
        return self.args.keys()

    def asked_job_id(self) -> int:
        """The job that was asked for; the answer itself does not name it."""
        return self.args.integer("job_id")

    def total(self) -> int:
        """How many attempts there are."""
        return self.result.integer("total")

    def listed(self) -> int:
        """How many of them are in the answer."""
        return self.result.length("attempts")

    def outcome(self, index: int) -> str:
        """How an attempt ended, out of the closed list."""
        return self.result.one_of(OUTCOMES, "attempts", index, "outcome")

    def error(self, index: int) -> str | None:
        """The error that it ended with: a text, or exactly null."""
        return self.result.text_or_null("attempts", index, "error")

    def started_at(self, index: int) -> datetime:
        """When it began."""
        return self.result.moment("attempts", index, "started_at")

    def ended_at(self, index: int) -> datetime:
        """When it ended."""
        return self.result.moment("attempts", index, "ended_at")
