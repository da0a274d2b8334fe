"""Tests on whether the very job of the incident reached the end it was meant to reach, in whichever system it runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from gate.triage.readers import incident as said
from gate.triage.readers.celery_active import CeleryActive
from gate.triage.readers.celery_results import CeleryResult
from gate.triage.readers.document import Answer
from gate.triage.readers.find_job import FindJob
from gate.triage.readers.kube_jobs import JOB, KubeJob
from gate.triage.readers.list_job_attempts import ListJobAttempts
from gate.triage.readers.queue_jobs import QueueJob
from gate.triage.rules import subjects
from gate.triage.rules.kube_subjects import Named
from gate.triage.rules.language import Case, Judgment, Test, equal

READERS = (KubeJob, FindJob, ListJobAttempts, QueueJob, CeleryResult, CeleryActive)
KUBE_JOB = Named(JOB, ("job", "job_name"), ("pod", "container", "app", "cronjob"))
ASKED_BY = ("job_id", "jid", "task_id", "id")
NAMED_BY = ("job_id", "jid", "task_id")
# Where a job's lines are is nothing that its queue could be asked for, and nothing that a drawn id needs besides.
OF_ITS_LOG = ("log_group",)
OF_THE_APP = ("app", "service", "service_name", "component")
SHORTEST_DRAWN = 20  # an id of so many characters is drawn by chance, and is the same in no two queues
MUST_BE_FALSE = ("Failed", "FailureTarget", "Suspended")
CONDITIONS = ("Complete", "Failed", "FailureTarget", "Suspended", "SuccessCriteriaMet")


def asked_for_it(answer: Answer, case: Case) -> Judgment:
    """Whether exactly the incident's job was asked for."""
    return ASKED[type(answer)](answer, case)


def is_it(answer: Answer, case: Case) -> Judgment:
    """Whether the answer is about the incident's job."""
    return ANSWERED[type(answer)](answer, case)


def succeeded(answer: Answer, case: Case) -> Judgment:
    """Whether it is in its final state, and that is success."""
    return SUCCEEDED[type(answer)](answer, case)


def left_no_error(answer: Answer, case: Case) -> Judgment:
    """Whether nothing in the same answer speaks of a failure of the whole."""
    return UNHARMED[type(answer)](answer, case)


def ended_after_the_failure(answer: Answer, case: Case) -> Judgment:
    """Whether that end came after the incident began: an earlier success is not a recovery from it."""
    return ENDED[type(answer)](answer, case)


def _id_of_the_job(case: Case) -> str | int:
    key = subjects.the_only(NAMED_BY, said.subject_keys(case.incident), "the job in the subject")
    return said.subject_identifier(case.incident, key)


def _asked_by_id(answer: Answer, case: Case) -> Judgment:
    key = subjects.the_only(ASKED_BY, answer.args.keys(), "the job")
    if answer.args.identifier(key) != _id_of_the_job(case):
        return Judgment(False, f"{answer.args.identifier(key)}", "another job was asked for.")
    return _and_no_more(answer, case)


def _asked_by_id_or_for_all(answer: Answer, case: Case) -> Judgment:
    """Without an id all running tasks are asked for, the incident's among them."""
    if len(answer.args.keys().intersection(ASKED_BY)) == 0:
        return _and_no_more(answer, case)
    return _asked_by_id(answer, case)


def _and_no_more(answer: Answer, case: Case) -> Judgment:
    judgment = subjects.nothing_else_asked(answer, case, frozenset(ASKED_BY))
    if judgment.holds is not True:
        return judgment
    return subjects.nothing_left_out(answer, case, frozenset((*NAMED_BY, *OF_ITS_LOG, *_needless(case))))


def _needless(case: Case) -> tuple[str, ...]:
    """What the subject is named by besides, where the id alone names one job in the world."""
    own = _id_of_the_job(case)
    return OF_THE_APP if type(own) is str and len(own) >= SHORTEST_DRAWN else ()


def _is_the_shops(job: FindJob, case: Case) -> Judgment:
    return equal(job.job_id(), _id_of_the_job(case), "the answer is about another job.")


def _is_the_queues(job: QueueJob, case: Case) -> Judgment:
    return equal(job.job_id(), _id_of_the_job(case), "the answer is about another job.")


def _is_the_task(task: CeleryResult, case: Case) -> Judgment:
    return equal(task.task_id(), _id_of_the_job(case), "the answer is about another task.")


def _lists_every_attempt(attempts: ListJobAttempts, case: Case) -> Judgment:
    total, listed = attempts.total(), attempts.listed()
    if total != listed:
        return Judgment(False, f"{listed} of {total}", "the list does not hold every attempt.")
    return Judgment(listed > 0, f"{listed} of {total}", "there was no attempt.")


def _lists_what_runs(active: CeleryActive, case: Case) -> Judgment:
    return Judgment(True, f"{len(active.running())} running", "")


def _kube_succeeded(job: KubeJob, case: Case) -> Judgment:
    place = KUBE_JOB.place(job, case)
    if job.status_of(place, "Complete") != "True":
        return Judgment(False, job.status_of(place, "Complete"), "the condition `Complete` is not `True`.")
    wanted, done = job.completions(place), job.succeeded(place)
    seen = f"Complete, {done} of {wanted}"
    return Judgment(1 <= wanted <= done, seen, "fewer pods succeeded than the Job needs.")


