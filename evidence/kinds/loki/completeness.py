"""Whether an answer of Loki is all that there is.

Marks: `warnings`, the number of listed lines beside their limit (which is 100 where none is said), and how many lines
were looked at: a search that scanned nothing finds nothing, be it that the selector is wrong, the retention is over or
the store is away. Counts that come from the results cache were scanned at another time. A mark that nobody knows may be
one, so it counts as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

CODES: Mapping[str, str] = {
    "not_success": "The answer does not say that it is one.",
    "error": "The answer names an error.",
    "warnings": "The answer warns.",
    "unknown_mark": "The answer has a key that nobody knows, which may be a mark.",
    "unknown_shape": "The answer has not the form that it should have.",
    "limit_reached": "There are as many lines as there may be.",
    "nothing_scanned": "The query looked at no line at all.",
    "scan_unknown": "The answer does not say how many lines it looked at.",
    "from_cache": "A part of the answer was kept from before.",
    "more_pages": "There is a next page.",
}
KNOWN = frozenset(("status", "data", "warnings", "error", "errorType"))
KNOWN_DATA = frozenset(("resultType", "result", "stats", "encodingFlags"))
UNASKED = 100  # lines that Loki lists where no limit is said
RESULT_TYPES = {"query": ("vector", "streams", "scalar"), "query_range": ("matrix", "streams")}
INDEX = frozenset(("streams", "chunks", "entries", "bytes"))
LISTS = frozenset(("labels", "label_values", "series"))


def incomplete(request: Mapping[str, Any], answer: Any) -> tuple[str, ...]:
    """Why the answer is not the whole one: codes of CODES; none when it proves to be whole.

    `request` holds the `endpoint` and, beside it, the parameters as they were sent.
    """
    if not isinstance(answer, dict):
        return ("unknown_shape",)
    if request["endpoint"] == "index_stats":
        return _index(answer)
    return tuple(dict.fromkeys([*_envelope(answer), *_data(request, answer)]))


def _index(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """An answer of sizes, without an envelope."""
    if set(answer) != INDEX or not all(type(size) is int for size in answer.values()):
        return ("unknown_shape",)
    return ("nothing_scanned",) if answer["streams"] == 0 else ()


def _envelope(answer: Mapping[str, Any]) -> Iterator[str]:
    if answer.get("status") != "success":
        yield "not_success"
    if answer.get("error") not in (None, "") or answer.get("errorType") not in (None, ""):
        yield "error"
    if "warnings" in answer and answer["warnings"] not in (None, []):
        yield "warnings"
    if set(answer) - KNOWN:
        yield "unknown_mark"


def _data(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    endpoint, data = request["endpoint"], answer.get("data")
    if endpoint in LISTS:
        # A server without any label leaves the list out; it was then not looked at, for a server with logs has some.
        yield from () if isinstance(data, list) else ("unknown_shape",)
    elif not isinstance(data, dict):
        yield "unknown_shape"
    elif endpoint in RESULT_TYPES:
        yield from _unknown(data, KNOWN_DATA)
        yield from _result(request, data)
        yield from _scanned(data.get("stats"))
    else:
        yield from _ruler(endpoint, data)


def _unknown(data: Mapping[str, Any], known: frozenset[str]) -> Iterator[str]:
    if set(data) - known:
        yield "unknown_mark"


def _result(request: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    result = data.get("result")
    if data.get("resultType") not in RESULT_TYPES[request["endpoint"]] or not isinstance(result, list):
        yield "unknown_shape"
    elif data["resultType"] == "streams":
        yield from _lines(request, result)


def _lines(request: Mapping[str, Any], streams: list[Any]) -> Iterator[str]:
    listed = [stream["values"] for stream in streams if _is_stream(stream)]
    if len(listed) < len(streams):
        yield "unknown_shape"
    if sum(map(len, listed)) >= _limit(request):
        yield "limit_reached"


def _is_stream(stream: Any) -> bool:
    return isinstance(stream, dict) and isinstance(stream.get("values"), list)


def _limit(request: Mapping[str, Any]) -> int:
    """How many lines were asked for. What is no plain number is taken for none: then any list is at its limit."""
    said = str(request.get("limit", UNASKED))
    return int(said) if said.isascii() and said.isdecimal() else 0


def _scanned(stats: Any) -> Iterator[str]:
    match stats:
        case {"summary": {"totalLinesProcessed": int(lines)}} if not isinstance(lines, bool):
            if _from_cache(stats):
                yield "from_cache"
            elif lines == 0:
                yield "nothing_scanned"
        case _:
            yield "scan_unknown"


def _from_cache(stats: Mapping[str, Any]) -> bool:
    """Whether a part of the result was kept from before. The client asks for none of it; not every version listens."""
    match stats.get("cache"):
        case {"result": {"entriesFound": int(found)}} if found > 0:
            return True
        case {"instantMetricResult": {"entriesFound": int(found)}} if found > 0:
            return True
    return False


def _ruler(endpoint: str, data: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(data.get("groups" if endpoint == "rules" else "alerts"), list):
        yield "unknown_shape"
    if data.get("groupNextToken") not in (None, ""):
        yield "more_pages"
    yield from _unknown(data, frozenset(("groups", "alerts", "groupNextToken")))
