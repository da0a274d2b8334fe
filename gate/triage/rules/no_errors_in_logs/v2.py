"""The incident's error is not in the logs, and the logs are there: in the logs of any known tool."""

from gate.triage.readers.log_search import LogSearch
from gate.triage.rules import log_searches
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule


def asked_where_the_search_did(control: LogSearch, case: Case) -> Judgment:
    """The same source, selector and window as every search that it vouches for."""
    searches, asked = case.answers("log_search_zero", LogSearch), control.asked()
    seen = f"{asked.begins:%d %b %H:%M:%S} to {asked.ends:%d %b %H:%M:%S}"
    if len(searches) < 1:
        return Judgment(False, seen, "there is no search that it could vouch for.")
    for search in searches:
        other, ref = search.asked(), search.call.audit_id
        if (search.call.tool, search.call.source, other.place) != (control.call.tool, control.call.source, asked.place):
            return Judgment(False, seen, f"{ref} searched another source.")
        if other.selector != asked.selector:
            return Judgment(False, seen, f"{ref} searched other lines.")
        if (other.begins, other.ends) != (asked.begins, asked.ends):
            return Judgment(False, seen, f"{ref} searched another window.")
    return Judgment(asked.begins < asked.ends, seen, "the window is empty.")


def still_finds_lines(control: LogSearch, case: Case) -> Judgment:
    """Asked again for any line, over the time that counts, it must still find some. A narrower look may find none."""
    covers = log_searches.window_covers_recurrence(control, case).holds is True
    if (control.asked().patterns, covers) != ((), True):
        return Judgment(True, "another question", "")
    return Judgment(control.has_lines() is True, "none", "it finds no line any more.")


SEARCH = Need(
    readers=log_searches.READERS,
    asked=log_searches.asked_for_this_error,
    answered=log_searches.answers_the_question,
    checks=(
        Check(
            title="The incident's error is not in the logs: the count is exactly 0",
            test=log_searches.count_is_zero,
            earn="A finished count at the source of the incident's error for {subject}, exactly 0",
            unreadable="A missing count is not zero",
        ),
        Check(
            title="The search covers {recurrence} from {watch_from} and ends before the ingestion lag",
            test=log_searches.window_covers_recurrence,
            earn="A window from {watch_from} or before, over at least {recurrence}, that ends {lag} before the call",
            unreadable="A window that cannot be read covers nothing",
        ),
        Check(
            title="The search was finished, and no search of nothing",
            test=log_searches.search_was_finished,
            earn="The mark of a finished, whole answer, and more than 0 lines looked at where the tool counts them",
            unreadable="A search that may be unfinished found nothing out",
        ),
    ),
    again=(log_searches.not_found_since_recovery,),
)
CONTROL = Need(
    readers=log_searches.READERS,
    asked=log_searches.asked_for_other_lines,
    answered=log_searches.answers_the_question,
    checks=(
        Check(
            title="The log was alive: a broader question to it found lines",
            test=log_searches.found_lines,
            earn="A second count for {subject}, of any line, above 0",
            unreadable="A log that cannot be shown alive may be dead",
        ),
        Check(
            title="Its source, selector and window are those of the search",
            test=asked_where_the_search_did,
            earn="The second count by the same tool, over exactly the lines and the window of the first",
            unreadable="A window that cannot be read covers nothing",
        ),
        Check(
            title="That count was finished too",
            test=log_searches.search_was_finished,
            earn="The mark of a finished, whole answer in the second one",
            unreadable="A search that may be unfinished found nothing out",
        ),
    ),
    again=(still_finds_lines,),
)

RULE = Rule(
    hypothesis="no_errors_in_logs",
    version=2,
    facts=(
        Fact(name="log_search_zero", needs=(SEARCH,)),
        Fact(name="log_source_alive", needs=(CONTROL,)),
    ),
)
