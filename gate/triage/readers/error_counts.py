"""count_errors as a search of logs: the same answers as count_errors.py reads, by what all searches have in common."""

from __future__ import annotations

from gate.triage.readers.document import Unreadable
from gate.triage.readers.log_search import Asked, LogSearch, nothing_unknown

KNOWN = frozenset(("error", "job_kind", "from", "to"))
INCOMPLETE = (("complete",),)


class ErrorCount(LogSearch):
    """An answer of count_errors. Asked with `error` null, it counts every line."""

    tools = ("count_errors",)
    NULL_SAYS_SOMETHING = True  # `error` null asks for every line

    def asked(self) -> Asked:
        """What was asked; the answer repeats it, and must repeat it exactly."""
        nothing_unknown(self.args, KNOWN)
        error = self.args.text_or_null("error")
        patterns = () if error is None else (error,)
        selector = frozenset((("job_kind", self.args.text("job_kind")),))
        return Asked(frozenset(), selector, patterns, self.args.moment("from"), self.args.moment("to"))

    def complete(self) -> bool:
        """True. Raises Unreadable unless every line was looked at, for what was asked and over the time asked for."""
        if self.result.flag("complete") is not True:
            raise Unreadable("/complete", "the search was not finished, so its count says nothing.", "false")
        asked, error = self.asked(), self.result.text_or_null("error")
        counted = frozenset((("job_kind", self.result.text("job_kind")),)), () if error is None else (error,)
        if counted != (asked.selector, asked.patterns):
            raise Unreadable("", "other lines were counted than were asked for.", "other lines")
        window = self.result.moment("window", "from"), self.result.moment("window", "to")
        if window != (asked.begins, asked.ends):
            raise Unreadable(
                "", "another window was counted than was asked for.", f"{window[0]:%H:%M} to {window[1]:%H:%M}"
            )
        return True

    def found(self) -> int:
        """How many lines carry the error."""
        return self.result.integer("count")

    def scanned(self) -> int:
        """How many lines were looked at."""
        return self.result.integer("scanned")
