"""alertmanager_alerts: the alerts that Alertmanager holds (/api/v2/alerts, and /api/v1/alerts with its envelope)."""

from __future__ import annotations

from gate.triage.grammars import labels
from gate.triage.grammars.labels import Matcher
from gate.triage.readers.document import Answer, Step, Unreadable
from gate.triage.readers.log_search import nothing_unknown

FILTERS = ("filter", "filters", "matchers")
# Left out, each is true. False leaves out alerts that fire: silenced ones too are about something that is not good.
SHOWN = ("active", "silenced", "inhibited", "unprocessed")
KNOWN = frozenset((*FILTERS, *SHOWN))
STATES = ("active", "suppressed", "unprocessed", "firing", "pending")
INCOMPLETE = (("status",), ("error",), ("nextToken",), ("truncated",))


class AlertmanagerAlerts(Answer):
    """A list of alerts. Whatever their state, alerts that are listed have not been resolved."""

    tools = ("alertmanager_alerts",)

    def matchers(self) -> tuple[Matcher, ...]:
        """What was demanded of the alerts. Raises Unreadable for regular expressions and whatever else narrows."""
        nothing_unknown(self.args, KNOWN)
        for key in SHOWN:
            if self.args.has(key) and self.args.flag(key) is not True:
                raise Unreadable(f"/{key}", f"alerts were left out by `{key}`.", "false")
        return tuple(self._matcher(text) for key in FILTERS if self.args.has(key) for text in self._filter(key))

    def _filter(self, key: str) -> list[str]:
        if type(self.call.args[key]) is str:
            return [self.args.text(key)]
        return [self.args.text(key, number) for number in range(self.args.length(key))]

    def _matcher(self, text: str) -> Matcher:
        found = labels.parse(text)
        if found is None:
            raise Unreadable("", "a filter is not one label with one value.", text)
        return found

    def _is_enveloped(self) -> bool:
        return type(self.call.result) is dict

    def complete(self) -> bool:
        """True. Raises Unreadable where the envelope tells of an error or of more alerts."""
        if self._is_enveloped() is not True:
            return self.result.length() >= 0
        self.result.one_of(("success",), "status")
        for (key,) in INCOMPLETE:
            if key != "status" and self.result.has(key):
                raise Unreadable(f"/{key}", f"`{key}` says that the list is not whole.", key)
        return True

    def _place(self) -> tuple[Step, ...]:
        return ("data",) if self._is_enveloped() is True else ()

    def alerts(self) -> int:
        """How many alerts are listed."""
        return self.result.length(*self._place())

    def labels(self, index: int) -> dict[str, str]:
        """What one alert is about."""
        return self.result.texts(*self._place(), index, "labels")

    def state(self, index: int) -> str:
        """Its state. Suppressed says that nobody is told, not that it is over."""
        return self.result.one_of(STATES, *self._place(), index, "status", "state")
