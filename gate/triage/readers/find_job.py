"""find_job: the present state of one job."""

from datetime import datetime

from gate.triage.cases import RecordedCall
from gate.triage.readers.document import Answer
from gate.triage.readers.queue_jobs import is_a_queues

STATES = ("queued", "running", "succeeded", "failed")


class FindJob(Answer):
    """An answer of find_job. `{"job": null}` says that there is no such job, and nothing else can be read of it."""

    tools = ("find_job",)

    @classmethod
    def reads(cls, call: RecordedCall) -> bool:
        """Whether the answer has this shape: what names a job by `id` alone is a queue's own find_job."""
        match call.result:
            case {"job": {"job_id": _}}:
                return call.tool == "find_job"
        return call.tool == "find_job" and not is_a_queues(call.result)

    def asked_keys(self) -> frozenset[str]:
        """What was asked by."""
        return self.args.keys()

    def asked_job_id(self) -> int:
        """The job that was asked for."""
        return self.args.integer("job_id")

    def job_id(self) -> int:
        """The job that the answer is about."""
        return self.result.integer("job", "job_id")

    def state(self) -> str:
        """Its state, out of the closed list."""
        return self.result.one_of(STATES, "job", "state")

    def last_error(self) -> str | None:
        """What its last attempt left behind: a text, or exactly null."""
        return self.result.text_or_null("job", "last_error")

    def finished_at(self) -> datetime:
        """When it was done."""
        return self.result.moment("job", "finished_at")
