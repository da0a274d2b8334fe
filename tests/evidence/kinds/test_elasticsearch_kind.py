"""Elasticsearch and OpenSearch as a kind: what is sent, what a rule's readers read of it, and what the proof sees."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds.elasticsearch import privileges
from evidence.kinds.elasticsearch.kind import Elasticsearch
from evidence.kinds.http import client
from gate.triage.readers.elastic import ElasticSearch
from gate.triage.readers.esql import EsqlCount
from tests.evidence.kinds import native
from tests.evidence.kinds.http_server import Server, running

KIND = Elasticsearch()
LIMITS = Limits(seconds=5)
SHARDS = {"total": 3, "successful": 3, "skipped": 0, "failed": 0}


@pytest.fixture(scope="module")
def one_server() -> Iterator[Server]:
    with running() as server:
        yield server
    client.close()


@pytest.fixture
def server(one_server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    one_server.scripts.clear()
    one_server.asked.clear()
    monkeypatch.setenv("LOGS_READER_TOKEN", "ApiKey cmVhZGVy")
    monkeypatch.setenv("LOGS_DOCTOR_TOKEN", "ApiKey ZG9jdG9y")
    return one_server


def body(server: Server, **changes: Any) -> dict[str, Any]:
    said = {
        "kind": "elasticsearch", "flavor": "elasticsearch", "url": server.url, "addresses": ["127.0.0.1"],
        "reader_env": "LOGS_READER_TOKEN", "doctor_env": "LOGS_DOCTOR_TOKEN", "credential": "header Authorization",
        "environment": "production", "indexes": ["app-logs", "k8s-logs-*"], "query": True,
    }  # fmt: skip
    return {**said, **changes}


OWN = {"endpoint": "_search", "index": {"argument": "index"}, "body": {"argument": "body"}}
OWN_QUERY = {"endpoint": "_query", "query": {"argument": "query"}}
SEARCHED = {
    "index": "app-logs",
    "body": {
        "size": 0,
        "query": {"bool": {"filter": [
            {"term": {"service": "api"}}, {"match_phrase": {"message": "ERROR"}},
            {"range": {"@timestamp": {"gte": 1771408800000, "lte": 1771412700000, "format": "epoch_millis"}}},
        ]}},
    },
}  # fmt: skip
NONE_FOUND = {
    "took": 12, "timed_out": False, "_shards": SHARDS,
    "hits": {"total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": []},
}  # fmt: skip
COUNTED = {
    "query": 'FROM k8s-logs-* | WHERE @timestamp >= "2026-09-14T01:12:05Z" AND @timestamp < "2026-09-14T08:10:00Z"'
    ' AND kubernetes.namespace == "ledger" '
    '| STATS errors = COUNT(*) WHERE message LIKE "*ECONNRESET*", total = COUNT(*)'
}
TWO_COUNTS = {
    "took": 31, "is_partial": False, "documents_found": 41822, "values_loaded": 41822,
    "columns": [{"name": "errors", "type": "long"}, {"name": "total", "type": "long"}], "values": [[0, 41822]],
}  # fmt: skip


def read(server: Server, request: dict[str, Any], given: dict[str, Any], **changes: Any) -> Any:
    return KIND.read(native.source(body(server, **changes)), native.contract(request), given, LIMITS)


def test_its_own_examples_are_taken() -> None:
    KIND.check_source("mylogs", KIND.source_example)
    KIND.check_tool("find_lines", {"input_schema": native.schema("job_id"), **KIND.tool_example})


def test_a_search_is_one_post_to_the_fixed_endpoint_and_its_reader_reads_it(server: Server) -> None:
    server.answer("/app-logs/_search", NONE_FOUND)
    found = read(server, OWN, SEARCHED)
    (asked,) = server.asked
    assert (asked.method, asked.target, asked.headers["authorization"]) == (
        "POST", "/app-logs/_search", "ApiKey cmVhZGVy",
    )  # fmt: skip
    assert json.loads(asked.body) == {**SEARCHED["body"], "track_total_hits": True, "timeout": "4000ms"}
    assert (found.result, found.incomplete) == (NONE_FOUND, ())
    reader = ElasticSearch(native.recorded("es_search", SEARCHED, found.result))
    assert reader.complete() is True
    assert (reader.found(), reader.asked().patterns) == (0, ("ERROR",))


def test_a_query_is_one_post_and_its_reader_reads_it(server: Server) -> None:
    server.answer("/_query", TWO_COUNTS)
    found = read(server, OWN_QUERY, COUNTED)
    assert [(asked.method, asked.target, json.loads(asked.body)) for asked in server.asked] == [
        ("POST", "/_query", COUNTED)
    ]
    assert (found.result, found.incomplete) == (TWO_COUNTS, ())
    reader = EsqlCount(native.recorded("es_esql", COUNTED, found.result))
    assert (reader.complete(), reader.found(), reader.scanned()) == (True, 0, 41822)


def test_a_count_is_one_post_to_its_own_endpoint(server: Server) -> None:
    server.answer("/k8s-logs-%2A/_count", {"count": 3, "_shards": {**SHARDS, "total": 0, "successful": 0}})
    counting = {"endpoint": "_count", "index": "k8s-logs-*", "body": {"query": {"term": {"a": {"argument": "a"}}}}}
    found = read(server, counting, {"a": "b"})
    assert [json.loads(asked.body) for asked in server.asked] == [{"query": {"term": {"a": "b"}}}]
    assert (found.result["count"], found.incomplete) == (3, ("no_index",))


def test_an_answer_that_is_not_whole_comes_with_its_codes(server: Server) -> None:
    server.answer("/app-logs/_search", {**NONE_FOUND, "timed_out": True, "_shards": {**SHARDS, "failed": 1}})
    assert read(server, OWN, SEARCHED).incomplete == ("timed_out", "shards_failed")


def test_a_mistake_in_a_query_is_told_in_the_servers_words_without_the_credential(server: Server) -> None:
    reason = "[1:9] no such field, and your ApiKey cmVhZGVy"
    server.answer("/app-logs/_search", {"error": {"root_cause": [{"reason": reason}]}, "status": 400}, 400)
    with pytest.raises(Refused, match=r"no such field, and your \[masked\]") as refused:
        read(server, OWN, SEARCHED)
    assert refused.value.code == "parameters"
    server.answer("/app-logs/_search", {"error": {"reason": "no such index"}, "status": 404}, 404)
    with pytest.raises(Refused, match="answered with 404: no such index") as refused:
        read(server, OWN, SEARCHED)
    assert refused.value.code == "http_404"


def test_an_answer_that_is_no_object_is_none(server: Server) -> None:
    server.answer("/app-logs/_search", [NONE_FOUND])
    with pytest.raises(Refused, match="no object"):
        read(server, OWN, SEARCHED)


def test_opensearch_has_no_esql(server: Server) -> None:
    with pytest.raises(Refused, match="no ES\\|QL"):
        read(server, OWN_QUERY, COUNTED, flavor="opensearch")
    assert server.asked == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"flavor": "solr"}, "flavor is"),
        ({"flavor": None}, "flavor is"),
        ({"indexes": ["*"]}, "reaches further"),
        ({"indexes": []}, "lists the indexes"),
        ({"doctor_env": "LOGS_READER_TOKEN"}, "doctor_env"),
        ({"query": "yes"}, "query is true"),
        ({"accepts": ["index_writes"]}, "cannot be left to later lines"),
        ({"pipeline": "x"}, "says exactly"),
    ],
)
def test_a_source_that_says_something_else_is_not_taken(server: Server, change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        KIND.check_source("mine", body(server, **change))


def test_a_source_without_a_credential_is_not_taken(server: Server) -> None:
    keys = ("reader_env", "doctor_env", "credential")
    open_to_all = {key: value for key, value in body(server).items() if key not in keys}
    with pytest.raises(ValueError, match="open to all"):
        KIND.check_source("mine", open_to_all)


# The proof.

WHO = {"username": "svc", "roles": [], "authentication_type": "api_key", "api_key": {"id": "k1", "name": "reader"}}
DOCTOR = {"username": "svc", "authentication_type": "api_key", "api_key": {"id": "k2", "name": "doctor"}}
GRANT = {
    "cluster": [], "applications": [], "run_as": [], "metadata": {}, "transient_metadata": {"enabled": True},
    "indices": [{"names": ["app-logs", "k8s-logs-*"], "privileges": ["read"], "allow_restricted_indices": False}],
}  # fmt: skip
NO = {
    "username": "svc", "has_all_requested": False, "application": {},
    "cluster": dict.fromkeys(privileges.CLUSTER_WRITES, False),
    "index": {name: dict.fromkeys(privileges.INDEX_WRITES, False) for name in ("app-logs", "k8s-logs-*", "*")},
}  # fmt: skip


def by_credential(**answers: Any) -> Any:
    """A script that answers the reader and the doctor each in their own way."""
    from tests.evidence.kinds.http_server import whole

    def script(asked: Any) -> list[bytes]:
        who = "reader" if asked.headers["authorization"].endswith("cmVhZGVy") else "doctor"
        return [whole(json.dumps(answers[who]).encode())]

    return script


def prove(server: Server, grant: Any = GRANT, no: Any = NO, **changes: Any) -> Any:
    server.scripts["/_security/_authenticate"] = by_credential(reader=WHO, doctor=DOCTOR)
    server.answer("/_security/api_key", {"api_keys": [{"id": "k1", "role_descriptors": {"r": grant}}]})
    server.answer("/_security/user/_has_privileges", no)
    return KIND.prove(native.source(body(server, **changes)))


def failing(proven: Any) -> set[str]:
    return {fact.fact for fact in proven.facts if not fact.holds}


def test_a_key_that_reads_the_exposed_indexes_alone_is_proven(server: Server) -> None:
    proven = prove(server)
    assert (proven.holds, failing(proven)) == (True, set())
    assert "API key reader" in {fact.seen for fact in proven.facts}
    assert {fact for attack in KIND.attacks for fact in attack.facts} <= {fact.fact for fact in proven.facts}
    asked = {(one.method, one.target) for one in server.asked}
    assert asked == {
        ("GET", "/_security/_authenticate"), ("GET", "/_security/api_key?id=k1&with_limited_by=true"),
        ("POST", "/_security/user/_has_privileges"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"cluster": ["manage"]}, "cluster_writes"),
        ({"cluster": ["cluster:admin/xpack/watcher/*"]}, "cluster_writes"),
        ({"cluster": ["monitor"]}, "cluster_reads"),
        ({"run_as": ["*"]}, "run_as"),
        ({"applications": [{"application": "kibana-.kibana", "privileges": ["all"]}]}, "applications"),
        ({"global": {"application": {"manage": {}}}}, "global"),
        ({"global": [{"application": {}}]}, "global"),
        ({"remote_indices": [{"names": ["a"], "privileges": ["read"], "clusters": ["b"]}]}, "remote"),
        ({"indices": [{"names": ["app-logs"], "privileges": ["read", "write"]}]}, "index_writes"),
        ({"indices": [{"names": ["app-logs"], "privileges": ["indices:data/write/bulk"]}]}, "index_writes"),
        ({"indices": [{"names": ["app-logs"], "privileges": ["ALL"]}]}, "index_writes"),
        ({"indices": [], "index": [{"names": "app-logs", "privileges": "all"}]}, "index_writes"),
        ({"indices": [{"names": ["*"], "privileges": ["read"]}]}, "indexes"),
        ({"indices": [{"names": ["app-logs"], "privileges": ["read"], "allow_restricted_indices": True}]},
         "system_indexes"),
    ],
)  # fmt: skip
def test_each_planted_right_is_found(server: Server, change: dict[str, Any], fact: str) -> None:
    proven = prove(server, {**GRANT, **change})
    assert fact in failing(proven)
    assert not proven.holds
    assert all(one.mend for one in proven.facts if not one.holds)


def test_what_reads_too_much_may_be_left_to_the_list_of_indexes(server: Server) -> None:
    wide = {**GRANT, "indices": [{"names": ["*"], "privileges": ["read"], "allow_restricted_indices": False}]}
    proven = prove(server, wide, accepts=["indexes"])
    assert (failing(proven), proven.holds) == ({"indexes"}, True)


@pytest.mark.parametrize(
    ("path", "value"),
    [(("cluster", "manage_own_api_key"), True), (("index", "app-logs", "create_doc"), True), (("cluster",), None),
     (("index",), {}), (("index", "*", "delete"), None), (("index", "*", "delete"), "false")],
)  # fmt: skip
def test_what_the_server_does_not_deny_counts_as_granted(server: Server, path: tuple[str, ...], value: Any) -> None:
    answer = copy.deepcopy(NO)
    here: Any = answer
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    proven = prove(server, no=answer)
    assert (failing(proven), proven.holds) == ({"tries"}, False)


def test_a_key_without_rights_of_its_own_has_its_makers(server: Server) -> None:
    assert [*privileges.narrowed({"role_descriptors": {}, "limited_by": [{"admin": {"cluster": ["all"]}}]})] == [
        {"cluster": ["all"]}
    ]
    (unknown,) = privileges.narrowed({"role_descriptors": {}})
    assert "cluster_writes" in {one.fact for one in privileges.of_elasticsearch([unknown], []) if not one.holds}


def test_a_user_is_asked_for_its_own_rights(server: Server) -> None:
    user = {"username": "reader", "authentication_type": "realm"}
    server.scripts["/_security/_authenticate"] = by_credential(reader=user, doctor=DOCTOR)
    server.answer("/_security/user/_privileges", {**GRANT, "cluster": ["manage_security"]})
    server.answer("/_security/user/_has_privileges", NO)
    assert failing(KIND.prove(native.source(body(server)))) == {"cluster_writes", "cluster_reads"}


def test_an_answer_that_leaves_rights_out_proves_nothing(server: Server) -> None:
    user = {"username": "reader", "authentication_type": "realm"}
    server.scripts["/_security/_authenticate"] = by_credential(reader=user, doctor=DOCTOR)
    server.answer("/_security/user/_has_privileges", NO)
    for left_out in ("cluster", "indices", "applications", "run_as"):
        server.answer("/_security/user/_privileges", {key: GRANT[key] for key in GRANT if key != left_out})
        assert failing(KIND.prove(native.source(body(server)))) == {"reached"}


@pytest.mark.parametrize("who", [{"username": "x", "authentication_type": "anonymous"}, {"username": "x"}])
def test_anonymous_access_is_no_credential(server: Server, who: dict[str, Any]) -> None:
    server.scripts["/_security/_authenticate"] = by_credential(reader=who, doctor=DOCTOR)
    server.answer("/_security/user/_privileges", GRANT)
    server.answer("/_security/user/_has_privileges", NO)
    assert "signed_in" in failing(KIND.prove(native.source(body(server))))


def test_a_server_without_security_is_never_proven(server: Server) -> None:
    server.answer("/_security/_authenticate", {"error": "no handler found"}, 400)
    proven = KIND.prove(native.source(body(server)))
    assert not proven.holds
    assert "switch them on" in proven.facts[0].seen


def test_a_key_that_the_doctor_does_not_see_is_not_proven(server: Server) -> None:
    server.scripts["/_security/_authenticate"] = by_credential(reader=WHO, doctor=DOCTOR)
    server.answer("/_security/api_key", {"api_keys": []})
    assert not KIND.prove(native.source(body(server))).holds


OPENSEARCH_ROLE = {
    "reserved": False, "hidden": False, "cluster_permissions": [], "tenant_permissions": [],
    "index_permissions": [{"index_patterns": ["app-logs"], "dls": "", "fls": [], "allowed_actions": ["read"]}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, set()),
        ({"cluster_permissions": ["cluster_composite_ops_ro"]}, set()),
        ({"cluster_permissions": ["cluster_composite_ops"]}, {"cluster_writes"}),
        ({"cluster_permissions": ["*"]}, {"cluster_writes"}),
        ({"index_permissions": [{"index_patterns": ["app-logs"], "allowed_actions": ["indices:data/write/index"]}]},
         {"index_writes"}),
        ({"index_permissions": [{"index_patterns": ["app-logs"], "allowed_actions": ["indices:*"]}]}, {"index_writes"}),
        ({"index_permissions": [{"index_patterns": ["${user_name}"], "allowed_actions": ["indices_all"]}]},
         {"index_writes", "indexes"}),
        ({"index_permissions": [{"index_patterns": [".opendistro_security"], "allowed_actions": ["read"]}]},
         {"indexes", "system_indexes"}),
        ({"tenant_permissions": [{"tenant_patterns": ["global_tenant"], "allowed_actions": ["kibana_all_write"]}]},
         {"applications"}),
    ],
)  # fmt: skip
def test_opensearch_roles_are_read_the_same_way(server: Server, change: dict[str, Any], expected: set[str]) -> None:
    reader, doctor = {"user_name": "reader", "roles": ["logs"]}, {"user_name": "doctor", "roles": []}
    server.scripts["/_plugins/_security/authinfo"] = by_credential(reader=reader, doctor=doctor)
    server.answer("/_plugins/_security/api/roles/logs", {"logs": {**OPENSEARCH_ROLE, **change}})
    proven = KIND.prove(native.source(body(server, flavor="opensearch")))
    assert (failing(proven), proven.holds) == (expected, not expected)


@pytest.mark.parametrize("roles", [[], ["hidden"], ["logs", "hidden"], None])
def test_a_reader_of_opensearch_without_a_visible_role_is_not_proven(server: Server, roles: Any) -> None:
    reader, doctor = {"user_name": "reader", "roles": roles}, {"user_name": "doctor", "roles": []}
    server.scripts["/_plugins/_security/authinfo"] = by_credential(reader=reader, doctor=doctor)
    server.answer("/_plugins/_security/api/roles/logs", {"logs": OPENSEARCH_ROLE})
    server.answer("/_plugins/_security/api/roles/hidden", {})
    assert failing(KIND.prove(native.source(body(server, flavor="opensearch")))) == {"roles"}


@pytest.mark.parametrize("flavor", ["elasticsearch", "opensearch"])
def test_the_strongest_reader_is_one_that_the_proof_takes(server: Server, flavor: str) -> None:
    lines = KIND.strongest_reader(native.source(body(server, flavor=flavor)))
    printed = [json.loads(line) for line in lines if line.startswith("{")]
    if flavor == "opensearch":
        facts = privileges.of_opensearch({"counterseal_reader": printed[0]}, body(server)["indexes"])
    else:
        facts = privileges.of_elasticsearch([*printed[0]["role_descriptors"].values()], body(server)["indexes"])
    assert all(fact.holds for fact in facts)
