"""count_errors: how many log lines of one kind of job carry an error, between two moments, counted at the source."""

from datetime import datetime

from gate.triage.readers.document import Answer


class CountErrors(Answer):
    """An answer of count_errors. Asked with `error` null, it counts every line: the control that the log is alive."""

    tools = ("count_errors",)
    NULL_SAYS_SOMETHING = True  # `error` null asks for every line

    def asked_keys(self) -> frozenset[str]:
        """What was asked by."""
        return self.args.keys()

    def asked_error(self) -> str | None:
        """The error that was asked for; null asks for any line."""
        return self.args.text_or_null("error")

    def asked_job_kind(self) -> str:
        """The kind of job that was asked for."""
        return self.args.text("job_kind")

    def asked_from(self) -> datetime:
        """Where the asked window begins."""
        return self.args.moment("from")

    def asked_to(self) -> datetime:
        """Where the asked window ends."""
        return self.args.moment("to")

    def error(self) -> str | None:
        """The error that was counted."""
        return self.result.text_or_null("error")

    def job_kind(self) -> str:
        """The kind of job whose lines were counted."""
        return self.result.text("job_kind")

    def window_from(self) -> datetime:
        """Where the counted window begins."""
        return self.result.moment("window", "from")

    def window_to(self) -> datetime:
        """Where the counted window ends."""
        return self.result.moment("window", "to")

    def count(self) -> int:
        """How many lines carry the error. Not there when the count was given up."""
        return self.result.integer("count")

    def scanned(self) -> int:
        """How many lines were looked at."""
        return self.result.integer("scanned")

    def complete(self) -> bool:
        """Whether every line of the window was looked at."""
        return self.result.flag("complete")
