"""Nothing reaches Elasticsearch but a read of the indexes that the source exposes, made of listed parts."""

from __future__ import annotations

import copy
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds.elasticsearch import asking, clauses, esql, indexes

SOURCE = {"indexes": ["logs-app-*", "orders"], "query": True}
LIMITS = Limits(rows=100, seconds=5)
INDEX = {"argument": "index"}
OWN = {"endpoint": "_search", "index": INDEX, "body": {"argument": "body"}}
OWN_QUERY = {"endpoint": "_query", "query": {"argument": "query"}}
BODY = {
    "size": 5,
    "query": {
        "bool": {
            "filter": [
                {"term": {"service": "api"}},
                {"terms": {"level": ["ERROR", "FATAL"]}},
                {"match_phrase": {"message": {"query": "card declined", "slop": 0}}},
                {"range": {"@timestamp": {"gte": 1771408800000, "lt": "2026-02-18T11:05:00Z", "format": "x"}}},
                {"query_string": {"query": 'path:"/pay" AND ms:[1 TO 5}', "default_operator": "AND"}},
            ],
            "must_not": {"exists": {"field": "kubernetes.labels.app_kubernetes_io/name"}},
            "should": [{"match_all": {}}, {"prefix": {"host": {"value": "web-"}}}, {"wildcard": {"host": "w*"}}],
            "minimum_should_match": 1,
        }
    },
    "aggs": {
        "errors": {
            "filter": {"match": {"message": "ERROR"}},
            "aggs": {"hosts": {"terms": {"field": "host", "size": 10}, "aggs": {"slow": {"max": {"field": "ms"}}}}},
        },
        "hours": {"date_histogram": {"field": "@timestamp", "fixed_interval": "1h", "min_doc_count": 0}},
        "kinds": {"filters": {"filters": {"a": {"term": {"kind": "a"}}}}},
        "widths": {"range": {"field": "ms", "ranges": [{"to": 100}, {"from": Decimal("100.5"), "key": "slow"}]}},
    },
    "sort": [{"@timestamp": {"order": "desc", "unmapped_type": "date"}}, "_doc"],
    "_source": ["message", "@timestamp"],
    "track_total_hits": True,
}  # fmt: skip
SCRIPT = {"source": "ctx._source.x = 1", "lang": "painless"}
# What must never get through in a body: each a search of its own.
BODIES: tuple[Any, ...] = (
    {"query": {"script": {"script": SCRIPT}}},
    {"query": {"script_score": {"query": {"match_all": {}}, "script": SCRIPT}}},
    {"query": {"function_score": {"script_score": {"script": SCRIPT}}}},
    {"query": {"bool": {"filter": {"bool": {"must_not": {"script": {"script": {"id": "stored"}}}}}}}},
    {"query": {"terms": {"user": {"index": "secrets", "id": "2", "path": "followers"}}}},
    {"query": {"terms": {"user": ["a"], "boost": 1}}},
    {"query": {"terms_set": {"a": {"terms": ["x"], "minimum_should_match_script": SCRIPT}}}},
    {"query": {"more_like_this": {"like": [{"_index": "secrets", "_id": "1"}]}}},
    {"query": {"percolate": {"field": "q", "index": "secrets", "id": "1"}}},
    {"query": {"geo_shape": {"a": {"indexed_shape": {"index": "secrets", "id": "1"}}}}},
    {"query": {"regexp": {"a": ".*a.*a.*a.*"}}},
    {"query": {"fuzzy": {"a": "b"}}},
    {"query": {"query_string": {"query": "/.*a.*/"}}},
    {"query": {"query_string": {"query": r'\" /.*a.*/ "x"'}}},  # the first quote is a letter, and opens nothing
    {"query": {"query_string": {"query": 'ms:[1 TO b"c] /.*a.*/ "x"'}}},  # and so is this one, in a range
    {"query": {"query_string": {"query": "a", "analyze_wildcard": True}}},
    {"query": {"query_string": {}}},
    {"query": {"wrapper": {"query": "eyJtYXRjaF9hbGwiOnt9fQ=="}}},
    {"query": {"template": {"id": "stored"}}},
    {"query": {"pinned": {}}},
    {"query": {"knn": {}}},
    {"query": {"has_child": {}}},
    {"query": {"term": {"a": {"value": "x", "script": SCRIPT}}}},
    {"query": {"term": {"a": "x", "b": "y"}}},
    {"query": {"term": {"a": ["x"]}}},
    {"query": {"range": {"a": "x"}}},
    {"query": {"range": {"a": {"gte": {"now": 1}}}}},
    {"query": {"match": {"a": {"query": "x", "analyzer": "b"}}}},
    {"query": {"match_all": {}, "term": {"a": "b"}}},
    {"query": {"bool": {"filter": [{}]}}},
    {"query": {"bool": {"filter": ["x"]}}},
    {"query": {"bool": {"filter": [], "_name": "x"}}},
    {"query": []},
    {"query": None},
    {"script_fields": {"a": {"script": SCRIPT}}},
    {"runtime_mappings": {"a": {"type": "keyword", "script": SCRIPT}}},
    {"runtime_mappings": {"a": {"type": "keyword"}}},
    {"suggest": {}}, {"rescore": {}}, {"collapse": {"field": "a"}}, {"highlight": {}}, {"profile": True},
    {"pit": {"id": "x"}}, {"search_after": [1]}, {"slice": {}}, {"scroll": "1m"}, {"from": 10}, {"post_filter": {}},
    {"terminate_after": 1}, {"min_score": 1}, {"timeout": "1h"}, {"knn": {}}, {"retriever": {}}, {"ext": {}},
    {"indices_boost": [{"secrets": 2}]}, {"stored_fields": []}, {"docvalue_fields": ["a"]}, {"explain": True},
    {"track_total_hits": False}, {"track_total_hits": 100}, {"track_total_hits": 1},
    {"size": -1}, {"size": 1_000_000}, {"size": "5"}, {"size": True}, {"size": Decimal("5.0")}, {"size": 101},
    {"sort": "_script"},
    {"sort": [{"_geo_distance": "asc"}]},
    {"sort": [{"_script": {"type": "number", "script": SCRIPT, "order": "asc"}}]},
    {"sort": [{"a": {"order": "asc", "nested": {"filter": {"script": SCRIPT}}}}]},
    {"sort": [{"_geo_distance": {"a": [1, 2]}}]}, {"sort": {"a": "sideways"}}, {"sort": [7]},
    {"_source": {"includes": ["a"]}}, {"fields": [{"field": "a", "format": "x"}]}, {"fields": "a"}, {"fields": ["*"]},
    {"aggs": {"a": {"scripted_metric": {"init_script": "x"}}}},
    {"aggs": {"a": {"terms": {"field": "x", "script": SCRIPT}}}},
    {"aggs": {"a": {"terms": {"script": SCRIPT}}}},
    {"aggs": {"a": {"terms": {"field": "x", "include": ".*"}}}},
    {"aggs": {"a": {"terms": {"field": "x", "size": 1_000_000}}}},
    {"aggs": {"a": {"max": {"field": "x"}, "min": {"field": "x"}}}},
    {"aggs": {"a": {"bucket_script": {"buckets_path": {}, "script": "1"}}}},
    {"aggs": {"a": {"cardinality": {"field": "x"}}}},
    {"aggs": {"a": {"top_hits": {"script_fields": {}}}}},
    {"aggs": {"a": {"global": {}}}},
    {"aggs": {"a": {"filter": {"script": {"script": SCRIPT}}}}},
    {"aggs": {"a": {"filters": {"filters": {"b": {"script": {"script": SCRIPT}}}}}}},
    {"aggs": {"a": {"filters": {}}}},
    {"aggs": {"a": {"date_histogram": {"field": "x", "fixed_interval": "1ms", "script": SCRIPT}}}},
    {"aggs": {"a": {"date_histogram": {"field": "x", "fixed_interval": "now"}}}},
    {"aggs": {"a[b]": {"max": {"field": "x"}}}},
    {"aggs": {"a": {}}}, {"aggs": {"a": {"aggs": {"b": {"max": {"field": "x"}}}}}}, {"aggs": []},
    {"aggs": {}, "aggregations": {}},
    [], "x", None, 7,
)  # fmt: skip
INDEXES: tuple[Any, ...] = (
    "*", "-*", "_all", "logs-app-*,secrets", "logs-app-*,-logs-app-1", "<logs-app-{now/d}>", "other:logs-app-*",
    "*:logs-app-*", ".security", ".kibana", "logs-app-", "logs-app-1", "LOGS-APP-*", "logs-app-*/_doc", "../_cluster",
    "logs-app-*?q=x", "logs-app-*#", "logs-app-*%2f_bulk", "logs-app-*\n", "", " ", "orders ", "Orders", None, 7,
    ["orders"],    {"argument": "body"}, "logs-app-*::data", "lo*", "a*",
)  # fmt: skip
QUERIES: tuple[Any, ...] = (
    "FROM secrets | LIMIT 1", "FROM logs-app-*, secrets | LIMIT 1", "FROM other:logs-app-* | LIMIT 1",
    "FROM *:orders | LIMIT 1", "FROM * | LIMIT 1", "FROM -* | LIMIT 1", "FROM <orders-{now/d}> | LIMIT 1",
    'FROM "secrets" | LIMIT 1', "FROM `orders` | LIMIT 1", "FROM orders METADATA _id | LIMIT 1", "FROM .security",
    "FROM (FROM secrets) | LIMIT 1", "FROM orders, (FROM secrets) | LIMIT 1", "ROW a = 1", "SHOW INFO", "TS orders",
    "SET unmapped_fields = \"load\"; FROM orders", "EXPLAIN [FROM orders]", "FROM orders; FROM secrets",
    "FROM orders | ENRICH people", "FROM orders | LOOKUP JOIN secrets ON id", "FROM orders | lookup join secrets on id",
    "FROM orders | FORK (WHERE a == 1) (WHERE b == 2)", "FROM orders | COMPLETION a WITH b",
    "FROM orders | RERANK \"x\" ON a WITH b", "FROM orders | SAMPLE 0.1", "FROM orders | GROK a \"%{WORD:b}\"",
    "FROM orders | DISSECT a \"%{b}\"", "FROM orders | CHANGE_POINT a", "FROM orders | INLINESTATS COUNT(*)",
    "FROM orders | WHERE a RLIKE \".*\"", "FROM orders | WHERE QSTR(\"a:/.*/\")", "FROM orders | WHERE KQL(\"a\")",
    "FROM orders | STATS COUNT_DISTINCT(a)", "FROM orders | EVAL a = TEXT_EMBEDDING(\"x\", \"y\")",
    "FROM orders | EVAL `count`(a)", "FROM orders | WHERE ??name == 1", "FROM orders | WHERE a == ?1",
    "FROM orders | WHERE a == ?", "FROM orders | WHERE a == ?x", "FROM orders // | LIMIT 1\n| ENRICH people",
    "FROM orders /* x */ | LIMIT 1", "FROM orders | WHERE a == 1 // b\n| ENRICH c",
    "FROM orders | WHERE a == /* b */ 1",
    'FROM orders | WHERE a == """x""" | ENRICH b',
    'FROM orders | WHERE a == """\\""" | ENRICH b | WHERE c == """d"e"""',  # between the texts, not in one
    'FROM orders | WHERE a == "x\n" | LIMIT 1', "FROM orders | ",
    "FROM orders | LIMIT x", "FROM orders | LIMIT -1", "FROM orders | LIMIT 1, 2", "FROM orders LIMIT 1", "", "FROM",
    "FROM " + "a," * 2_000 + 'a "',  # at once: no two ways to read it
    7, None, ["FROM orders"], "FROM orders" + " " * 10_001,
)  # fmt: skip


