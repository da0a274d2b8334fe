"""prometheus_rules: the alerting rules that a Prometheus evaluates (/api/v1/rules)."""

from datetime import datetime
from decimal import Decimal

from gate.triage.grammars import constants
from gate.triage.readers.document import Answer, Unreadable

TYPES = ("alerting", "recording")
STATES = ("firing", "pending", "inactive")
HEALTHS = ("ok", "err", "unknown")
# What the answer says when it is not all there is: a next page, or stores that did not answer.
INCOMPLETE = (("data", "groupNextToken"), ("warnings",), ("error",), ("errorType",))

Place = tuple[int, int]


class PrometheusRules(Answer):
    """An answer of /api/v1/rules. An older server ignores the name that it is asked for and lists every rule."""

    tools = ("prometheus_rules",)

    def asked_names(self, key: str) -> tuple[str, ...]:
        """The names of rules that were asked for: one as a text, or several as a list."""
        match self.call.args:
            case {"rule_name": str()} | {"rule_name[]": str()} | {"rule_names": str()} | {"alertname": str()}:
                return (self.args.text(key),)
        return tuple(self.args.text(key, number) for number in range(self.args.length(key)))

    def complete(self) -> bool:
        """True. Raises Unreadable where the answer says that it is not whole."""
        self.result.one_of(("success",), "status")
        for path in INCOMPLETE:
            if self.result.has(*path) and not self.is_blank(path):
                name = ".".join(path)
                raise Unreadable("/" + "/".join(path), f"`{name}` says that the answer is not whole.", "a cut answer")
        return True

    def is_blank(self, path: tuple[str, ...]) -> bool:
        """Whether the marker is there and says nothing."""
        if path == ("warnings",):  # the only one that is a list
            return self.result.length(*path) == 0
        return self.result.text(*path) == ""

    def places(self, name: str) -> tuple[Place, ...]:
        """Where the rules of that name stand: group and number."""
        found = []
        for group in range(self.result.length("data", "groups")):
            for rule in range(self.result.length("data", "groups", group, "rules")):
                if self.result.text("data", "groups", group, "rules", rule, "name") == name:
                    found.append((group, rule))
        return tuple(found)

    def is_alerting(self, place: Place) -> bool:
        """Whether the rule raises alerts; a recording rule only calculates."""
        return self.result.one_of(TYPES, *self._at(place), "type") == "alerting"

    def constant(self, place: Place) -> Decimal:
        """The number in `vector(<number>)`. An expression of any other form is unreadable as one."""
        query = self.result.text(*self._at(place), "query")
        number = constants.vector(query)
        if number is None:
            raise Unreadable("", "the expression is not `vector(<number>)`, so it may depend on something.", query)
        return number

    def state(self, place: Place) -> str:
        """Whether the alert fires."""
        return self.result.one_of(STATES, *self._at(place), "state")

    def health(self, place: Place) -> str:
        """Whether the rule could be evaluated."""
        return self.result.one_of(HEALTHS, *self._at(place), "health")

    def labels(self, place: Place) -> dict[str, str]:
        """The labels that the rule gives its alerts."""
        return self.result.texts(*self._at(place), "labels")

    def severity(self, place: Place) -> str:
        """The label severity."""
        return self.result.text(*self._at(place), "labels", "severity")

    def tells_when_it_was_evaluated(self, place: Place) -> bool:
        """Whether the answer says when the rule was last evaluated."""
        return self.result.has(*self._at(place), "lastEvaluation")

    def alerts(self, place: Place) -> int:
        """How many alerts of the rule are pending or fire."""
        return self.result.length(*self._at(place), "alerts")

    def tells_its_alerts(self, place: Place) -> bool:
        """Whether the answer lists them."""
        return self.result.has(*self._at(place), "alerts")

    def severity_of_alert(self, place: Place, number: int) -> str:
        """The label severity of one of them, which relabeling may have changed."""
        return self.result.text(*self._at(place), "alerts", number, "labels", "severity")

    def evaluated_at(self, place: Place) -> datetime:
        """When the rule was last evaluated."""
        return self.result.moment(*self._at(place), "lastEvaluation")

    def _at(self, place: Place) -> tuple[str, str, int, str, int]:
        return ("data", "groups", place[0], "rules", place[1])
