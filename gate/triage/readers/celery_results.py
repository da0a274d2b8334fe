"""celery_task_result: what the result backend of Celery keeps of one task."""

from datetime import datetime

from gate.triage.readers.document import Answer, Unreadable

STATUSES = ("PENDING", "RECEIVED", "STARTED", "SUCCESS", "FAILURE", "RETRY", "REVOKED", "REJECTED", "IGNORED")


class CeleryResult(Answer):
    """An answer of celery_task_result. PENDING is also what Celery says of a task that it never heard of."""

    tools = ("celery_task_result",)

    def asked_keys(self) -> frozenset[str]:
        """What was asked by."""
        return self.args.keys()

    def task_id(self) -> str:
        """The task that the answer is about."""
        return self.result.text("task_id")

    def status(self) -> str:
        """How far it came, out of Celery's closed list."""
        said = [key for key in ("status", "state") if key in frozenset(self.result.keys())]
        if len(said) != 1:
            raise Unreadable("", "the answer does not say exactly one of status, state.", f"{len(said)} of them")
        return self.result.one_of(STATUSES, said[0])

    def traceback(self) -> str | None:
        """What it failed with: a text, or exactly null."""
        return self.result.text_or_null("traceback")

    def has_error(self) -> bool:
        """Whether the answer carries an error of its own beside the traceback."""
        return self.result.has("error") and not self.result.is_null("error")

    def done_at(self) -> datetime:
        """When it was done. Celery wrote this without a zone for years, and then it is no moment."""
        return self.result.moment("date_done")
