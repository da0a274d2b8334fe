"""Whatever a server answers, it is judged: nothing crashes, and nothing that is not understood holds or is whole."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.kinds.cloudwatch import completeness as cloudwatch
from evidence.kinds.cloudwatch import policies
from evidence.kinds.elasticsearch import completeness as elasticsearch
from evidence.kinds.elasticsearch import privileges
from evidence.kinds.elasticsearch.kind import Elasticsearch
from evidence.kinds.http import client
from evidence.kinds.kubernetes import completeness as kubernetes
from evidence.kinds.kubernetes import rights
from evidence.kinds.kubernetes.kind import Kubernetes
from tests.evidence.kinds import native

AT = datetime(2026, 9, 14, 9, 0, tzinfo=UTC)
KEYS = (
    "timed_out", "_shards", "total", "successful", "failed", "hits", "value", "relation", "aggregations", "_clusters",
    "count", "columns", "values", "is_partial", "sum_other_doc_count", "kind", "metadata", "resourceVersion", "items",
    "continue", "data", "MetricAlarms", "MetricDataResults", "Messages", "StatusCode", "Timestamps", "status",
    "results", "statistics", "recordsScanned", "recordsMatched", "events", "searchedLogStreams", "Events", "cluster",
    "indices", "index", "names", "privileges", "run_as", "applications", "global", "role_descriptors", "limited_by",
    "verbs", "resources", "apiGroups", "resourceRules", "nonResourceRules", "nonResourceURLs", "incomplete", "allowed",
    "subjects", "name", "namespace", "groups", "username", "Statement", "Effect", "Action", "Resource",
    "EvalActionName", "EvalDecision", "index_permissions", "index_patterns",
    "allowed_actions", "cluster_permissions", "userInfo", "roles", "user_name", "authentication_type", "api_key",
    "api_keys", "id",
)  # fmt: skip
VALUES = st.sampled_from(["", "*", "eq", "Complete", "Allow", "Deny", "get", "Pod", "PodList", "0", "a/b", "secrets"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip
OBJECT = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=8)
SEARCHES = (
    {"endpoint": elasticsearch.SEARCH, "size": 10}, {"endpoint": elasticsearch.COUNT},
    {"endpoint": elasticsearch.ESQL, "limit": 10, "one_row": False},
)  # fmt: skip
ASKED = (
    {"act": kubernetes.GET, "kind": "Pod"}, {"act": kubernetes.LOGS, "tail_lines": 5, "limit_bytes": 100},
    {"act": kubernetes.LIST, "kind": "Pod", "limit": 5, "begins": AT, "asked_at": AT, "kept_for": timedelta(hours=1)},
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(OBJECT)
def test_any_answer_is_whole_or_has_codes_of_the_closed_list(answer: dict[str, Any]) -> None:
    for asked in SEARCHES:
        assert set(elasticsearch.incomplete(asked, answer)) <= set(elasticsearch.CODES)
    for request in ASKED:
        assert set(kubernetes.incomplete(request, answer)) <= set(kubernetes.CODES)
    sent = {"MetricDataQueries": [{"Id": "m1"}], "queryString": "fields a", "asked_at": AT}
    for operation in cloudwatch._CHECKS:
        assert set(cloudwatch.incomplete(operation, sent, answer)) <= set(cloudwatch.CODES)


@settings(max_examples=60, deadline=None)
@given(JSON, OBJECT)
def test_any_word_of_a_server_about_rights_is_judged(anything: Any, user: dict[str, Any]) -> None:
    privileges.of_elasticsearch(list(privileges.narrowed(anything)), ["a"])
    privileges.of_elasticsearch([anything], ["a"])
    privileges.of_opensearch(anything, ["a"])
    privileges.of_answer(anything)
    rights.of_rules({"a": anything}, ["pods", "pods/log"])
    rights.of_answers([(rights.FORBIDDEN[0], "", anything)])
    rights.bound_in(anything, user)
    rights.of_identity(user)
    policies.of_policies([anything], ["a"])
    policies.of_simulation(anything)


@given(JSON)
def test_what_is_not_understood_does_not_hold(anything: Any) -> None:
    if isinstance(anything, dict):
        return
    assert any(not fact.holds for fact in privileges.of_elasticsearch(list(privileges.narrowed(anything)), []))
    assert any(not fact.holds for fact in privileges.of_elasticsearch([anything], []))
    assert any(not fact.holds for fact in privileges.of_opensearch(anything, []))
    assert any(not fact.holds for fact in rights.of_rules({"a": anything}, []))
    assert any(not fact.holds for fact in policies.of_policies([anything], []))
    assert not privileges.of_answer(anything).holds


FIXED = {
    "reader_env": "ANY_READER_TOKEN", "doctor_env": "ANY_DOCTOR_TOKEN", "credential": "bearer", "environment": "test",
    "url": "https://any.example.com",
}  # fmt: skip
SOURCES = (
    (Elasticsearch(), {**FIXED, "kind": "elasticsearch", "flavor": "elasticsearch", "indexes": ["logs-a"]}),
    (Elasticsearch(), {**FIXED, "kind": "elasticsearch", "flavor": "opensearch", "indexes": ["logs-a"]}),
    (Kubernetes(), {**FIXED, "kind": "kubernetes", "namespaces": ["shop"], "resources": ["pods"]}),
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(JSON, min_size=1, max_size=3))
def test_a_server_that_answers_anything_proves_nothing(monkeypatch: pytest.MonkeyPatch, found: list[Any]) -> None:
    answers = itertools.cycle(found)

    def answered(*asked: Any, **more: Any) -> client.Reply:
        # Far enough to be looked at: who somebody is comes first.
        one = next(answers)
        return client.Reply({}, {"status": {"userInfo": one}, "roles": one, **(one if isinstance(one, dict) else {})})

    for name in ("ANY_READER_TOKEN", "ANY_DOCTOR_TOKEN"):
        monkeypatch.setenv(name, name)
    monkeypatch.setattr(client, "get", answered)
    monkeypatch.setattr(client, "search", answered)
    for kind, body in SOURCES:
        assert not kind.prove(native.source(body)).holds
