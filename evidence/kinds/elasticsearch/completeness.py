"""Whether an answer of Elasticsearch or OpenSearch is the whole answer, by every mark that they put on one.

Sources: the response schemas of the search, count and ES|QL query APIs (elastic/elasticsearch-specification,
opensearch-project/opensearch-api-specification). Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

SEARCH, COUNT, ESQL = "_search", "_count", "_query"
DEFAULT_SIZE = 10  # hits of a search that says no size
DEFAULT_ROWS = 1000  # rows of an ES|QL query that says no LIMIT
CODES: Mapping[str, str] = {
    "error": "The answer is an error.",
    "timed_out": "The search does not say that it ran to its end in time.",
    "terminated_early": "A shard stopped before it had looked at every document.",
    "shards_failed": "Not every shard was searched.",
    "no_index": "The index pattern matched no index, so nothing was searched.",
    "total_is_a_floor": "The count of hits stopped; there are at least so many.",
    "total_unknown": "The answer does not say how many documents match.",
    "hits_cut": "There are more hits than the list holds, or the list is as long as it may be.",
    "buckets_cut": "An aggregation left buckets out.",
    "counts_approximate": "The counts of an aggregation are not exact.",
    "clusters_missing": "Not every cluster answered.",
    "partial": "The answer does not say that all of the data was read.",
    "running": "The query is still running.",
    "rows_cut": "The list of rows is as long as it may be.",
}
# Shards that were looked at and hold nothing for the query count as skipped, and as successful.
_CLUSTER_FAULTS = ("skipped", "partial", "failed", "running")


def incomplete(request: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Why the answer is not the whole one: codes of CODES; none when it proves to be whole.

    `request` is what was sent: `endpoint`, for a search `size`, and for ES|QL `limit`, and `one_row` where the query
    can give no second row. What a mark should say and does not say counts against the answer.
    """
    checks = {SEARCH: _of_search, COUNT: _of_count, ESQL: _of_esql}
    if "error" in answer:
        return ("error",)
    return tuple(dict.fromkeys(checks[request["endpoint"]](request, answer)))


def _of_search(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    if answer.get("timed_out") is not False:
        yield "timed_out"
    yield from _early(answer)
    yield from _shards(answer)
    yield from _clusters(answer)
    yield from _hits(request["size"], answer.get("hits"))
    yield from _aggregations(answer.get("aggregations"))


def _of_count(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    yield from _early(answer)
    yield from _shards(answer)
    yield from _clusters(answer)
    if type(answer.get("count")) is not int:
        yield "total_unknown"


def _early(answer: Mapping[str, Any]) -> Iterator[str]:
    if answer.get("terminated_early", False) is not False:
        yield "terminated_early"


def _shards(answer: Mapping[str, Any]) -> Iterator[str]:
    shards = answer.get("_shards")
    told = [shards.get(key) for key in ("total", "successful", "failed")] if isinstance(shards, dict) else [None]
    if any(type(number) is not int for number in told) or told[0] != told[1] or told[2] != 0:
        yield "shards_failed"
    elif told[0] == 0:
        yield "no_index"


def _clusters(answer: Mapping[str, Any]) -> Iterator[str]:
    """Clusters that were left out are missing, also where that was allowed (`skip_unavailable`)."""
    if "_clusters" not in answer:
        return
    clusters = answer["_clusters"]
    told = [clusters.get(key) for key in ("total", "successful")] if isinstance(clusters, dict) else [None]
    is_told = all(type(number) is int for number in told) and told[0] == told[-1]
    if not is_told or any(clusters.get(fault, 0) != 0 for fault in _CLUSTER_FAULTS):
        yield "clusters_missing"


def _hits(size: int, hits: Any) -> Iterator[str]:
    total = hits.get("total") if isinstance(hits, dict) else None
    if not isinstance(total, dict) or type(total.get("value")) is not int:
        yield "total_unknown"
        return
    if total.get("relation") != "eq":
        yield "total_is_a_floor"
    # Of a size of 0 no hits were wanted: such a search counts.
    listed = hits.get("hits")
    if size > 0 and (not isinstance(listed, list) or len(listed) < total["value"] or len(listed) >= size):
        yield "hits_cut"


def _aggregations(found: Any) -> Iterator[str]:
    """Each aggregation says for itself whether it is whole, at any depth: it is not for the server to say how deep."""
    waiting = [found]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from _aggregation(value)
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _aggregation(value: Mapping[str, Any]) -> Iterator[str]:
    if value.get("sum_other_doc_count", 0) != 0:
        yield "buckets_cut"
    if value.get("doc_count_error_upper_bound", 0) != 0:  # -1 where it cannot be told
        yield "counts_approximate"


def _of_esql(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    if answer.get("is_partial") is not False:
        yield "partial"
    if answer.get("is_running", False) is not False:
        yield "running"
    yield from _clusters(answer)
    rows = answer.get("values")
    if not isinstance(rows, list) or not isinstance(answer.get("columns"), list):
        yield "total_unknown"
    elif request["one_row"]:
        if len(rows) != 1:
            yield "rows_cut"
    elif len(rows) >= request["limit"]:
        yield "rows_cut"
