"""kubectl_events and kubectl_get of events: what Kubernetes reported in a namespace. Events are kept for a while."""

from datetime import datetime

from gate.triage.cases import RecordedCall
from gate.triage.readers.document import Answer, Step, Unreadable
from gate.triage.readers.kube_args import KubeArgs
from gate.triage.readers.kube_objects import check_list_is_whole

ASKED_AS = (
    "event", "events", "Event", "Events", "ev", "event.v1", "events.v1", "event.events.k8s.io", "events.events.k8s.io",
    "events.v1.events.k8s.io",
)  # fmt: skip
TYPES = ("Normal", "Warning")
API_VERSIONS = ("v1", "events.k8s.io/v1")
# An event that happened again is written again: each of these may be its newest moment. Kubernetes writes null where
# it uses another one.
MOMENTS = (
    ("lastTimestamp",), ("eventTime",), ("series", "lastObservedTime"), ("deprecatedLastTimestamp",),
)  # fmt: skip


class KubeEvents(Answer):
    """An answer that lists events, of core/v1 or of events.k8s.io/v1."""

    tools = ("kubectl_events", "kubectl_get", "kubectl_find_resource")

    def __init__(self, call: RecordedCall) -> None:
        super().__init__(call)
        self.asked = KubeArgs(self.args)

    def is_asked_by(self, key: str) -> bool:
        """Whether an argument was given; null is not."""
        return self.args.has(key) and not self.args.is_null(key)

    def is_asked_for_one(self) -> bool:
        """Whether only events about one object or kind of object were asked for."""
        if self.is_asked_by("for"):
            return True
        return self.asked.has_kind() and self.asked.kind() not in ASKED_AS

    def asked_types(self) -> tuple[str, ...]:
        """The types of event that were asked for: one as a text, or several as a list."""
        match self.call.args:
            case {"types": str()}:
                return (self.args.one_of(TYPES, "types"),)
        return tuple(self.args.one_of(TYPES, "types", number) for number in range(self.args.length("types")))

    def complete(self) -> bool:
        """True. Raises Unreadable where the list says that there is more of it, or is no list of events."""
        self.result.one_of(("EventList", "List"), "kind")
        self.result.one_of(API_VERSIONS, "apiVersion")
        check_list_is_whole(self)
        return True

    def listed(self) -> int:
        """How many events are in the answer."""
        return self.result.length("items")

    def is_warning(self, index: int) -> bool:
        """Whether an event is a Warning. A type that Kubernetes does not have is unreadable."""
        return self.result.one_of(TYPES, "items", index, "type") == "Warning"

    def reason(self, index: int) -> str:
        """What it reports."""
        return self.result.text("items", index, "reason")

    def last_at(self, index: int) -> datetime:
        """When it last happened: the newest of all moments that it bears. Raises Unreadable where it bears none."""
        found = [moment for path in MOMENTS for moment in self._moments(index, path)]
        if len(found) < 1:
            raise Unreadable(f"/items/{index}", f"`items[{index}]` does not say when it happened.", "no time")
        return sorted(found)[-1]

    def _moments(self, index: int, path: tuple[str, ...]) -> tuple[datetime, ...]:
        at: tuple[Step, ...] = ("items", index)
        for step in path:
            if not self.result.has(*at, step):
                return ()
            if self.result.is_null(*at, step):
                return ()
            at = (*at, step)
        return (self.result.moment(*at),)

    def namespace(self, index: int) -> str:
        """The namespace that an event lies in, or that of the object it is about."""
        for part in ("metadata", "involvedObject", "regarding"):
            if self.result.has("items", index, part) and self.result.has("items", index, part, "namespace"):
                return self.result.text("items", index, part, "namespace")
        raise Unreadable(
            f"/items/{index}", f"`items[{index}]` does not say in which namespace it lies.", "no namespace"
        )
