"""An answer of Elasticsearch or OpenSearch is whole only when every mark on it says so."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.kinds.elasticsearch.completeness import CODES, COUNT, ESQL, SEARCH, incomplete
from tests.evidence.kinds.recorded import GONE, changed, records

SHARDS = {"total": 3, "successful": 3, "skipped": 2, "failed": 0}
WHOLE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "search": (
        {"endpoint": SEARCH, "size": 10},
        {
            "took": 3, "timed_out": False, "phase_took": {"query": 2}, "_shards": SHARDS,
            "hits": {"total": {"value": 1, "relation": "eq"}, "max_score": None, "hits": [{"_id": "1"}]},
            "_clusters": {"total": 2, "successful": 2, "skipped": 0, "partial": 0},
            "aggregations": {
                "codes": {
                    "doc_count_error_upper_bound": 0, "sum_other_doc_count": 0,
                    "buckets": [{"key": "a", "doc_count": 1, "inner": {"sum_other_doc_count": 0, "buckets": []}}],
                }
            },
        },
    ),
    "count": ({"endpoint": COUNT}, {"count": 0, "_shards": SHARDS}),
    "esql": (
        {"endpoint": ESQL, "limit": 3, "one_row": False},
        {
            "took": 1, "is_partial": False, "is_running": False, "documents_found": 4,
            "columns": [{"name": "n", "type": "long"}], "values": [[1], [2]],
        },
    ),
    "esql_count": (
        {"endpoint": ESQL, "limit": 1, "one_row": True},
        {"is_partial": False, "columns": [{"name": "n", "type": "long"}], "values": [[0]]},
    ),
}  # fmt: skip
MARKS: tuple[tuple[str, str, Any, str], ...] = (
    ("search", "timed_out", True, "timed_out"),
    ("search", "timed_out", None, "timed_out"),
    ("search", "timed_out", 0, "timed_out"),
    ("search", "timed_out", "false", "timed_out"),
    ("search", "timed_out", GONE, "timed_out"),
    ("search", "terminated_early", True, "terminated_early"),
    ("search", "terminated_early", None, "terminated_early"),
    ("search", "_shards.failed", 1, "shards_failed"),
    ("search", "_shards.failed", GONE, "shards_failed"),
    ("search", "_shards.successful", 2, "shards_failed"),
    ("search", "_shards.successful", 3.0, "shards_failed"),
    ("search", "_shards.total", True, "shards_failed"),
    ("search", "_shards", GONE, "shards_failed"),
    ("search", "_shards", [], "shards_failed"),
    ("search", "_shards", {"total": 0, "successful": 0, "skipped": 0, "failed": 0}, "no_index"),
    ("search", "hits.total.relation", "gte", "total_is_a_floor"),
    ("search", "hits.total.relation", GONE, "total_is_a_floor"),
    ("search", "hits.total", GONE, "total_unknown"),
    ("search", "hits.total", 1, "total_unknown"),
    ("search", "hits.total.value", "1", "total_unknown"),
    ("search", "hits", GONE, "total_unknown"),
    ("search", "hits.total.value", 2, "hits_cut"),
    ("search", "hits.hits", [{}] * 10, "hits_cut"),
    ("search", "hits.hits", GONE, "hits_cut"),
    ("search", "aggregations.codes.sum_other_doc_count", 1, "buckets_cut"),
    ("search", "aggregations.codes.buckets.0.inner.sum_other_doc_count", 7, "buckets_cut"),
    ("search", "aggregations.codes.doc_count_error_upper_bound", 5, "counts_approximate"),
    ("search", "aggregations.codes.doc_count_error_upper_bound", -1, "counts_approximate"),
    ("search", "_clusters.successful", 1, "clusters_missing"),
    ("search", "_clusters.skipped", 1, "clusters_missing"),
    ("search", "_clusters.partial", 1, "clusters_missing"),
    ("search", "_clusters.running", 1, "clusters_missing"),
    ("search", "_clusters", None, "clusters_missing"),
    ("search", "error", {"type": "search_phase_execution_exception"}, "error"),
    ("count", "_shards.failed", 1, "shards_failed"),
    ("count", "_shards", {"total": 0, "successful": 0, "failed": 0}, "no_index"),
    ("count", "count", GONE, "total_unknown"),
    ("count", "count", "0", "total_unknown"),
    ("count", "terminated_early", True, "terminated_early"),
    ("count", "error", "x", "error"),
    ("esql", "is_partial", True, "partial"),
    ("esql", "is_partial", GONE, "partial"),
    ("esql", "is_running", True, "running"),
    ("esql", "values", [[1], [2], [3]], "rows_cut"),
    ("esql", "values", GONE, "total_unknown"),
    ("esql", "columns", None, "total_unknown"),
    ("esql", "_clusters", {"total": 2, "successful": 1, "skipped": 1}, "clusters_missing"),
    ("esql", "error", {"type": "x"}, "error"),
    ("esql_count", "values", [], "rows_cut"),
    ("esql_count", "values", [[1], [2]], "rows_cut"),
)


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_whole_answer_is_whole(name: str) -> None:
    assert incomplete(*WHOLE[name]) == ()


@pytest.mark.parametrize(("name", "path", "value", "code"), MARKS)
def test_each_mark_alone_takes_it_away(name: str, path: str, value: Any, code: str) -> None:
    request, answer = WHOLE[name]
    assert incomplete(request, changed(answer, path, value)) == (code,)


def test_every_code_is_tried() -> None:
    assert {code for *_, code in MARKS} == set(CODES)


@pytest.mark.parametrize("record", records("elasticsearch"), ids=lambda record: record["name"])
def test_recorded_answers(record: dict[str, Any]) -> None:
    assert incomplete(record["request"], record["answer"]) == tuple(record["incomplete"])


def test_a_search_that_wants_no_hits_counts_them_all() -> None:
    _, answer = WHOLE["search"]
    counted = changed(changed(answer, "hits.total.value", 41_822), "hits.hits", [])
    assert incomplete({"endpoint": SEARCH, "size": 0}, counted) == ()


def test_buckets_are_looked_at_however_deep_they_lie() -> None:
    request, answer = WHOLE["search"]
    deep: dict[str, Any] = {"sum_other_doc_count": 1}
    for _ in range(5_000):
        deep = {"inner": [deep]}
    assert incomplete(request, changed({**answer, "aggregations": {}}, "aggregations", deep)) == ("buckets_cut",)
