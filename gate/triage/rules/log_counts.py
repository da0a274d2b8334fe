"""Tests on counts of log lines that several rules put: the same error, the right window, all of it looked at."""

from __future__ import annotations

from datetime import datetime, timedelta

from gate.triage.readers import incident as said
from gate.triage.readers.count_errors import CountErrors
from gate.triage.rules.language import Case, Judgment, equal

ASKED_BY = frozenset(("error", "job_kind", "from", "to"))


def asked_for_this_error(count: CountErrors, case: Case) -> Judgment:
    """The pattern is the incident's own, and no further filter narrows the search."""
    if count.asked_keys() != ASKED_BY:
        return _other_arguments(count)
    kind = said.fact_text(case.incident, "job_kind")
    if count.asked_job_kind() != kind:
        return Judgment(False, count.asked_job_kind(), f"lines of another kind of job than `{kind}` were asked for.")
    error = said.fact_text(case.incident, "error")
    return equal(count.asked_error(), error, f"another error than `{error}` was asked for.")


def counted_this_error(count: CountErrors, case: Case) -> Judgment:
    """The answer says that it counted what was asked."""
    kind, error = said.fact_text(case.incident, "job_kind"), said.fact_text(case.incident, "error")
    if count.job_kind() != kind:
        return Judgment(False, count.job_kind(), f"lines of another kind of job than `{kind}` were counted.")
    return equal(count.error(), error, f"another error than `{error}` was counted.")


def asked_for_any_line(count: CountErrors, case: Case) -> Judgment:
    """The same selector as the search, without the error: a broader question to the same source."""
    if count.asked_keys() != ASKED_BY:
        return _other_arguments(count)
    kind = said.fact_text(case.incident, "job_kind")
    if count.asked_job_kind() != kind:
        return Judgment(False, count.asked_job_kind(), f"lines of another kind of job than `{kind}` were asked for.")
    return equal(count.asked_error(), None, "one error was asked for, where any line was to be counted.")


def counted_any_line(count: CountErrors, case: Case) -> Judgment:
    """The answer says that it counted what was asked."""
    kind = said.fact_text(case.incident, "job_kind")
    if count.job_kind() != kind:
        return Judgment(False, count.job_kind(), f"lines of another kind of job than `{kind}` were counted.")
    return equal(count.error(), None, "one error was counted, where any line was to be counted.")


def count_is_zero(count: CountErrors, case: Case) -> Judgment:
    """Exactly 0, said by the source. A count that is not there is not 0."""
    return equal(count.count(), 0, f"the count is {count.count()}, not 0.")


def window_is_as_asked(count: CountErrors, case: Case) -> Judgment:
    """The answer counted over the window that it was asked for."""
    begins, ends = count.window_from(), count.window_to()
    seen = f"{begins:%H:%M:%S} to {ends:%H:%M:%S}"
    if begins != count.asked_from():
        return Judgment(False, seen, "the window counted does not begin where it was asked to.")
    return Judgment(ends == count.asked_to(), seen, "the window counted does not end where it was asked to.")


def window_covers_recurrence(count: CountErrors, case: Case) -> Judgment:
    """The window is as asked, begins by recovery, lasts long enough, and all its lines have arrived."""
    window = window_is_as_asked(count, case)
    if window.holds is not True:
        return window
    missed = _missed(count.window_from(), count.window_to(), count.called_at(), case)
    return Judgment(missed == "", window.seen, missed)


def _missed(begins: datetime, ends: datetime, called_at: datetime, case: Case) -> str:
    incident = case.incident
    if not begins < ends:
        return "the window is empty, so that nothing was looked at."
    if begins > incident.watch_from:
        return "the window begins after recovery, so what came in between was not looked at."
    if ends < incident.watch_from + timedelta(seconds=incident.recurrence_seconds):
        return "the window ends before the error had time to come again."
    if ends > called_at - timedelta(seconds=incident.ingestion_lag_seconds):
        return "the window reaches into the time whose lines may not have arrived."
    return ""


def search_was_finished(count: CountErrors, case: Case) -> Judgment:
    """Literally complete, and not a search of nothing."""
    complete, scanned = count.complete(), count.scanned()
    seen = f"{'true' if complete is True else 'false'}, {scanned}"
    if complete is not True:
        return Judgment(False, seen, "the search was not finished, so its count says nothing.")
    return Judgment(scanned > 0, seen, "no line was looked at, so that none was found says nothing.")


def not_counted_since_recovery(count: CountErrors, case: Case) -> Judgment:
    """Asked again: no error in a window after recovery. One that begins earlier may hold the incident's own errors."""
    if count.window_from() < case.incident.watch_from:
        return Judgment(True, "an earlier window", "")
    return equal(count.count(), 0, f"it counts {count.count()} after recovery.")


def _other_arguments(count: CountErrors) -> Judgment:
    seen = ", ".join(sorted(count.asked_keys()))
    return Judgment(False, seen, "it was not asked by exactly error, job_kind, from and to.")
