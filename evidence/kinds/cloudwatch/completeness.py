"""Whether an answer of CloudWatch or RDS is the whole answer, by every mark that the operation puts on one.

Sources: the API references of the operations, and the service models that botocore carries. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

CODES: Mapping[str, str] = {
    "next_page": "There is a next page.",
    "limit_reached": "The list is as long as it may be.",
    "partial_data": "A metric's samples are not all there.",
    "internal_error": "CloudWatch could not read a metric.",
    "forbidden": "The credential may not read a metric.",
    "status_unknown": "A result does not say that it is complete.",
    "message": "CloudWatch adds a message about its answer.",
    "unequal_lists": "There are not as many moments as values.",
    "no_samples": "A metric has no sample in the asked time, as has one that does not exist.",
    "samples_expired": "Samples of the asked period are not kept for so long.",
    "results_missing": "Not every metric that was asked for has a result.",
    "partial_evaluation": "CloudWatch could not evaluate an alarm in full.",
    "not_finished": "The query is not finished, or did not end well.",
    "not_stopped": "The query was not waited for any longer, could not be stopped, and may go on in CloudWatch.",
    "no_statistics": "The query does not say how many events it looked at.",
    "nothing_scanned": "The query looked at no event at all.",
    "rows_cut": "More events matched than the list holds.",
    "streams_left_out": "A log stream was not searched to its end.",
    "events_expired": "Events from the start of the asked time are no longer kept.",
    "no_list": "The answer has not the list that it should have.",
}
MOST_ALARMS, MOST_LOG_EVENTS, MOST_ROWS, MOST_RDS_EVENTS = 50, 10_000, 10_000, 100  # unless fewer are asked for
RDS_KEEPS = timedelta(days=14)
# For how long samples of so many seconds are kept. Of those that are gone, an answer says nothing and is `Complete`.
METRICS_KEPT = (
    (3600, timedelta(days=455)), (300, timedelta(days=63)), (60, timedelta(days=15)), (1, timedelta(hours=3)),
)  # fmt: skip
_STATUS = {"Complete": None, "PartialData": "partial_data", "InternalError": "internal_error", "Forbidden": "forbidden"}
_STATS = re.compile(r"(?:^|\|)\s*stats\s", re.IGNORECASE)
_BY = re.compile(r"\bby\b", re.IGNORECASE)  # a count of everything is one row; `by` groups it into many
_LIMIT = re.compile(r"\|\s*limit\s+(\d{1,9})\b", re.IGNORECASE)

Check = Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[str]]


def incomplete(operation: str, request: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Why the answer is not the whole one: codes of CODES; none when it proves to be whole.

    `request` holds the operation's own parameters as they were sent, and with a start of events or samples `asked_at`.
    """
    return tuple(dict.fromkeys(_CHECKS[operation](request, answer)))


