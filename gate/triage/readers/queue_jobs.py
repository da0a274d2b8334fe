"""find_job and sidekiq_find_job: one job as a queue's own library keeps it, with an `id` or a `jid` of its own."""

from __future__ import annotations

from datetime import datetime

from gate.triage.cases import RecordedCall
from gate.triage.readers.document import Answer, Step, Unreadable

ID = ("id", "jid")
STATE = ("state", "status")
STATES = (
    "scheduled", "enqueued", "queued", "pending", "running", "working", "retrying", "retried", "succeeded", "discarded",
    "finished", "complete", "completed", "failed", "dead", "interrupted", "stopped", "cancelled",
)  # fmt: skip
ERRORS = ("error", "last_error", "error_message", "error_class", "exception", "failure")


class QueueJob(Answer):
    """An answer that holds one job of a queue. `{"job": null}` says that it is in none, and nothing about how it went.

    In libraries `finished` means succeeded or given up, and `complete` that it was tried: only `succeeded` is success.
    """

    tools = ("find_job", "sidekiq_find_job")

    @classmethod
    def reads(cls, call: RecordedCall) -> bool:
        """Whether the answer has a queue's shape: the job's own key is `id`; a shop's find_job says `job_id`."""
        if call.tool == "sidekiq_find_job":
            return True
        return call.tool == "find_job" and is_a_queues(call.result)

    def asked_keys(self) -> frozenset[str]:
        """What was asked by."""
        return self.args.keys()

    def job_id(self) -> str | int:
        """The job that the answer is about."""
        return self.result.identifier(*self._job(), self._only(ID))

    def state(self) -> str:
        """Its state, out of the closed list."""
        return self.result.one_of(STATES, *self._job(), self._only(STATE))

    def errors(self) -> tuple[str | None, ...]:
        """Everything that says what went wrong, each a text or exactly null. Raises Unreadable where nothing would."""
        said = [key for key in ERRORS if key in frozenset(self._keys())]
        if len(said) < 1:
            raise Unreadable("/job", f"there is none of {', '.join(ERRORS)}, so no error is not said.", "not said")
        beside = [key for key in ERRORS if key in frozenset(self.result.keys()) and self._job() != ()]
        inside = tuple(self.result.text_or_null(*self._job(), key) for key in said)
        return (*inside, *(self.result.text_or_null(key) for key in beside))

    def tells_when_it_finished(self) -> bool:
        """Whether it says when it was done. Sidekiq does not."""
        return self.result.has(*self._job(), "finished_at")

    def finished_at(self) -> datetime:
        """When it was done."""
        return self.result.moment(*self._job(), "finished_at")

    def _job(self) -> tuple[Step, ...]:
        return ("job",) if self.result.has("job") else ()

    def _keys(self) -> frozenset[str]:
        return self.result.keys(*self._job())

    def _only(self, spellings: tuple[str, ...]) -> str:
        used = [key for key in spellings if key in frozenset(self._keys())]
        if len(used) != 1:
            why = f"the job does not say exactly one of {', '.join(spellings)}."
            raise Unreadable("/job", why, f"{len(used)} of them")
        return used[0]


def is_a_queues(result: object) -> bool:
    """Whether an answer of find_job holds a job that is named by `id` or `jid`."""
    match result:
        case {"job": {"id": _}} | {"job": {"jid": _}}:
            return True
    return False
