"""rds_describe_events: what happened to a database, as Amazon RDS tells."""

from __future__ import annotations

from datetime import datetime, timedelta

from gate.triage.grammars import rds_events
from gate.triage.readers.document import Answer, Unreadable
from gate.triage.readers.log_search import nothing_unknown

SOURCES = ("db-instance", "db-cluster")
# Not among them: EventCategories and Filters, which leave out failures.
KNOWN = frozenset(("SourceIdentifier", "SourceType", "StartTime", "EndTime", "Duration", "MaxRecords", "region"))
CATEGORIES = ("availability", "backtrack", "backup", "configuration change", "creation", "deletion", "failover",
              "failure", "global failover", "low storage", "maintenance", "notification", "read replica", "recovery",
              "restoration", "security", "security patching")  # fmt: skip
INCOMPLETE = (("Marker",),)
MOST = 100
LONGEST_MINUTES = 20160  # two weeks


class RdsEvents(Answer):
    """An answer of DescribeEvents. It may be a page of more."""

    tools = ("rds_describe_events",)

    def asked_source(self) -> str:
        """The database whose events were asked for."""
        nothing_unknown(self.args, KNOWN)
        if self.args.has("SourceType"):
            self.args.one_of(SOURCES, "SourceType")
        return self.args.text("SourceIdentifier")

    def asked_from(self) -> datetime:
        """Where the asked time begins: said, or so many minutes before the call. Raises Unreadable for both."""
        if self.args.has("Duration") is False:
            return self.args.instant("StartTime")
        for key in ("StartTime", "EndTime"):
            if self.args.has(key):
                raise Unreadable("", f"`Duration` and `{key}` are both said.", "two of them")
        minutes = self.args.integer("Duration")
        if not 0 < minutes <= LONGEST_MINUTES:
            raise Unreadable("", f"a duration of {minutes} minutes is none that RDS takes.", f"{minutes}")
        return self.called_at() - timedelta(minutes=minutes)

    def asked_to(self) -> datetime:
        """Where it ends: where it was asked to, or with the call."""
        return self.args.instant("EndTime") if self.has_end() else self.called_at()

    def has_end(self) -> bool:
        """Whether an end was asked for. Without one, everything came back that had arrived by then."""
        return self.args.has("EndTime")

    def complete(self) -> bool:
        """True. Raises Unreadable for a next page, or a list as long as a page may be."""
        if self.result.has("Marker") and self.result.is_null("Marker") is False:
            raise Unreadable("/Marker", "there is a next page.", "a next page")
        most = self.args.integer("MaxRecords") if self.args.has("MaxRecords") else MOST
        if self.events() >= most:
            raise Unreadable("/Events", f"the list is as long as its limit of {most}.", "at its limit")
        return True

    def events(self) -> int:
        """How many events are listed."""
        return self.result.length("Events")

    def source(self, index: int) -> str:
        """The database of one event."""
        self.result.one_of(SOURCES, "Events", index, "SourceType")
        return self.result.text("Events", index, "SourceIdentifier")

    def date(self, index: int) -> datetime:
        """When it happened."""
        return self.result.instant("Events", index, "Date")

    def categories(self, index: int) -> frozenset[str]:
        """Its categories, each out of the closed list."""
        place = ("Events", index, "EventCategories")
        if self.result.length(*place) < 1:
            raise Unreadable("", "an event has no category, so what it is about is not known.", "no category")
        return frozenset(self.result.one_of(CATEGORIES, *place, number) for number in range(self.result.length(*place)))

    def says_scaled(self, index: int) -> bool:
        """Whether it is the fixed sentence that autoscaling of this database's storage is done."""
        message = self.result.text("Events", index, "Message")
        return rds_events.says_completed(message, self.source(index))

    def says_begun(self, index: int) -> bool:
        """Whether it says that autoscaling has begun."""
        return rds_events.says_begun(self.result.text("Events", index, "Message"))

    def says_failed(self, index: int) -> bool:
        """Whether it tells of a failure, by its category or by its sentence."""
        told = rds_events.says_failed(self.result.text("Events", index, "Message"))
        return (self.categories(index) >= frozenset(("failure",)), told) != (False, False)

    def says_low(self, index: int) -> bool:
        """Whether it says that storage is low."""
        return self.categories(index) >= frozenset(("low storage",))
