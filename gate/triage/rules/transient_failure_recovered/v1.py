"""A job failed for a passing reason and then did its work: the job succeeded, and its error has been away since."""

from gate.triage.readers import incident as said
from gate.triage.readers.count_errors import CountErrors
from gate.triage.readers.find_job import FindJob
from gate.triage.rules import log_counts
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule, equal


def asked_for_this_job(job: FindJob, case: Case) -> Judgment:
    if job.asked_keys() != frozenset(("job_id",)):
        return Judgment(False, ", ".join(sorted(job.asked_keys())), "it was not asked by exactly job_id.")
    return equal(job.asked_job_id(), said.subject_integer(case.incident, "job_id"), "another job was asked for.")


def is_this_job(job: FindJob, case: Case) -> Judgment:
    return equal(job.job_id(), said.subject_integer(case.incident, "job_id"), "the answer is about another job.")


def succeeded(job: FindJob, case: Case) -> Judgment:
    return equal(job.state(), "succeeded", f"the job is {job.state()}, and only `succeeded` is success.")


def left_no_error(job: FindJob, case: Case) -> Judgment:
    return equal(job.last_error(), None, "the last attempt left an error.")


JOB = Need(
    readers=(FindJob,),
    asked=asked_for_this_job,
    answered=is_this_job,
    checks=(
        Check(
            title="The job of this incident is in the final state `succeeded`",
            test=succeeded,
            earn="An answer of `find_job` for {subject} with the state `succeeded`",
            unreadable="A state that cannot be read is not success",
        ),
        Check(
            title="Its last attempt left no error",
            test=left_no_error,
            earn="`last_error` null in the same answer",
            unreadable="A missing field is not an empty one",
        ),
    ),
    again=(succeeded, left_no_error),
)
ERRORS = Need(
    readers=(CountErrors,),
    asked=log_counts.asked_for_this_error,
    answered=log_counts.counted_this_error,
    checks=(
        Check(
            title="The same error did not come again: the count is exactly 0",
            test=log_counts.count_is_zero,
            earn="A finished count of {error} in {job_kind}, exactly 0, from {watch_from} over {recurrence}",
            unreadable="A missing count is not zero",
        ),
        Check(
            title="The search covers {recurrence} from recovery and ends before the {lag} ingestion lag",
            test=log_counts.window_covers_recurrence,
            earn="A window from {watch_from} or before, over at least {recurrence}, that ends {lag} before the call",
            unreadable="A window that cannot be read covers nothing",
        ),
        Check(
            title="The search was finished and looked at lines",
            test=log_counts.search_was_finished,
            earn="`complete` true and `scanned` above 0 in the same answer; a shorter window reads fewer lines",
            unreadable="A search that may be unfinished found nothing out",
        ),
    ),
    again=(log_counts.not_counted_since_recovery,),
)

RULE = Rule(
    hypothesis="transient_failure_recovered",
    version=1,
    facts=(
        Fact(name="job_completed", needs=(JOB,)),
        Fact(name="no_recurrence", needs=(ERRORS,)),
    ),
)
