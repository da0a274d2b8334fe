"""grafana_alert_test: what Grafana answers when an alert rule is evaluated once (/api/alerts/test)."""

from __future__ import annotations

from gate.triage.grammars import grafana_logs
from gate.triage.readers.document import Answer, Unreadable

STATES = ("ok", "alerting", "pending", "no_data", "paused", "unknown", "keep_state", "execution_error")
# A rule that found no data, or could not be evaluated, may well say `firing: false`.
INCOMPLETE = ("no_data", "paused", "unknown", "keep_state", "execution_error")


class GrafanaAlertTest(Answer):
    """An answer of one evaluation. It names no rule, so only the question says which."""

    tools = ("grafana_alert_test",)

    def complete(self) -> bool:
        """True. Raises Unreadable where the rule was not evaluated on data."""
        if self.result.has("error") and self.result.text("error") != "":
            raise Unreadable("/error", "the rule could not be evaluated.", "an error")
        state = self.result.one_of(STATES, "state")
        if state in INCOMPLETE:
            raise Unreadable("/state", f"the state is {state}, so the rule saw nothing.", state)
        if self.result.has("logs") is True and self.result.is_null("logs") is False:
            self._check_logs()
        return True

    def _check_logs(self) -> None:
        """A rule that is set to be `ok` without data is so, and only its log tells."""
        for number in range(self.result.length("logs")):
            message = self.result.text("logs", number, "message")
            is_empty = grafana_logs.is_query_result(message) is True and self.result.length("logs", number, "data") == 0
            if (is_empty, grafana_logs.says_no_data(message)) != (False, False):
                raise Unreadable(f"/logs/{number}", "the rule's query returned nothing.", message)

    def is_firing(self) -> bool:
        """Whether the rule fires."""
        return self.result.flag("firing")

    def state(self) -> str:
        """The state that the evaluation gives."""
        return self.result.one_of(STATES, "state")

    def matches(self) -> int:
        """How many series met the rule's condition. Left out and null mean none."""
        if self.result.has("matches") is not True:
            return 0
        return 0 if self.result.is_null("matches") is True else self.result.length("matches")
