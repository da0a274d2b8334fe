"""kubectl_get of a HorizontalPodAutoscaler (autoscaling/v2): between which bounds it scales, and what stops it."""

from gate.triage.readers.document import Step
from gate.triage.readers.kube_objects import Kind, KubeObject

AUTOSCALER = Kind(
    name="HorizontalPodAutoscaler",
    # In autoscaling/v1 the conditions are a text in an annotation, which is no field to read.
    api_versions=("autoscaling/v2", "autoscaling/v2beta2"),
    asked_as=(
        "hpa", "HPA", "horizontalpodautoscaler", "horizontalpodautoscalers", "HorizontalPodAutoscaler",
        "HorizontalPodAutoscalers", "hpa.autoscaling", "horizontalpodautoscaler.autoscaling",
        "horizontalpodautoscalers.autoscaling", "hpa.v2.autoscaling", "horizontalpodautoscaler.v2.autoscaling",
        "horizontalpodautoscalers.v2.autoscaling",
    ),
    is_namespaced=True,
)  # fmt: skip


class KubeAutoscaler(KubeObject):
    """An answer that holds a HorizontalPodAutoscaler."""

    kind = AUTOSCALER

    def least(self, place: tuple[Step, ...]) -> int:
        """How many replicas it keeps at least."""
        return self.result.integer(*place, "spec", "minReplicas")

    def most(self, place: tuple[Step, ...]) -> int:
        """How many it allows."""
        return self.result.integer(*place, "spec", "maxReplicas")

    def current(self, place: tuple[Step, ...]) -> int:
        """How many there are."""
        return self.result.integer(*place, "status", "currentReplicas")

    def desired(self, place: tuple[Step, ...]) -> int:
        """How many it wants."""
        return self.result.integer(*place, "status", "desiredReplicas")

    def is_observed(self, place: tuple[Step, ...]) -> bool:
        """Whether its status is about the present specification, as far as it says so."""
        says = (
            self.result.has(*place, "metadata", "generation"),
            self.result.has(*place, "status", "observedGeneration"),
        )
        if says != (True, True):
            return True
        observed = self.result.integer(*place, "status", "observedGeneration")
        return observed == self.result.integer(*place, "metadata", "generation")
