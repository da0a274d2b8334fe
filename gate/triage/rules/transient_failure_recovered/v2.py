"""A job failed for a passing reason and then did its work: the job succeeded, and its error has been away since.

Jobs of Kubernetes and of queues, and searches of whichever log; version 1 knew one tool for each.
"""

from gate.triage.rules import finished_jobs, log_searches
from gate.triage.rules.language import Check, Fact, Need, Rule

JOB = Need(
    readers=finished_jobs.READERS,
    asked=finished_jobs.asked_for_it,
    answered=finished_jobs.is_it,
    checks=(
        Check(
            title="The job of this incident is in its final state, and that is success",
            test=finished_jobs.succeeded,
            earn="For {subject}: a Job that is `Complete` with all completions, or the state `succeeded` or `SUCCESS`",
            unreadable="A state that cannot be read is not success",
        ),
        Check(
            title="Nothing in the same answer speaks of a failure",
            test=finished_jobs.left_no_error,
            earn="No condition `Failed`, an error that is null, a traceback that is null",
            unreadable="A missing field is not an empty one",
        ),
        Check(
            title="It ended after the incident began, and before the answer",
            test=finished_jobs.ended_after_the_failure,
            earn="A time of completion between the beginning of {ref} and the call",
            unreadable="An end without a time may be an earlier one",
        ),
    ),
    again=(finished_jobs.succeeded, finished_jobs.left_no_error),
)
ERRORS = Need(
    readers=log_searches.READERS,
    asked=log_searches.asked_for_this_error,
    answered=log_searches.answers_the_question,
    checks=(
        Check(
            title="The same error did not come again: the count is exactly 0",
            test=log_searches.count_is_zero,
            earn="A finished count, made at the source, of the incident's error for {subject}: exactly 0",
            unreadable="A missing count is not zero",
        ),
        Check(
            title="The search covers {recurrence} from recovery and ends before the {lag} ingestion lag",
            test=log_searches.window_covers_recurrence,
            earn="A window from {watch_from} or before, over at least {recurrence}, that ends {lag} before the call",
            unreadable="A window that cannot be read covers nothing",
        ),
        Check(
            title="The search was finished and looked at lines",
            test=log_searches.search_looked_at_lines,
            earn="An answer that is whole and says that more than 0 lines were looked at",
            unreadable="A search that may be unfinished found nothing out",
        ),
    ),
    again=(log_searches.not_found_since_recovery,),
)

RULE = Rule(
    hypothesis="transient_failure_recovered",
    version=2,
    facts=(
        Fact(name="job_completed", needs=(JOB,)),
        Fact(name="no_recurrence", needs=(ERRORS,)),
    ),
)
