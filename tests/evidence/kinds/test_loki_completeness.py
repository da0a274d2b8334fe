"""An answer of Loki is whole only when it says that it is, and that something was looked at."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.kinds.loki.completeness import CODES, incomplete
from evidence.kinds.loki.endpoints import API
from tests.evidence.kinds.recorded import GONE, changed, records

FRESH = {"result": {"entriesFound": 0}, "instantMetricResult": {"entriesFound": 0}, "chunk": {"entriesFound": 9}}
STATS = {"summary": {"totalLinesProcessed": 41822, "totalBytesProcessed": 9}, "cache": FRESH}
STREAMS = [{"stream": {"app": "a"}, "values": [["1", "one"]]}, {"stream": {"app": "b"}, "values": [["2", "two"]]}]
WHOLE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "count": (
        {"endpoint": "query", "query": "q"},
        {
            "status": "success",
            "data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, "0"]}], "stats": STATS},
        },
    ),
    "counts": (
        {"endpoint": "query_range", "query": "q", "limit": 1},  # a count has no limit of lines
        {
            "status": "success", "warnings": [],
            "data": {"resultType": "matrix", "result": [{"metric": {}, "values": [[1, "0"]]}], "stats": STATS},
        },
    ),
    "lines": (
        {"endpoint": "query_range", "query": "q", "limit": "3"},
        {
            "status": "success",
            "data": {"resultType": "streams", "result": STREAMS, "stats": STATS, "encodingFlags": ["a-flag"]},
        },
    ),
    "labels": ({"endpoint": "labels"}, {"status": "success", "data": ["app"]}),
    "series": ({"endpoint": "series"}, {"status": "success", "data": []}),
    "stats": ({"endpoint": "index_stats"}, {"streams": 1, "chunks": 0, "entries": 0, "bytes": 0}),
    "rules": ({"endpoint": "rules"}, {"status": "success", "data": {"groups": []}, "errorType": "", "error": ""}),
    "alerts": ({"endpoint": "alerts"}, {"status": "success", "data": {"alerts": []}}),
}  # fmt: skip
MARKS: tuple[tuple[str, str, Any, str], ...] = (
    *((name, "status", value, "not_success") for name in WHOLE if name != "stats" for value in ("error", None, GONE)),
    ("count", "warnings", ["maximum number of series reached"], "warnings"),
    ("count", "warnings", "a word", "warnings"),
    ("rules", "error", "no ring", "error"),
    ("rules", "errorType", "server_error", "error"),
    ("count", "data.stats.summary.totalLinesProcessed", 0, "nothing_scanned"),
    ("counts", "data.stats.summary.totalLinesProcessed", 0, "nothing_scanned"),
    ("lines", "data.stats.summary.totalLinesProcessed", 0, "nothing_scanned"),
    ("count", "data.stats.summary.totalLinesProcessed", GONE, "scan_unknown"),
    ("count", "data.stats.summary.totalLinesProcessed", None, "scan_unknown"),
    ("count", "data.stats.summary.totalLinesProcessed", True, "scan_unknown"),
    ("count", "data.stats.summary.totalLinesProcessed", "9", "scan_unknown"),
    ("count", "data.stats.summary", [], "scan_unknown"),
    ("count", "data.stats", GONE, "scan_unknown"),
    ("count", "data.stats.cache.instantMetricResult.entriesFound", 1, "from_cache"),
    ("counts", "data.stats.cache.result.entriesFound", 4, "from_cache"),
    ("lines", "data.result", [{"stream": {}, "values": [["1", "a"]] * 3}], "limit_reached"),
    ("lines", "data.result", STREAMS * 2, "limit_reached"),
    ("lines", "data.result.0.values", GONE, "unknown_shape"),
    ("lines", "data.result.0", "a", "unknown_shape"),
    ("count", "data.resultType", "matrix", "unknown_shape"),
    ("counts", "data.resultType", "vector", "unknown_shape"),
    ("count", "data.result", None, "unknown_shape"),
    ("count", "data", [], "unknown_shape"),
    ("count", "data.partial", True, "unknown_mark"),
    ("rules", "data.more", True, "unknown_mark"),
    ("rules", "data.groupNextToken", "more", "more_pages"),
    ("rules", "data.groups", GONE, "unknown_shape"),
    ("alerts", "data.alerts", {}, "unknown_shape"),
    ("labels", "data", GONE, "unknown_shape"),
    ("stats", "streams", 0, "nothing_scanned"),
    ("stats", "streams", GONE, "unknown_shape"),
    ("stats", "bytes", "9", "unknown_shape"),
    ("stats", "more", 1, "unknown_shape"),
)


@pytest.mark.parametrize("record", records("loki"), ids=lambda record: record["name"])
def test_recorded_answers_are_told_apart(record: dict[str, Any]) -> None:
    assert list(incomplete(record["request"], record["answer"])) == record["incomplete"]


@pytest.mark.parametrize("name", WHOLE)
def test_whole_answers_are_whole(name: str) -> None:
    assert incomplete(*WHOLE[name]) == ()


@pytest.mark.parametrize(("name", "path", "value", "code"), MARKS)
def test_each_mark_is_seen(name: str, path: str, value: Any, code: str) -> None:
    request, answer = WHOLE[name]
    assert code in incomplete(request, changed(answer, path, value))


@pytest.mark.parametrize(
    ("limit", "cut"), [("2", True), (2, True), ("3", False), ("0", True), ("-1", True), ("x", True)]
)
def test_a_list_at_its_limit_is_cut(limit: Any, cut: bool) -> None:
    request, answer = WHOLE["lines"]
    assert (incomplete({**request, "limit": limit}, answer) == ("limit_reached",)) is cut


@pytest.mark.parametrize(("lines", "cut"), [(99, False), (100, True)])
def test_a_list_without_a_limit_has_the_servers(lines: int, cut: bool) -> None:
    answer = changed(WHOLE["lines"][1], "data.result", [{"stream": {}, "values": [["1", "a"]] * lines}])
    assert (incomplete({"endpoint": "query_range"}, answer) == ("limit_reached",)) is cut


def test_every_code_has_a_mark() -> None:
    assert {code for *_, code in MARKS} == set(CODES)


@pytest.mark.parametrize("name", WHOLE)
def test_an_unknown_key_counts_as_a_mark(name: str) -> None:
    request, answer = WHOLE[name]
    assert incomplete(request, {**answer, "newly_invented": False}) in (("unknown_mark",), ("unknown_shape",))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.sampled_from(sorted(API.endpoints)), JSON, JSON)
def test_any_json_is_judged(endpoint: str, answer: Any, data: Any) -> None:
    assert incomplete({"endpoint": endpoint}, answer)
    for asked in (answer, {"status": "success", "data": data}):
        assert set(incomplete({"endpoint": endpoint}, asked)) <= set(CODES)
