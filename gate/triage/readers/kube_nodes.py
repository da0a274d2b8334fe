"""kubectl_get of a Node (v1): its conditions, and whether anything keeps work away from it."""

from datetime import datetime

from gate.triage.readers.document import Step
from gate.triage.readers.kube_objects import Kind, KubeObject

NODE = Kind(
    name="Node",
    api_versions=("v1",),
    asked_as=("node", "nodes", "Node", "Nodes", "no", "node.v1", "nodes.v1"),
    is_namespaced=False,
)


class KubeNode(KubeObject):
    """An answer that holds a Node. It lies in no namespace."""

    kind = NODE

    def is_cordoned(self, place: tuple[Step, ...]) -> bool:
        """Whether it takes no new pods. Left out, it does."""
        if not self.has_in_spec(place, "unschedulable"):
            return False
        return self.result.flag(*place, "spec", "unschedulable") is True

    def taints(self, place: tuple[Step, ...]) -> tuple[str, ...]:
        """The keys of its taints. Left out, it has none."""
        if not self.has_in_spec(place, "taints"):
            return ()
        at = (*place, "spec", "taints")
        return tuple(self.result.text(*at, i, "key") for i in range(self.result.length(*at)))

    def has_in_spec(self, place: tuple[Step, ...], name: str) -> bool:
        """Whether the specification says something of that name."""
        return self.result.has(*place, "spec") and self.result.has(*place, "spec", name)

    def tells_when_it_was_heard(self, place: tuple[Step, ...], wanted: str) -> bool:
        """Whether the condition says when it was last reported."""
        return self.result.has(*self.condition(place, wanted), "lastHeartbeatTime")

    def heard_at(self, place: tuple[Step, ...], wanted: str) -> datetime:
        """When the condition was last reported."""
        return self.result.moment(*self.condition(place, wanted), "lastHeartbeatTime")