def asked(request: dict[str, Any], **values: Any) -> asking.Asked:
    return asking.compose(request, SOURCE, values, LIMITS)


def tool(properties: dict[str, Any]) -> dict[str, Any]:
    return {"input_schema": {"type": "object", "properties": properties, "required": list(properties)}}


def test_a_search_of_listed_parts_is_sent_with_every_hit_counted_and_a_limit_of_time() -> None:
    found = asked(OWN, index="logs-app-*", body=BODY)
    assert found.target == "/logs-app-%2A/_search"
    assert found.body == {**BODY, "timeout": "4000ms"}
    assert found.about == {"endpoint": "_search", "size": 5}
    assert asked(OWN, index="orders", body={}).body == {"size": 10, "track_total_hits": True, "timeout": "4000ms"}


@pytest.mark.parametrize("body", BODIES, ids=lambda body: str(body)[:70])
def test_a_body_with_anything_else_is_refused(body: Any) -> None:
    with pytest.raises(Refused) as refused:
        asked(OWN, index="orders", body=body)
    assert refused.value.code == "parameters"


@pytest.mark.parametrize("index", INDEXES, ids=str)
@pytest.mark.parametrize("endpoint", ["_search", "_count"])
def test_an_index_is_one_of_the_sources_letter_for_letter(endpoint: str, index: Any) -> None:
    with pytest.raises(Refused) as refused:
        asked({**OWN, "endpoint": endpoint}, index=index, body={"query": {"match_all": {}}})
    assert refused.value.code == "parameters"


