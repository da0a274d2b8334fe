"""Whether an answer of Prometheus, or of a server that speaks as it does, is all that there is.

Marks: `warnings` (Thanos and Mimir name the stores that did not answer; Prometheus names a limit that cut), `isPartial`
(VictoriaMetrics), the number of series beside the limit that was asked for, `groupNextToken` of rules, targets that
were dropped and are counted but not listed, and how many samples were looked at (`stats`, which every query asks for).
Not every server counts them: what such a one answers to a query that can make a value of nothing is not the whole.
A mark that nobody knows may be one, so it counts as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from evidence.kinds.prometheus.promql import can_be_of_nothing

CODES: Mapping[str, str] = {
    "not_success": "The answer does not say that it is one.",
    "error": "The answer names an error.",
    "warnings": "The answer warns: stores that did not answer, or a limit that cut it.",
    "infos": "The answer says more than how the query is meant.",
    "partial": "The answer does not say that all nodes answered.",
    "unknown_mark": "The answer has a key that nobody knows, which may be a mark.",
    "unknown_shape": "The answer has not the form that it should have.",
    "limit_reached": "The list is as long as it may be.",
    "more_pages": "There is a next page.",
    "targets_left_out": "Targets were dropped, and are counted but not listed.",
    "nothing_scanned": "The query looked at no sample at all.",
    "not_counted": "The query can make a value of nothing, and how many samples were looked at is not said.",
}
KNOWN = frozenset(("status", "data", "warnings", "infos", "error", "errorType", "isPartial", "stats", "trace"))
KNOWN_DATA = {
    "query": frozenset(("resultType", "result", "stats", "explanation", "analysis")),
    "query_range": frozenset(("resultType", "result", "stats", "explanation", "analysis")),
    "rules": frozenset(("groups", "groupNextToken")),
    "alerts": frozenset(("alerts",)),
    "targets": frozenset(("activeTargets", "droppedTargets", "droppedTargetCounts")),
    "alertmanagers": frozenset(("activeAlertmanagers", "droppedAlertmanagers")),
}
LISTS = frozenset(("series", "labels", "label_values"))  # `data` is the list itself
RESULT_TYPES = {"query": ("vector", "matrix", "scalar", "string"), "query_range": ("matrix",)}
# An info is about how the query is meant, not about what is missing from its answer; other infos may be.
HARMLESS = "PromQL info: "


def incomplete(request: Mapping[str, Any], answer: Any) -> tuple[str, ...]:
    """Why the answer is not the whole one: codes of CODES; none when it proves to be whole.

    `request` holds the `endpoint` and, beside it, the parameters as they were sent.
    """
    if not isinstance(answer, dict):
        return ("unknown_shape",)
    found = [*_envelope(answer), *_data(request, answer.get("data")), *_scanned(request, answer)]
    return tuple(dict.fromkeys(found))


def _envelope(answer: Mapping[str, Any]) -> Iterator[str]:
    if answer.get("status") != "success":
        yield "not_success"
    if not _is_blank(answer, "error", "") or not _is_blank(answer, "errorType", ""):
        yield "error"
    if not _is_blank(answer, "warnings", []):
        yield "warnings"
    if not _are_harmless(answer.get("infos", [])):
        yield "infos"
    if "isPartial" in answer and answer["isPartial"] is not False:
        yield "partial"
    if set(answer) - KNOWN:
        yield "unknown_mark"


def _is_blank(answer: Mapping[str, Any], key: str, blank: Any) -> bool:
    """Whether a mark is not there, or says nothing. Anything else says something, also what it should not be."""
    return key not in answer or answer[key] is None or (type(answer[key]) is type(blank) and answer[key] == blank)


def _are_harmless(infos: Any) -> bool:
    if infos is None:
        return True
    return isinstance(infos, list) and all(isinstance(info, str) and info.startswith(HARMLESS) for info in infos)


def _data(request: Mapping[str, Any], data: Any) -> Iterator[str]:
    endpoint = request["endpoint"]
    if endpoint in LISTS:
        yield from _listed(request, data)
    elif endpoint == "metadata":
        yield from _metadata(request, data)
    elif not isinstance(data, dict):
        yield "unknown_shape"
    else:
        if set(data) - KNOWN_DATA[endpoint]:
            yield "unknown_mark"
        yield from OF_ENDPOINT[endpoint](request, data)


def _listed(request: Mapping[str, Any], found: Any) -> Iterator[str]:
    if not isinstance(found, list):
        yield "unknown_shape"
    elif _reached(request, len(found), "limit"):
        yield "limit_reached"


def _reached(request: Mapping[str, Any], count: int, parameter: str) -> bool:
    """Whether a list is as long as its limit lets it be. 0 is no limit; one that is no number cannot be compared."""
    if parameter not in request:
        return False
    try:
        limit = Decimal(str(request[parameter]))
    except ArithmeticError:
        return True
    return limit.is_nan() or (limit != 0 and count >= limit)


def _result(request: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    result = data.get("result")
    if data.get("resultType") not in RESULT_TYPES[request["endpoint"]] or not isinstance(result, list):
        yield "unknown_shape"
    elif data["resultType"] in ("vector", "matrix") and _reached(request, len(result), "limit"):
        yield "limit_reached"


def _rules(request: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(data.get("groups"), list):
        yield "unknown_shape"
    if not _is_blank(data, "groupNextToken", ""):
        yield "more_pages"


def _alerts(request: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(data.get("alerts"), list):
        yield "unknown_shape"


def _targets(request: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    dropped, counted = data.get("droppedTargets"), data.get("droppedTargetCounts", {})
    if not isinstance(data.get("activeTargets"), list) or not isinstance(dropped, list) or not _are_counts(counted):
        yield "unknown_shape"
    elif request.get("state") != "active" and sum(counted.values()) > len(dropped):
        yield "targets_left_out"


def _are_counts(value: Any) -> bool:
    return isinstance(value, dict) and all(type(count) is int for count in value.values())


def _alertmanagers(request: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(data.get("activeAlertmanagers"), list):
        yield "unknown_shape"


OF_ENDPOINT = {
    "query": _result, "query_range": _result, "rules": _rules, "alerts": _alerts, "targets": _targets,
    "alertmanagers": _alertmanagers,
}  # fmt: skip


def _metadata(request: Mapping[str, Any], data: Any) -> Iterator[str]:
    if not isinstance(data, dict) or not all(isinstance(told, list) for told in data.values()):
        yield "unknown_shape"
        return
    longest = max(map(len, data.values()), default=0)
    if _reached(request, len(data), "limit") or _reached(request, longest, "limit_per_metric"):
        yield "limit_reached"


def _scanned(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """A query that looked at nothing finds nothing, and makes a zero of it where it says `or vector(0)`."""
    data = answer.get("data")
    if request["endpoint"] not in RESULT_TYPES or not isinstance(data, dict):
        return
    looked_at = _looked_at(data.get("stats"), answer.get("stats"))
    if looked_at == 0 or (looked_at is None and data.get("result") == []):
        yield "nothing_scanned"
    elif looked_at is None and can_be_of_nothing(request.get("query")):
        yield "not_counted"


def _looked_at(stats: Any, of_victoria: Any) -> int | None:
    """How many samples (Prometheus) or series (VictoriaMetrics) were looked at; None where the answer does not say."""
    match stats, of_victoria:
        case {"samples": {"totalQueryableSamples": int(count)}}, _:
            return count
        case _, {"seriesFetched": str(count)} if count.isdecimal():
            return int(count)
    return None
