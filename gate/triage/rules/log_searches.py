"""Tests on searches of logs, whatever the tool: the incident's error, at its own place, over all the time that counts.

A log search is asked for no more and no less than the incident's subject, and its query has a shape that is understood.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from gate.triage.grammars import error_words, spellings
from gate.triage.readers import incident as said
from gate.triage.readers.document import Unreadable
from gate.triage.readers.elastic import ElasticSearch
from gate.triage.readers.error_counts import ErrorCount
from gate.triage.readers.esql import EsqlCount
from gate.triage.readers.insights import InsightsResults
from gate.triage.readers.log_search import Asked, LogSearch
from gate.triage.readers.loki import LokiAnswer
from gate.triage.readers.loki_wrapped import WrappedLokiAnswer
from gate.triage.readers.pod_logs import PodLogs
from gate.triage.rules.language import Case, Judgment, equal
from gate.triage.rules.subjects import ABOUT_THE_ALERT

READERS = (ErrorCount, LokiAnswer, WrappedLokiAnswer, InsightsResults, ElasticSearch, EsqlCount, PodLogs)
# No stream of Loki is named without a label. Where a subject is an id alone, one of these may say whose log it is.
WHOSE_LOG = ("app", "service", "service_name", "job", "component", "container", "unit")
IDS = ("id", "jid", "uuid")
SHORTEST_ID = 6  # a shorter text stands in lines by chance, but then more lines match, not fewer


def asked_for_this_error(search: LogSearch, case: Case) -> Judgment:
    """The incident's subject and its error, both and nothing besides."""
    asked = search.asked()
    place = names_the_subject(search, asked, case)
    return place if place.holds is not True else _is_its_error(search, asked, case)


def asked_for_other_lines(search: LogSearch, case: Case) -> Judgment:
    """The same place, and not the incident's error: a question to which a living log has an answer."""
    asked = search.asked()
    place = names_the_subject(search, asked, case)
    if place.holds is not True:
        return place
    is_other = _is_its_error(search, asked, case).holds is not True
    return Judgment(is_other, _shown(asked), "it asks for the error itself, where any line was to be counted.")


def names_the_subject(search: LogSearch, asked: Asked, case: Case) -> Judgment:
    """Every key of the subject is in the selector, with its value, and the selector has nothing else."""
    wanted = _wanted(search, case)
    for field, value in sorted(asked.place):
        named = [key for key in wanted if spellings.is_name_of(field, key)]
        if len(named) > 0 and wanted[named[0]] != value:
            return Judgment(False, f"{field}={value}", f"another `{field}` was searched than that of the incident.")
    for field, value in sorted(asked.selector):
        if not is_asked_by((field, value), wanted) and not is_whose_log(asked, field, wanted):
            return Judgment(
                False, f"{field}={value}", f"`{field}` = `{value}` is not part of what the incident is about."
            )
    for key, value in sorted(wanted.items()):
        if not has_key(asked, key) and not is_in_its_text(asked, key, value):
            return Judgment(False, _shown(asked), f"the search does not say which `{key}`.")
    return Judgment(len(wanted) > 0, _shown(asked), "the incident does not say what its logs are.")


def answers_the_question(search: LogSearch, case: Case) -> Judgment:
    """A count names no subject; what the system repeats of the question is compared where it is read."""
    return Judgment(True, "", "")


def count_is_zero(search: LogSearch, case: Case) -> Judgment:
    """Exactly 0, said by the source, in an answer that is whole. A count that is not there is not 0."""
    search.complete()
    return equal(search.found(), 0, f"the count is {search.found()}, not 0.")


def found_lines(search: LogSearch, case: Case) -> Judgment:
    """More than 0, said by the source, in an answer that is whole."""
    search.complete()
    return Judgment(search.at_least() > 0, f"{search.at_least()}", "the source held no line at all, so it may be dead.")


def window_covers_recurrence(search: LogSearch, case: Case) -> Judgment:
    """The window begins by recovery, lasts long enough, and all its lines have arrived."""
    asked = search.asked()
    missed = _missed(search, asked.begins, asked.ends, case)
    return Judgment(missed == "", _time(asked), missed)


def search_was_finished(search: LogSearch, case: Case) -> Judgment:
    """Whole by every mark of its system, and not a search of nothing where the system tells how much it searched."""
    search.complete()
    if search.says_scanned() is not True:
        return Judgment(True, "finished", "")
    scanned = search.scanned()
    return Judgment(scanned > 0, f"finished, {scanned}", "no line was looked at, so that none was found says nothing.")


def search_looked_at_lines(search: LogSearch, case: Case) -> Judgment:
    """The same where nothing else shows that the log is alive: the answer itself must say that lines were looked at."""
    search.complete()
    scanned = search.scanned()
    return Judgment(scanned > 0, f"finished, {scanned}", "no line was looked at, so that none was found says nothing.")


def not_found_since_recovery(search: LogSearch, case: Case) -> Judgment:
    """Asked again: no such line after recovery. A window that begins earlier may hold the incident's own errors."""
    if search.asked().begins < case.incident.watch_from:
        since = search.has_lines_since(case.incident.watch_from)
        return Judgment(since is False, "an earlier window", "it lists the error with a time after recovery.")
    return Judgment(search.has_lines() is False, "lines", "it finds the error after recovery.")


def _wanted(search: LogSearch, case: Case) -> dict[str, str]:
    """What must be named. The demo's count knows jobs by their kind, which the intake says among the facts."""
    if isinstance(search, ErrorCount):
        return {"job_kind": said.fact_text(case.incident, "job_kind")}
    keys = sorted(said.subject_keys(case.incident) - ABOUT_THE_ALERT)
    return {key: f"{said.subject_identifier(case.incident, key)}" for key in keys}