@pytest.mark.parametrize("index", [one for one in INDEXES if one not in ("logs-app-", "logs-app-1")], ids=str)
def test_a_source_exposes_no_index_that_reaches_further_than_its_name(index: Any) -> None:
    with pytest.raises(ValueError):
        indexes.check(["orders", index])


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: str(query)[:70])
def test_a_query_with_anything_else_is_refused(query: Any) -> None:
    with pytest.raises(Refused) as refused:
        asked(OWN_QUERY, query=query)
    assert refused.value.code == "parameters"


COUNTED = 'FROM logs-app-* | WHERE @timestamp >= "2026-09-14T01:12:05Z" AND kubernetes.namespace == "ledger" ' \
          '| STATS errors = COUNT(*) WHERE message LIKE "*ECONNRESET*", total = COUNT(*)'  # fmt: skip


@pytest.mark.parametrize(
    ("query", "limit", "one_row"),
    [
        (COUNTED, 1_000, True),
        (COUNTED + " | LIMIT 1", 1, True),
        (COUNTED + " | WHERE errors > 0", 1_000, False),
        (COUNTED + " BY host | SORT total DESC NULLS LAST | LIMIT 20", 20, False),
        ("from orders, logs-app-* | keep a, b* | where a in (1, 2) and not b is null | limit 3 | limit 5", 3, False),
        ('FROM orders\n| EVAL x = CASE(a > 1.5e3, "|", "ENRICH // x"), y = a::long % 2 | DROP x', 1_000, False),
        ("FROM orders | STATS a = SUM(b) BY c | STATS COUNT(*)", 1_000, True),
        ("FROM orders", 1_000, False),
    ],
)  # fmt: skip
def test_a_query_of_listed_parts_is_sent_as_it_stands(query: str, limit: int, one_row: bool) -> None:
    found = asked(OWN_QUERY, query=query)
    assert (found.target, found.body) == ("/_query", {"query": query})
    assert found.about == {"endpoint": "_query", "limit": limit, "one_row": one_row}


