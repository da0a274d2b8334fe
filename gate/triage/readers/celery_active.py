"""celery_inspect_active: the tasks that Celery's workers are running at this moment, by worker."""

from gate.triage.readers.document import Answer, Unreadable


class CeleryActive(Answer):
    """An answer of celery_inspect_active. Workers that did not answer in time are not in it."""

    tools = ("celery_inspect_active",)

    def asked_keys(self) -> frozenset[str]:
        """What was asked by."""
        return self.args.keys()

    def running(self) -> tuple[str, ...]:
        """The ids of all running tasks. Raises Unreadable where no worker answered at all."""
        workers = sorted(self.result.keys())
        if len(workers) < 1:
            raise Unreadable("", "no worker answered, so what runs is not known.", "no worker")
        return tuple(
            self.result.text(worker, number, "id") for worker in workers for number in range(self.result.length(worker))
        )
