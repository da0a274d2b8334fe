"""kubectl_get of a Deployment (apps/v1): how many of its replicas are what they should be."""

from gate.triage.readers.document import Step
from gate.triage.readers.kube_objects import Kind, KubeObject

DEPLOYMENT = Kind(
    name="Deployment",
    api_versions=("apps/v1",),
    asked_as=(
        "deployment", "deployments", "Deployment", "Deployments", "deploy", "deployment.apps", "deployments.apps",
        "deploy.apps", "deployment.v1.apps", "deployments.v1.apps",
    ),
    is_namespaced=True,
)  # fmt: skip
COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")


class KubeDeployment(KubeObject):
    """An answer that holds a Deployment. Kubernetes leaves out a count that is zero, so a missing one is not enough."""

    kind = DEPLOYMENT

    def wanted(self, place: tuple[Step, ...]) -> int:
        """How many replicas are wanted."""
        return self.result.integer(*place, "spec", "replicas")

    def counts(self, place: tuple[Step, ...]) -> tuple[int, ...]:
        """How many there are, are of the newest template, are ready, and are available."""
        return tuple(self.result.integer(*place, "status", name) for name in COUNTS)

    def unavailable(self, place: tuple[Step, ...]) -> int:
        """How many are missing or not available. Left out, none is."""
        if not self.result.has(*place, "status", "unavailableReplicas"):
            return 0
        return self.result.integer(*place, "status", "unavailableReplicas")

    def generation(self, place: tuple[Step, ...]) -> int:
        """Which version of its specification this is."""
        return self.result.integer(*place, "metadata", "generation")

    def observed_generation(self, place: tuple[Step, ...]) -> int:
        """For which version the controller wrote the status."""
        return self.result.integer(*place, "status", "observedGeneration")

    def is_paused(self, place: tuple[Step, ...]) -> bool:
        """Whether its roll-out is held back. Left out, it is not."""
        return self.result.has(*place, "spec", "paused") and self.result.flag(*place, "spec", "paused") is True
