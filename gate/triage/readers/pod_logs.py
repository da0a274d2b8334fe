"""fetch_pod_logs: the lines of one pod as text. It counts nothing, and finding nothing it may have read nothing."""

from __future__ import annotations

from gate.triage.readers.document import Unreadable
from gate.triage.readers.log_search import Asked, LogSearch, nothing_unknown

KNOWN = frozenset(("pod_name", "namespace", "filter", "limit", "start_time", "end_time", "container", "exclude_filter"))
# `no_data` may be an empty log, a pod that is gone, or a time with no lines kept.
INCOMPLETE = ("no_data", "error", "failure", "approval_required")
STATUSES = ("success", *INCOMPLETE)


class PodLogs(LogSearch):
    """An answer of fetch_pod_logs. Its text is never searched, so it can show that a log is alive, and no more."""

    tools = ("fetch_pod_logs",)

    def asked(self) -> Asked:
        """What was asked. Without both ends nobody knows which time the answer is about."""
        nothing_unknown(self.args, KNOWN)
        if self.args.has("exclude_filter"):
            raise Unreadable("/exclude_filter", "lines were filtered out.", "a negative filter")
        selector = frozenset((("namespace", self.args.text("namespace")), ("pod", self.args.text("pod_name"))))
        patterns = (self.args.text("filter"),) if self.args.has("filter") else ()
        return Asked(frozenset(), selector, patterns, self.args.instant("start_time"), self.args.instant("end_time"))

    def complete(self) -> bool:
        """True. Raises Unreadable for anything but success with lines."""
        status = self.result.one_of(STATUSES, "status")
        if status in INCOMPLETE:
            raise Unreadable("/status", f"the answer is `{status}`, which is not an empty log.", status)
        if self.result.text_or_null("error") is not None:
            raise Unreadable("/error", "the tool tells of an error.", "an error")
        self.result.text("data")
        return True

    def has_lines(self) -> bool:
        """Lines that came back show that there are some, however many were cut off."""
        return self.result.one_of(STATUSES, "status") == "success" and self.result.text("data") != ""

    def says_scanned(self) -> bool:
        """It does not."""
        return False
