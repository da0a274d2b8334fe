"""An answer of Prometheus, and of what speaks as it does, is whole only when no mark on it says otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.kinds.prometheus.completeness import CODES, incomplete
from evidence.kinds.prometheus.endpoints import API
from tests.evidence.kinds.recorded import GONE, changed, records

STATS = {"samples": {"totalQueryableSamples": 120, "peakSamples": 8}}
VECTOR = {"resultType": "vector", "result": [{"metric": {"job": "a"}, "value": [1, "0"]}], "stats": STATS}
MATRIX = {"resultType": "matrix", "result": [{"metric": {"job": "a"}, "values": [[1, "0"]]}], "stats": STATS}
WHOLE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "query": ({"endpoint": "query", "query": "up"}, {"status": "success", "data": VECTOR}),
    "range": (
        {"endpoint": "query_range", "query": "up", "limit": 2},
        {"status": "success", "data": MATRIX, "warnings": [], "infos": ["PromQL info: metric might not be a counter"]},
    ),
    "victoria": (
        {"endpoint": "query", "query": "up"},
        {
            "status": "success", "isPartial": False, "stats": {"seriesFetched": "1", "executionTimeMsec": 3},
            "data": {"resultType": "vector", "result": []},
        },
    ),
    "zero": ({"endpoint": "query", "query": "sum(up) or vector(0)"}, {"status": "success", "data": VECTOR}),
    "series": ({"endpoint": "series", "limit": "3"}, {"status": "success", "data": [{"a": "b"}, {"a": "c"}]}),
    "labels": ({"endpoint": "labels", "limit": 0}, {"status": "success", "data": ["a"]}),
    "rules": ({"endpoint": "rules"}, {"status": "success", "data": {"groups": [], "groupNextToken": ""}}),
    "alerts": ({"endpoint": "alerts"}, {"status": "success", "data": {"alerts": []}}),
    "targets": (
        {"endpoint": "targets"},
        {
            "status": "success",
            "data": {"activeTargets": [], "droppedTargets": [{}], "droppedTargetCounts": {"a": 1, "b": 0}},
        },
    ),
    "metadata": (
        {"endpoint": "metadata", "limit": 2, "limit_per_metric": 2},
        {"status": "success", "data": {"up": [{"type": "gauge"}]}},
    ),
}  # fmt: skip
MARKS: tuple[tuple[str, str, Any, str], ...] = (
    *((name, "status", value, "not_success") for name in WHOLE for value in ("error", None, "Success", GONE)),
    ("query", "errorType", "timeout", "error"),
    ("query", "error", "query timed out", "error"),
    ("query", "error", 0, "error"),
    ("query", "warnings", ["results truncated due to limit"], "warnings"),
    ("query", "warnings", ["fetch series: store unavailable"], "warnings"),
    ("query", "warnings", ["PromQL warning: bucket label le is missing"], "warnings"),
    ("query", "warnings", "a word", "warnings"),
    ("query", "warnings", {}, "warnings"),
    ("series", "warnings", ["results truncated due to limit"], "warnings"),
    ("rules", "warnings", ["no rules client"], "warnings"),
    ("alerts", "warnings", ["no store"], "warnings"),
    ("targets", "warnings", ["no store"], "warnings"),
    ("range", "infos", ["something is missing"], "infos"),
    ("range", "infos", "PromQL info: a word", "infos"),
    ("range", "infos", ["PromQL info: a", 7], "infos"),
    ("victoria", "isPartial", True, "partial"),
    ("victoria", "isPartial", None, "partial"),
    ("victoria", "isPartial", "false", "partial"),
    ("victoria", "isPartial", 0, "partial"),
    ("query", "isPartial", True, "partial"),
    ("query", "truncated", False, "unknown_mark"),
    ("query", "data.partial", True, "unknown_mark"),
    ("rules", "data.more", 1, "unknown_mark"),
    ("range", "data.result", MATRIX["result"] * 2, "limit_reached"),
    ("range", "data.result", MATRIX["result"] * 3, "limit_reached"),
    ("series", "data", [{}] * 3, "limit_reached"),
    ("metadata", "data", {"up": [], "down": []}, "limit_reached"),
    ("metadata", "data", {"up": [{}, {}]}, "limit_reached"),
    ("metadata", "data", {"up": {}}, "unknown_shape"),
    ("metadata", "data", [], "unknown_shape"),
    ("rules", "data.groupNextToken", "more", "more_pages"),
    ("rules", "data.groupNextToken", 0, "more_pages"),
    ("rules", "data.groups", GONE, "unknown_shape"),
    ("alerts", "data.alerts", None, "unknown_shape"),
    ("targets", "data.droppedTargets", [], "targets_left_out"),
    ("targets", "data.droppedTargetCounts", {"a": 5}, "targets_left_out"),
    ("targets", "data.droppedTargetCounts", {"a": "1"}, "unknown_shape"),
    ("targets", "data.droppedTargets", GONE, "unknown_shape"),
    ("targets", "data.activeTargets", GONE, "unknown_shape"),
    ("query", "data.stats.samples.totalQueryableSamples", 0, "nothing_scanned"),
    ("range", "data.stats.samples.totalQueryableSamples", 0, "nothing_scanned"),
    ("victoria", "stats.seriesFetched", "0", "nothing_scanned"),
    ("victoria", "stats", GONE, "nothing_scanned"),
    ("victoria", "stats.seriesFetched", "many", "nothing_scanned"),
    ("zero", "data.stats", GONE, "not_counted"),
    ("query", "data", None, "unknown_shape"),
    ("query", "data", [], "unknown_shape"),
    ("query", "data.resultType", "streams", "unknown_shape"),
    ("query", "data.resultType", GONE, "unknown_shape"),
    ("query", "data.result", GONE, "unknown_shape"),
    ("query", "data.result", {}, "unknown_shape"),
    ("range", "data.resultType", "vector", "unknown_shape"),
    ("series", "data", {}, "unknown_shape"),
    ("labels", "data", None, "unknown_shape"),
)


@pytest.mark.parametrize("record", records("prometheus"), ids=lambda record: record["name"])
def test_recorded_answers_are_told_apart(record: dict[str, Any]) -> None:
    assert list(incomplete(record["request"], record["answer"])) == record["incomplete"]


@pytest.mark.parametrize("name", WHOLE)
def test_whole_answers_are_whole(name: str) -> None:
    assert incomplete(*WHOLE[name]) == ()


@pytest.mark.parametrize(("name", "path", "value", "code"), MARKS)
def test_each_mark_is_seen(name: str, path: str, value: Any, code: str) -> None:
    request, answer = WHOLE[name]
    assert code in incomplete(request, changed(answer, path, value))


def test_every_code_has_a_mark() -> None:
    assert {code for *_, code in MARKS} == set(CODES)


@pytest.mark.parametrize("name", WHOLE)
def test_an_unknown_key_counts_as_a_mark(name: str) -> None:
    request, answer = WHOLE[name]
    assert incomplete(request, {**answer, "newly_invented": False}) == ("unknown_mark",)


@pytest.mark.parametrize("limit", ["1", 1, "1.0", "none", "-1", "nan", "1e0"])
def test_a_list_at_its_limit_is_cut(limit: Any) -> None:
    request, answer = WHOLE["query"]
    assert incomplete({**request, "limit": limit}, answer) == ("limit_reached",)


UNCOUNTED = {"status": "success", "data": {"resultType": "vector", "result": VECTOR["result"]}}


@pytest.mark.parametrize(
    "query",
    [
        "up", '{job="a"}', 'sum by (job) (rate(x_total{job=~"a|b"}[5m]))', "sum(max_over_time(x[1h])) by (pod) > 0",
        "a / on (job) group_left (x) b * 100", 'histogram_quantile(0.9, sum(rate(x[5m])) by (le))',
        "a or b", 'a{b="or vector(0)"}', "a{b='absent(x)'}", "a # or vector(0)", "a{b=`default`}",
        "a offset 5m and on (job) b", "topk (5, a)", "x_default or time_left", 'a{b="\\"or vector(0)"}', "SUM(a)",
    ],
)  # fmt: skip
def test_a_server_that_does_not_count_is_believed_where_a_value_needs_a_sample(query: str) -> None:
    assert incomplete({"endpoint": "query", "query": query}, UNCOUNTED) == ()


@pytest.mark.parametrize(
    "query",
    [
        "sum(a) or vector(0)", "sum(a) or on () vector (0)", "(sum(a) or(vector(0)))", "absent(a)", "1 - absent(a)",
        "absent_over_time(a[5m])", "5", "(1 + 1)", "0x1f", "1e3", "Inf", "time()", "scalar(a)", "hour()", "sum(5)",
        "a or 0", "a or on(job) 0", "a or -1", "a or (0)", "a or NaN", "a DEFAULT 0", "union(a, 0)", "OR_ZERO(a)",
        'a{b="\\\\"} or vector(0) # "', "label_set(0, 'a', 'b')", "sum(a) or Vector(0)", '"text"', "", None, 5,
        "a # or\nor vector(0)",
    ],
)  # fmt: skip
def test_a_server_that_does_not_count_is_doubted_where_a_value_may_be_of_nothing(query: Any) -> None:
    assert incomplete({"endpoint": "query", "query": query}, UNCOUNTED) == ("not_counted",)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.sampled_from(sorted(API.endpoints)), JSON, JSON)
def test_any_json_is_judged(endpoint: str, answer: Any, data: Any) -> None:
    assert incomplete({"endpoint": endpoint}, answer)
    for asked in (answer, {"status": "success", "data": data}):
        assert set(incomplete({"endpoint": endpoint}, asked)) <= set(CODES)