def test_agents_write_searches_only_where_the_source_says_so() -> None:
    for request in (OWN, OWN_QUERY):
        with pytest.raises(Refused, match="takes no searches that agents write"):
            asking.compose(request, {**SOURCE, "query": False}, {"index": "orders", "body": {}, "query": ""}, LIMITS)


TEMPLATE = {
    "endpoint": "_search", "index": "orders",
    "body": {"size": 0, "query": {"bool": {"filter": [{"term": {"job_id": {"argument": "job_id"}}},
                                                      {"terms": {"state": {"argument": "states"}}}]}}},
}  # fmt: skip
VALUES = {"job_id": {"type": "integer"}, "states": {"type": "array", "items": {"type": "string"}}}


def test_an_argument_takes_the_place_of_a_value() -> None:
    asking.check(TEMPLATE, tool(VALUES))
    found = asked(TEMPLATE, job_id=7, states=["a", '"}]}},"script":{'])
    filters = found.body["query"]["bool"]["filter"]
    assert filters == [{"term": {"job_id": 7}}, {"terms": {"state": ["a", '"}]}},"script":{']}}]


@pytest.mark.parametrize(
    "value",
    [{"script": SCRIPT}, {"index": "secrets", "id": "1", "path": "a"}, {"value": "x", "boost": 1}, [{}], [[1]], ["x"],
     "x" * 4_001, None],
    ids=str,
)  # fmt: skip
def test_an_argument_cannot_become_more_than_a_value(value: Any) -> None:
    request = {**TEMPLATE, "body": {"query": {"term": {"job_id": {"argument": "job_id"}}}}}
    with pytest.raises(Refused) as refused:
        asked(request, job_id=value)
    assert refused.value.code == "parameters"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"endpoint": "_bulk"}, "endpoint of a request is one of"),
        ({"endpoint": "_search/scroll"}, "endpoint"),
        ({"endpoint": "_query"}, "says exactly"),
        ({"method": "DELETE"}, "says exactly"),
        ({"index": "secrets,orders"}, "is no name of one"),
        ({"body": {"query": {"script": {"script": SCRIPT}}}}, "taken by nothing|none of the clauses"),
        ({"body": {"query": {"term": {"a": {"argument": "other"}}}}}, "no property of the input schema"),
        ({"body": {"query": {"term": {"a": {"argument": "job_id", "x": 1}}}}}, "place of an argument"),
        ({"body": {"size": 0}}, "taken by nothing"),
        ({"body": {"query": {"query_string": {"query": {"argument": "job_id"}}},
                   "aggs": {"a": {"filter": {"terms": {"s": {"argument": "states"}}}}}}}, "by the contract alone"),
    ],
)  # fmt: skip
def test_a_contract_that_could_do_more_is_not_taken(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        asking.check({**TEMPLATE, **change}, tool(VALUES))


@pytest.mark.parametrize(
    "request_",
    [
        {"endpoint": "_search", "index": "orders", "body": {"query": {"term": {"a": {"argument": "query"}}}}},
        {
            "endpoint": "_search",
            "index": "orders",
            "body": {"query": {"match": {"a": {"query": {"argument": "query"}}}}},
        },
        {"endpoint": "_count", "index": "orders", "body": {"query": {"term": {"index": {"argument": "index"}}}}},
        {"endpoint": "_search", "index": {"argument": "body"}, "body": {"argument": "index"}},
        {"endpoint": "_search", "index": "orders", "body": {"query": {"term": {"body": {"argument": "body"}}}}},
        {"endpoint": "_query", "query": "FROM orders | WHERE a == ?query", "params": {"query": {"argument": "query"}}},
        {"endpoint": "_query", "query": {"argument": "body"}},
        {"endpoint": "_search", "index": "orders", "body": {"size": {"argument": "q"}}},
    ],
    ids=str,
)
def test_an_argument_stands_where_rules_look_for_it_by_its_name(request_: dict[str, Any]) -> None:
    names = ["query", "index", "body", "q"]
    taken = [name for name in names if f"'argument': '{name}'" in str(request_)]
    with pytest.raises(ValueError, match="is called; rename it"):
        asking.check(request_, tool({name: {} for name in taken}))


def test_an_argument_that_could_be_left_out_would_widen_the_search() -> None:
    optional = tool(VALUES)
    optional["input_schema"]["required"] = ["job_id"]
    with pytest.raises(ValueError, match="Without states the question would be a wider one"):
        asking.check(TEMPLATE, optional)


def test_a_fixed_query_takes_its_arguments_as_parameters() -> None:
    request = {"endpoint": "_query", "query": "FROM orders | WHERE id == ?id | STATS n = COUNT(*)",
               "params": {"id": {"argument": "job_id"}}}  # fmt: skip
    asking.check(request, tool({"job_id": {"type": "integer"}}))
    assert asked(request, job_id=7).body == {"query": request["query"], "params": [{"id": 7}]}
    with pytest.raises(Refused):
        asked(request, job_id=[{"a": 1}])
    with pytest.raises(ValueError, match="behind a question mark"):
        asking.check({**request, "query": "FROM orders"}, tool({"job_id": {"type": "integer"}}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 20) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["query", "bool", "filter", "script", "term", "aggs"]), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@settings(deadline=None)
@given(JSON)
def test_whatever_comes_is_taken_or_refused_and_holds_no_script(body: Any) -> None:
    before = copy.deepcopy(body)
    try:
        clauses.check_search(body)
    except ValueError:
        return
    assert body == before
    assert not any(key == "script" and isinstance(value, dict) for key, value in asking._pairs(body))


@settings(deadline=None)
@given(st.text(alphabet='FROMfrom orders|,"`()/*?:.<>=LIMIT 1ENRICHx\n', max_size=40))
def test_whatever_is_written_reads_allowed_indexes_or_nothing(text: str) -> None:
    try:
        found = esql.parse(f"FROM {text}", ["orders"])
    except ValueError:
        return
    assert set(found.indexes) == {"orders"}