def is_asked_by(pair: tuple[str, str], wanted: dict[str, str]) -> bool:
    named = [key for key in wanted if spellings.is_name_of(pair[0], key)]
    return len(named) == 1 and wanted[named[0]] == pair[1]


def has_key(asked: Asked, key: str) -> bool:
    fields = [field for field, _ in (*asked.selector, *asked.place) if spellings.is_name_of(field, key)]
    return len(fields) == 1


def is_whose_log(asked: Asked, field: str, wanted: dict[str, str]) -> bool:
    """One label, where no key of the subject is a label and each is an id that lines are searched for."""
    ids = [value for key, value in sorted(wanted.items()) if is_in_its_text(asked, key, value)]
    return field in WHOSE_LOG and len(asked.selector) == 1 and len(ids) == len(wanted)


def is_in_its_text(asked: Asked, key: str, value: str) -> bool:
    """Whether lines are searched for an id. What is a label, such as a namespace, seldom stands in the line itself."""
    ends_so = key[-3:] == "_id" and spellings.has_other_names(key) is False
    if (key in IDS, ends_so) == (False, False):
        return False
    if len(value) < SHORTEST_ID:
        return False
    return len([pattern for pattern in asked.patterns if _after_id(pattern, value) is not None]) > 0


def _after_id(pattern: str, value: str) -> str | None:
    """What a pattern asks for besides an id that it begins with; None when it does not begin with the id."""
    if pattern == value:
        return ""
    begins = f"{value} "
    return pattern[len(begins) :] if pattern[: len(begins)] == begins else None


def _is_its_error(search: LogSearch, asked: Asked, case: Case) -> Judgment:
    """Besides ids of the subject, the search looks for exactly one text, and that is the incident's error."""
    if isinstance(search, ErrorCount):
        return equal(asked.patterns, (said.fact_text(case.incident, "error"),), "another error was counted.")
    ids = [value for key, value in sorted(_wanted(search, case).items()) if not has_key(asked, key)]
    rests = [_after_id(pattern, value) for pattern in asked.patterns for value in ids]
    after = [rest for rest in rests if rest is not None]  # what stands after an id, which may be nothing
    texts = [*(rest for rest in after if rest != ""), *(text for text in asked.patterns if not has_id(text, ids))]
    is_silent = _own_errors(case) == ()
    if (len(texts), len(after) > 0, is_silent) == (0, True, True):
        return Judgment(True, _shown(asked), "")  # every line about the id counts
    if len(texts) != 1:
        return Judgment(False, _shown(asked), "it does not look for exactly one text, the error.")
    tells = error_words.tells_of_failure(texts[0]) is True and after == texts
    return Judgment(True, _shown(asked), "") if (tells, is_silent) == (True, True) else _is_the_text(texts[0], case)


def has_id(text: str, ids: list[str]) -> bool:
    """Whether a text begins with an id of the subject."""
    return len([value for value in ids if _after_id(text, value) is not None]) > 0


def _is_the_text(text: str, case: Case) -> Judgment:
    own = _own_errors(case)
    if len(own) > 1:
        return Judgment(False, text, "the incident names more than one error.")
    if len(own) == 1:
        return equal(text, own[0], f"another error than `{own[0]}` was searched for.")
    title = said.fact_text(case.incident, "title") if said.fact_has(case.incident, "title") is True else ""
    named, perhaps = error_words.named_in(title), error_words.perhaps_named_in(title)
    if len(named) > 0:
        return Judgment(text in frozenset(named), text, f"the incident is about {', '.join(sorted(named))}.")
    if (error_words.is_said_in(title, text), text in frozenset(perhaps)) != (False, False):
        return Judgment(True, text, "")
    if error_words.is_of_another_kind(title, text) is True:
        return Judgment(False, text, "the title tells of an error of another kind.")
    why = "the incident does not say its error, and this text is no known word for one."
    return Judgment(error_words.names_an_error(text) is True, text, why)


def _own_errors(case: Case) -> tuple[str, ...]:
    """What the intake says that the error is, each once."""
    found = []
    for key in ("error", "pattern"):
        if said.subject_has(case.incident, key):
            found.append(said.subject_text(case.incident, key))
        if said.fact_has(case.incident, key):
            found.append(said.fact_text(case.incident, key))
    if "" in frozenset(found):
        raise Unreadable("", "the incident's error is an empty text, which stands in every line.", "empty")
    return tuple(sorted(frozenset(found)))


def _missed(search: LogSearch, begins: datetime, ends: datetime, case: Case) -> str:
    incident = case.incident
    if not begins < ends:
        return "the window is empty, so that nothing was looked at."
    if begins > incident.watch_from:
        return "the window begins after recovery, so what came in between was not looked at."
    if ends < incident.watch_from + timedelta(seconds=incident.recurrence_seconds):
        return "the window ends before the error had time to come again."
    lags = sorted((search.LAG, timedelta(seconds=incident.ingestion_lag_seconds)))
    if ends > search.called_at() - lags[1]:
        return "the window reaches into the time whose lines may not have arrived."
    return ""


def _time(asked: Asked) -> str:
    return f"{asked.begins:%d %b %H:%M:%S} to {asked.ends:%d %b %H:%M:%S}"


def _shown(asked: Asked) -> str:
    labels = ", ".join(f"{field}={value}" for field, value in sorted(asked.selector))
    return f"{labels}: {', '.join(asked.patterns)}" if len(asked.patterns) > 0 else labels
