"""The resources of the Kubernetes API that may be read: a closed list, in their stable versions.

Left out on purpose: secrets and what may hold them (configmaps, custom resources), tokens, certificates, roles and
their bindings, webhooks, and every subresource but the log of a pod. A `get` of pods/exec, attach, portforward or of a
proxy opens a way to write.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

LOG = "pods/log"


@dataclass(frozen=True)
class Resource:
    """One resource: its kind, its name in paths, its group and version, and what people call it for short."""

    kind: str
    plural: str
    group: str = ""
    version: str = "v1"
    is_namespaced: bool = True
    shorts: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The path that its group and version are behind."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def spellings(self) -> list[str]:
        """All names that it goes by: of one and of many, with a capital, with version and group."""
        one = self.kind.lower()
        plain = [one, self.plural, self.kind, f"{self.kind}{self.plural[len(one) :] or 's'}", *self.shorts]
        ends = [f".{self.version}", *([f".{self.group}", f".{self.version}.{self.group}"] if self.group else [])]
        return [*plain, *(f"{name}{end}" for name in (one, self.plural) for end in ends)]


RESOURCES: Mapping[str, Resource] = {
    resource.plural: resource
    for resource in (
        Resource("Pod", "pods", shorts=("po",)),
        Resource("Service", "services", shorts=("svc",)),
        Resource("Endpoints", "endpoints", shorts=("ep",)),
        Resource("Event", "events", shorts=("ev",)),
        Resource("PersistentVolumeClaim", "persistentvolumeclaims", shorts=("pvc",)),
        Resource("ReplicationController", "replicationcontrollers", shorts=("rc",)),
        Resource("ResourceQuota", "resourcequotas", shorts=("quota",)),
        Resource("LimitRange", "limitranges", shorts=("limits",)),
        Resource("Node", "nodes", is_namespaced=False, shorts=("no",)),
        Resource("Namespace", "namespaces", is_namespaced=False, shorts=("ns",)),
        Resource("PersistentVolume", "persistentvolumes", is_namespaced=False, shorts=("pv",)),
        Resource("Deployment", "deployments", "apps", shorts=("deploy",)),
        Resource("ReplicaSet", "replicasets", "apps", shorts=("rs",)),
        Resource("StatefulSet", "statefulsets", "apps", shorts=("sts",)),
        Resource("DaemonSet", "daemonsets", "apps", shorts=("ds",)),
        Resource("Job", "jobs", "batch"),
        Resource("CronJob", "cronjobs", "batch", shorts=("cj",)),
        Resource("HorizontalPodAutoscaler", "horizontalpodautoscalers", "autoscaling", "v2", shorts=("hpa", "HPA")),
        Resource("PodDisruptionBudget", "poddisruptionbudgets", "policy", shorts=("pdb",)),
        Resource("Ingress", "ingresses", "networking.k8s.io", shorts=("ing",)),
        Resource("NetworkPolicy", "networkpolicies", "networking.k8s.io", shorts=("netpol",)),
        Resource("EndpointSlice", "endpointslices", "discovery.k8s.io"),
        Resource("StorageClass", "storageclasses", "storage.k8s.io", is_namespaced=False, shorts=("sc",)),
        Resource("VolumeAttachment", "volumeattachments", "storage.k8s.io", is_namespaced=False),
    )
}
_BY_NAME: Mapping[str, Resource] = {name: one for one in RESOURCES.values() for name in one.spellings()}


def find(name: Any, exposed: Collection[str]) -> Resource:
    """The resource that goes by that name, if the source exposes it. Raises ValueError with a sentence."""
    found = _BY_NAME.get(name) if isinstance(name, str) else None
    if found is None or found.plural not in exposed:
        raise ValueError(f"The kind is one of {', '.join(sorted(set(exposed) - {LOG}))}.")
    return found


def check(exposed: Any) -> None:
    """Raise ValueError unless this lists resources that may be read."""
    if not isinstance(exposed, list) or not exposed or not all(isinstance(name, str) for name in exposed):
        raise ValueError("resources lists what tools may read, like pods, pods/log and jobs.")
    stray = next((name for name in exposed if name not in RESOURCES and name != LOG), None)
    if stray is not None:
        raise ValueError(f"{stray[:60]} is none of what may be read: {', '.join(sorted((*RESOURCES, LOG)))}.")
