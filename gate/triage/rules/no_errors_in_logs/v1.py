"""The reported error is not in the logs, and the logs are there: the search is empty, a broader one is not."""

from gate.triage.readers.count_errors import CountErrors
from gate.triage.rules import log_counts
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule


def found_lines(control: CountErrors, case: Case) -> Judgment:
    return Judgment(control.count() > 0, f"{control.count()}", "the source held no line at all, so it may be dead.")


def asked_where_the_search_did(control: CountErrors, case: Case) -> Judgment:
    """The same source and window as every search that it vouches for."""
    searches, window = case.answers("log_search_zero", CountErrors), log_counts.window_is_as_asked(control, case)
    if window.holds is not True:
        return window
    if len(searches) < 1:
        return Judgment(False, window.seen, "there is no search that it could vouch for.")
    for search in searches:
        if search.call.source != control.call.source:
            return Judgment(False, window.seen, f"{search.call.audit_id} searched another source.")
        if (search.window_from(), search.window_to()) != (control.window_from(), control.window_to()):
            return Judgment(False, window.seen, f"{search.call.audit_id} searched another window.")
    return Judgment(control.window_from() < control.window_to(), window.seen, "the window is empty.")


def still_finds_lines(control: CountErrors, case: Case) -> Judgment:
    """Asked again over the time that counts, it must still find lines. A shorter look may well find none."""
    if log_counts.window_covers_recurrence(control, case).holds is not True:
        return Judgment(True, "another window", "")
    return found_lines(control, case)


SEARCH = Need(
    readers=(CountErrors,),
    asked=log_counts.asked_for_this_error,
    answered=log_counts.counted_this_error,
    checks=(
        Check(
            title="The reported error is not in the logs: the count is exactly 0",
            test=log_counts.count_is_zero,
            earn="A finished count of {error} in {job_kind}, exactly 0, from {watch_from} over {recurrence}",
            unreadable="A missing count is not zero",
        ),
        Check(
            title="The search covers {recurrence} from {watch_from} and ends before the {lag} ingestion lag",
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
CONTROL = Need(
    readers=(CountErrors,),
    asked=log_counts.asked_for_any_line,
    answered=log_counts.counted_any_line,
    checks=(
        Check(
            title="The log was alive: it holds lines of {job_kind} from the same time",
            test=found_lines,
            earn="A second count with `error` null, which counts every line of {job_kind}, above 0",
            unreadable="A log that cannot be shown alive may be dead",
        ),
        Check(
            title="Its window and source are those of the search",
            test=asked_where_the_search_did,
            earn="The second count over exactly the window of the first",
            unreadable="A window that cannot be read covers nothing",
        ),
        Check(
            title="That count was finished too",
            test=log_counts.search_was_finished,
            earn="`complete` true and `scanned` above 0 in the second answer",
            unreadable="A search that may be unfinished found nothing out",
        ),
    ),
    again=(still_finds_lines,),
)

RULE = Rule(
    hypothesis="no_errors_in_logs",
    version=1,
    facts=(
        Fact(name="log_search_zero", needs=(SEARCH,)),
        Fact(name="log_source_alive", needs=(CONTROL,)),
    ),
)
