"""cloudwatch_describe_alarms: CloudWatch alarms and their state."""

from __future__ import annotations

from gate.triage.grammars import alarm_reasons
from gate.triage.readers.document import Answer, Step, Unreadable
from gate.triage.readers.log_search import nothing_unknown

KNOWN = frozenset(("AlarmNames", "AlarmNamePrefix", "AlarmTypes", "MaxRecords", "region"))
STATES = ("OK", "ALARM", "INSUFFICIENT_DATA")
TREATMENTS = ("missing", "breaching", "notBreaching", "ignore")
# With these an alarm is OK, or stays so, when nothing at all arrives.
QUIET = ("notBreaching", "ignore")
INCOMPLETE = (("NextToken",), ("MetricAlarms", 0, "EvaluationState"), ("MetricAlarms", 0, "StateReason"))
MOST = 100

Place = tuple[Step, ...]


class CloudwatchAlarms(Answer):
    """An answer of DescribeAlarms."""

    tools = ("cloudwatch_describe_alarms",)

    def asked_names(self) -> tuple[str, ...]:
        """The alarms that were asked for; none means all. A filter on the state is not among the known arguments."""
        nothing_unknown(self.args, KNOWN)
        if self.args.has("AlarmNames") is not True:
            return ()
        return tuple(self.args.text("AlarmNames", number) for number in range(self.args.length("AlarmNames")))

    def leaves_out(self, name: str) -> bool:
        """Whether a beginning of names was asked for that is not that of this one."""
        if self.args.has("AlarmNamePrefix") is not True:
            return False
        return alarm_reasons.begins_with(name, self.args.text("AlarmNamePrefix")) is not True

    def leaves_any_out(self) -> bool:
        """Whether a beginning of names was asked for at all."""
        return self.args.has("AlarmNamePrefix")

    def complete(self) -> bool:
        """True. Raises Unreadable for a next page, or a list as long as it may be."""
        if self.result.has("NextToken") and self.result.is_null("NextToken") is False:
            raise Unreadable("/NextToken", "there is a next page.", "a next page")
        most = self.args.integer("MaxRecords") if self.args.has("MaxRecords") else MOST
        if len(self.places()) >= most:
            raise Unreadable("", f"the list is as long as its limit of {most}.", "at its limit")
        return True

    def places(self) -> tuple[Place, ...]:
        """Where the alarms stand, of both kinds."""
        kinds = ["MetricAlarms", "CompositeAlarms"] if self.result.has("CompositeAlarms") is True else ["MetricAlarms"]
        return tuple((kind, number) for kind in kinds for number in range(self.result.length(kind)))

    def name(self, place: Place) -> str:
        """The alarm's name."""
        return self.result.text(*place, "AlarmName")

    def dimensions(self, place: Place) -> dict[str, str]:
        """What the alarm's metric is of. One that is calculated from others has none."""
        if self.result.has(*place, "Dimensions") is not True:
            return {}
        found = [(*place, "Dimensions", number) for number in range(self.result.length(*place, "Dimensions"))]
        return {self.result.text(*here, "Name"): self.result.text(*here, "Value") for here in found}

    def metric(self, place: Place) -> tuple[str, ...]:
        """The metric that it watches; nothing for an alarm that is calculated."""
        if self.result.has(*place, "MetricName") is not True:
            return ()
        return (self.result.text(*place, "Namespace"), self.result.text(*place, "MetricName"))

    def state(self, place: Place) -> str:
        """Its state. Raises Unreadable where CloudWatch could not evaluate it in full."""
        if self.result.has(*place, "EvaluationState"):
            seen = self.result.text(*place, "EvaluationState")
            raise Unreadable("", f"the alarm was evaluated as {seen}.", seen)
        if self.result.has(*place, "StateReason") is True:
            reason = self.result.text(*place, "StateReason")
            if alarm_reasons.says_missing(reason) is True:
                raise Unreadable("", "the alarm's state rests on data that did not arrive.", reason)
        return self.result.one_of(STATES, *place, "StateValue")

    def is_quiet_without_data(self, place: Place) -> bool:
        """Whether it is OK when no data arrives. Left out, the treatment is `missing`: then it is INSUFFICIENT_DATA."""
        if self.result.has(*place, "TreatMissingData") is not True:
            return False
        return self.result.one_of(TREATMENTS, *place, "TreatMissingData") in QUIET
