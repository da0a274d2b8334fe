"""kubectl_get of a Job (batch/v1): whether it is done, and how."""

from datetime import datetime

from gate.triage.readers.document import Step
from gate.triage.readers.kube_objects import Kind, KubeObject

JOB = Kind(
    name="Job",
    api_versions=("batch/v1",),
    asked_as=("job", "jobs", "Job", "Jobs", "job.batch", "jobs.batch", "job.v1.batch", "jobs.v1.batch"),
    is_namespaced=True,
)
COUNTS_OF_WORK = ("active", "ready", "terminating")


class KubeJob(KubeObject):
    """An answer that holds a Job. Counts of pods are not its state: a Job with failed pods may well be complete."""

    kind = JOB

    def completions(self, place: tuple[Step, ...]) -> int:
        """How many of its pods must succeed."""
        return self.result.integer(*place, "spec", "completions")

    def succeeded(self, place: tuple[Step, ...]) -> int:
        """How many did."""
        return self.result.integer(*place, "status", "succeeded")

    def completed_at(self, place: tuple[Step, ...]) -> datetime:
        """When it was complete. A Job that failed has no such time."""
        return self.result.moment(*place, "status", "completionTime")

    def still_at_work(self, place: tuple[Step, ...]) -> int:
        """How many pods are still there. Kubernetes leaves out the counts that are zero."""
        counts = [name for name in COUNTS_OF_WORK if self.result.has(*place, "status", name)]
        pods = 0
        for name in counts:
            pods += abs(self.result.integer(*place, "status", name))
        return pods

    def is_suspended(self, place: tuple[Step, ...]) -> bool:
        """Whether somebody holds it back. Left out, it is not."""
        return self.result.has(*place, "spec", "suspend") and self.result.flag(*place, "spec", "suspend") is True