def _alarms(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    yield from _next(answer, "NextToken")
    listed = [alarm for key in ("MetricAlarms", "CompositeAlarms", "LogAlarms") for alarm in _objects(answer, key)]
    if not isinstance(answer.get("MetricAlarms"), list):
        yield "no_list"
    if len(listed) >= request.get("MaxRecords", MOST_ALARMS):
        yield "limit_reached"
    if any("EvaluationState" in alarm for alarm in listed):
        yield "partial_evaluation"


def _metric_data(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    yield from _next(answer, "NextToken")
    results = _objects(answer, "MetricDataResults")
    shown = [query["Id"] for query in request["MetricDataQueries"] if query.get("ReturnData", True) is not False]
    given = [result.get("Id") for result in results]
    if any(one not in given for one in shown):
        yield "results_missing"
    if answer.get("Messages") or any(result.get("Messages") for result in results):
        yield "message"
    for result in results:
        yield from _status(result.get("StatusCode"))
        yield from _samples(result)
    begins: datetime | None = request.get("StartTime")
    if begins is not None and request["asked_at"] - begins > min(map(_kept, request["MetricDataQueries"])):
        yield "samples_expired"


def _kept(query: Mapping[str, Any]) -> timedelta:
    """A period that is a whole number of coarser samples is made of those."""
    period = query["MetricStat"]["Period"]
    return next(kept for seconds, kept in METRICS_KEPT if period % seconds == 0)


def _samples(result: Mapping[str, Any]) -> Iterator[str]:
    """A metric that nobody ever sent, or a slip in its name, is answered with `Complete` and empty lists."""
    times, values = _list(result, "Timestamps"), _list(result, "Values")
    if len(times) != len(values):
        yield "unequal_lists"
    elif not values and result.get("StatusCode") == "Complete":
        yield "no_samples"


def _status(status: Any) -> Iterator[str]:
    code = _STATUS.get(status, "status_unknown") if isinstance(status, str) else "status_unknown"
    if code is not None:
        yield code


def _insights(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Rows of a query that lists events are as many as matched; those of one that counts are not compared."""
    yield from _next(answer, "nextToken")
    if answer.get("status") != "Complete":
        yield "not_finished"
    rows, query = _list(answer, "results"), request["queryString"]
    if not isinstance(answer.get("results"), list):
        yield "no_list"
    if len(rows) >= _most_rows(request) and not _is_one_row(query):
        yield "limit_reached"
    yield from _statistics(answer.get("statistics"), None if _STATS.search(query) else len(rows))


def _most_rows(request: Mapping[str, Any]) -> int:
    """The smallest of the limits that were asked for, beside the query and in it."""
    inside = [int(number) for number in _LIMIT.findall(request["queryString"])]
    return min([int(request.get("limit", MOST_ROWS)), *inside])


def _is_one_row(query: str) -> bool:
    """Whether its last count is not grouped. A `by` in a text after it makes it look so, and the answer is doubted."""
    *_, last = ["", *_STATS.split(query)]
    return _STATS.search(query) is not None and _BY.search(last) is None


def _statistics(told: Any, rows: int | None) -> Iterator[str]:
    scanned, matched = _number(told, "recordsScanned"), _number(told, "recordsMatched")
    if scanned is None or matched is None:
        yield "no_statistics"
        return
    if scanned <= 0:
        yield "nothing_scanned"
    if rows is not None and rows < matched:
        yield "rows_cut"


def _number(told: Any, name: str) -> Decimal | None:
    """A count of the statistics, which are written as 18231.0."""
    found = told.get(name) if isinstance(told, dict) else None
    is_number = isinstance(found, int | float | Decimal) and not isinstance(found, bool)
    return Decimal(found) if is_number and found is not None else None


def _log_events(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    yield from _next(answer, "nextToken")
    if not isinstance(answer.get("events"), list):
        yield "no_list"
    if len(_list(answer, "events")) >= request.get("limit", MOST_LOG_EVENTS):
        yield "limit_reached"
    if any(stream.get("searchedCompletely") is not True for stream in _objects(answer, "searchedLogStreams")):
        yield "streams_left_out"


def _rds_events(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    yield from _next(answer, "Marker")
    if not isinstance(answer.get("Events"), list):
        yield "no_list"
    if len(_list(answer, "Events")) >= request.get("MaxRecords", MOST_RDS_EVENTS):
        yield "limit_reached"
    begins: datetime | None = request.get("StartTime")
    if begins is not None and request["asked_at"] - begins > RDS_KEEPS:
        yield "events_expired"


def _next(answer: Mapping[str, Any], token: str) -> Iterator[str]:
    if answer.get(token) is not None:
        yield "next_page"


def _list(answer: Mapping[str, Any], key: str) -> list[Any]:
    found = answer.get(key)
    return found if isinstance(found, list) else []


def _objects(answer: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of a list. What is none says nothing, as if all of its marks were left out."""
    return [item if isinstance(item, dict) else {} for item in _list(answer, key)]


_CHECKS: Mapping[str, Check] = {
    "DescribeAlarms": _alarms,
    "GetMetricData": _metric_data,
    "StartQuery": _insights,
    "FilterLogEvents": _log_events,
    "DescribeEvents": _rds_events,
}