def _kube_unharmed(job: KubeJob, case: Case) -> Judgment:
    place = KUBE_JOB.place(job, case)
    for name in job.known_types(place, CONDITIONS):
        status = job.status_of(place, name)
        if status != ("False" if name in MUST_BE_FALSE else "True"):
            return Judgment(False, f"{name} {status}", f"the condition `{name}` is `{status}`.")
    if job.is_suspended(place):
        return Judgment(False, "suspended", "the Job is suspended.")
    return equal(job.still_at_work(place), 0, "pods of it are still at work.")


def _shop_succeeded(job: FindJob, case: Case) -> Judgment:
    return equal(job.state(), "succeeded", f"the job is {job.state()}, and only `succeeded` is success.")


def _queue_succeeded(job: QueueJob, case: Case) -> Judgment:
    return equal(job.state(), "succeeded", f"the job is {job.state()}, and only `succeeded` is success.")


def _task_succeeded(task: CeleryResult, case: Case) -> Judgment:
    return equal(task.status(), "SUCCESS", f"the task is {task.status()}, and only `SUCCESS` is success.")


def _last_attempt_succeeded(attempts: ListJobAttempts, case: Case) -> Judgment:
    last = _last(attempts)
    return equal(attempts.outcome(last), "succeeded", f"the last attempt is {attempts.outcome(last)}.")


def _is_not_running_again(active: CeleryActive, case: Case) -> Judgment:
    times = active.running().count(f"{_id_of_the_job(case)}")
    return Judgment(times == 0, f"{times} running", "the task is running.")


def _shop_unharmed(job: FindJob, case: Case) -> Judgment:
    return equal(job.last_error(), None, "the last attempt left an error.")


def _queue_unharmed(job: QueueJob, case: Case) -> Judgment:
    for error in job.errors():
        if error is not None:
            return Judgment(False, error, "the job carries an error.")
    return Judgment(True, "null", "")


def _task_unharmed(task: CeleryResult, case: Case) -> Judgment:
    if task.has_error():
        return Judgment(False, "an error", "the answer carries an error.")
    return equal(task.traceback(), None, "the task carries a traceback.")


def _last_attempt_unharmed(attempts: ListJobAttempts, case: Case) -> Judgment:
    return equal(attempts.error(_last(attempts)), None, "the last attempt left an error.")


def _says_nothing_alone(active: CeleryActive, case: Case) -> Judgment:
    """That a task is not running says nothing about how it ended: a result must be cited beside it."""
    results = len(case.answers("job_completed", CeleryResult))
    return Judgment(results > 0, f"{results} results", "no answer of `celery_task_result` is cited beside it.")


def _kube_ended(job: KubeJob, case: Case) -> Judgment:
    return _in_time(job, job.completed_at(KUBE_JOB.place(job, case)), case)


def _shop_ended(job: FindJob, case: Case) -> Judgment:
    return _in_time(job, job.finished_at(), case)


def _queue_ended(job: QueueJob, case: Case) -> Judgment:
    if job.call.tool == "sidekiq_find_job" and job.tells_when_it_finished() is not True:
        return Judgment(True, "not said", "")
    return _in_time(job, job.finished_at(), case)


def _task_ended(task: CeleryResult, case: Case) -> Judgment:
    return _in_time(task, task.done_at(), case)


def _last_attempt_ended(attempts: ListJobAttempts, case: Case) -> Judgment:
    """The answer does not name the job, so the job's own state must be cited beside it."""
    if len(case.answers("job_completed", FindJob)) < 1:
        return Judgment(False, "no state", "no answer of `find_job` is cited beside it.")
    return _in_time(attempts, attempts.ended_at(_last(attempts)), case)


def _last(attempts: ListJobAttempts) -> int:
    """Which attempt began last. Raises Unreadable where a time cannot be read."""
    starts = sorted((attempts.started_at(number), number) for number in range(attempts.listed()))
    return starts[-1][1]


def _in_time(answer: Answer, ended: datetime, case: Case) -> Judgment:
    seen = f"{ended:%d %b %H:%M:%S} UTC"
    if ended < case.incident.began_at:
        return Judgment(False, seen, "it ended before the incident began.")
    return Judgment(ended <= answer.called_at(), seen, "it ended after the answer was given, which cannot be.")


ASKED: Mapping[type[Answer], Test] = {
    KubeJob: KUBE_JOB.asked, FindJob: _asked_by_id, ListJobAttempts: _asked_by_id, QueueJob: _asked_by_id,
    CeleryResult: _asked_by_id, CeleryActive: _asked_by_id_or_for_all,
}  # fmt: skip
ANSWERED: Mapping[type[Answer], Test] = {
    KubeJob: KUBE_JOB.answered, FindJob: _is_the_shops, ListJobAttempts: _lists_every_attempt,
    QueueJob: _is_the_queues, CeleryResult: _is_the_task, CeleryActive: _lists_what_runs,
}  # fmt: skip
SUCCEEDED: Mapping[type[Answer], Test] = {
    KubeJob: _kube_succeeded, FindJob: _shop_succeeded, ListJobAttempts: _last_attempt_succeeded,
    QueueJob: _queue_succeeded, CeleryResult: _task_succeeded, CeleryActive: _is_not_running_again,
}  # fmt: skip
UNHARMED: Mapping[type[Answer], Test] = {
    KubeJob: _kube_unharmed, FindJob: _shop_unharmed, ListJobAttempts: _last_attempt_unharmed,
    QueueJob: _queue_unharmed, CeleryResult: _task_unharmed, CeleryActive: _says_nothing_alone,
}  # fmt: skip
ENDED: Mapping[type[Answer], Test] = {
    KubeJob: _kube_ended, FindJob: _shop_ended, ListJobAttempts: _last_attempt_ended,
    QueueJob: _queue_ended, CeleryResult: _task_ended, CeleryActive: _says_nothing_alone,
}  # fmt: skip
