"""Nothing reaches a Kubernetes API but a GET of listed resources, in the namespaces that the source exposes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds import moments
from evidence.kinds.kubernetes import asking, names, resources
from tests.evidence.kinds import native

NOW = datetime(2026, 9, 14, 9, 0, tzinfo=UTC)
LIMITS = Limits(rows=500, bytes=1_000, seconds=5)
SOURCE = {
    "namespaces": ["shop", "billing"],
    "resources": ["deployments", "jobs", "pods", "pods/log", "events", "nodes", "horizontalpodautoscalers"],
}
EVERYWHERE = {**SOURCE, "everywhere": True}
READ = {"act": "read", **{key: {"argument": key} for key in sorted(asking.OPTIONAL["read"] | {"kind"})}}
EVENTS = {"act": "events", **{key: {"argument": key} for key in sorted(asking.OPTIONAL["events"] | {"namespace"})}}
LOGS = {"act": "logs", **{key: {"argument": key} for key in sorted(asking.OPTIONAL["logs"] | {"namespace", "pod"})}}
LEAVING = (
    "..", ".", "../secrets", "shop/../../secrets", "shop/secrets", "shop%2f..", "%2e%2e", "shop?watch=1", "shop#",
    "shop;x", "shop\\x", "shop ", " shop", "shop\n", "shop\0", "Shop", "shop,billing", "shop&watch=true", "*", "",
    "．．",
    "sh／op", "kube-system", 7, True, None, ["shop"], {"a": "shop"},
)  # fmt: skip


def asked(request: dict[str, Any], source: dict[str, Any] = SOURCE, **values: Any) -> asking.Asked:
    return asking.compose(request, source, values, LIMITS, NOW)


def refused(request: dict[str, Any], source: dict[str, Any] = SOURCE, **values: Any) -> str:
    with pytest.raises(Refused) as found:
        asked(request, source, **values)
    assert found.value.code == "parameters"
    return found.value.sentence


@pytest.mark.parametrize(
    ("values", "target", "about"),
    [
        ({"kind": "job", "namespace": "shop", "name": "a-1.b"}, "/apis/batch/v1/namespaces/shop/jobs/a-1.b",
         {"act": "get", "kind": "Job"}),
        ({"kind": "deployments.apps", "namespace": "shop", "name": "a"},
         "/apis/apps/v1/namespaces/shop/deployments/a", {"act": "get", "kind": "Deployment"}),
        ({"kind": "hpa", "namespace": "shop", "name": "a"},
         "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/a",
         {"act": "get", "kind": "HorizontalPodAutoscaler"}),
        ({"kind": "no", "name": "n1", "all_namespaces": False}, "/api/v1/nodes/n1", {"act": "get", "kind": "Node"}),
        ({"kind": "nodes"}, "/api/v1/nodes?limit=500", {"act": "list", "kind": "Node", "limit": 500}),
        ({"kind": "Pods", "namespace": "billing", "label_selector": "app=a,tier in (b, c),!d", "limit": 7,
          "field_selector": "status.phase!=Running"},
         "/api/v1/namespaces/billing/pods?limit=7&labelSelector=app%3Da%2Ctier%20in%20%28b%2C%20c%29%2C%21d"
         "&fieldSelector=status.phase%21%3DRunning", {"act": "list", "kind": "Pod", "limit": 7}),
        ({"kind": "po", "namespace": "shop", "limit": 10_000}, "/api/v1/namespaces/shop/pods?limit=500",
         {"act": "list", "kind": "Pod", "limit": 500}),
        ({"kind": "events", "namespace": "shop"}, "/api/v1/namespaces/shop/events?limit=500",
         {"act": "list", "kind": "Event", "limit": 500, "asked_at": NOW, "kept_for": timedelta(hours=1)}),
    ],
)  # fmt: skip
def test_what_is_asked_for_is_one_path(values: dict[str, Any], target: str, about: dict[str, Any]) -> None:
    found = asked(READ, **values)
    assert (found.target, found.about) == (target, about)


@pytest.mark.parametrize("spelled", sorted(set(resources._BY_NAME)))
def test_each_spelling_leads_to_one_resource_of_the_list(spelled: str) -> None:
    found = resources.find(spelled, resources.RESOURCES)
    assert found.kind.lower() in spelled.lower() or spelled.partition(".")[0] in (*found.shorts, found.plural)


@pytest.mark.parametrize(
    "kind",
    ["secrets", "secret", "Secret", "configmaps", "cm", "serviceaccounts", "pods/exec", "pods/attach",
     "pods/portforward", "pods/proxy", "pods/log", "nodes/proxy", "services/proxy", "deployments/scale",
     "roles", "clusterrolebindings",
     "certificatesigningrequests", "services", "statefulsets", "*", "all", "pods,secrets", "pods/", "/pods",
     "../secrets", "pods?watch=true", "POD", "", "jobs.v2.batch", "jobs.apps", "customresourcedefinitions",
     7, None, ["pods"]],
    ids=str,
)  # fmt: skip
def test_no_other_kind_is_read(kind: Any) -> None:
    refused(READ, kind=kind, namespace="shop")
    refused(READ, EVERYWHERE, kind=kind, namespace="shop", name="a")


@pytest.mark.parametrize("value", LEAVING, ids=repr)
def test_a_namespace_stays_in_its_place(value: Any) -> None:
    refused(READ, kind="pods", namespace=value)
    refused(EVENTS, namespace=value)
    refused(LOGS, namespace=value, pod="a")
    if value != "kube-system":
        refused(READ, EVERYWHERE, kind="pods", namespace=value)


@pytest.mark.parametrize("value", [one for one in LEAVING if one not in ("kube-system", None)], ids=repr)
def test_a_name_stays_in_its_place(value: Any) -> None:
    refused(READ, kind="pods", namespace="shop", name=value)
    refused(LOGS, namespace="shop", pod=value)
    refused(LOGS, namespace="shop", pod="a", container=value)


def test_all_namespaces_are_listed_only_where_the_source_says_so() -> None:
    assert "Name one namespace" in refused(READ, kind="pods", all_namespaces=True)
    assert asked(READ, EVERYWHERE, kind="pods", all_namespaces=True).target == "/api/v1/pods?limit=500"
    assert asked(READ, EVERYWHERE, kind="pods", namespace="kube-system").target.startswith("/api/v1/namespaces/kube-s")
    refused(READ, EVERYWHERE, kind="pods", all_namespaces=True, namespace="shop")
    refused(READ, EVERYWHERE, kind="pods", all_namespaces="true")
    refused(READ, EVERYWHERE, kind="pods")
    refused(READ, kind="nodes", namespace="shop")
    refused(READ, EVERYWHERE, kind="nodes", all_namespaces=True)


@pytest.mark.parametrize(
    "selector",
    ["a=b&watch=true", "a=b#", "a in (b", "a=b,,c", "a=(b)", "a\n=b", "a=b;c", "=b", "a==", "a=b c", "a>1", "../a=b",
     "",
     "a=%2e", "a" * 1_001, "a= ," * 200 + ">", "a in (" + ", " * 400 + ">", 7, ["a=b"], "a in ()x", "é=b"],
    ids=lambda selector: repr(selector)[:40],
)  # fmt: skip
def test_a_label_selector_is_one(selector: Any) -> None:
    if selector == "a==":
        assert names.labels(selector) == selector  # the empty value, which is one
        return
    refused(READ, kind="pods", namespace="shop", label_selector=selector)


@pytest.mark.parametrize(
    "selector",
    ["spec.x=1", "metadata.name", "metadata.name=", "type=Warning&watch=true", "type in (Warning)", "type=Warning,",
     "metadata.name=a b", "type=Warning\n", "", 7, "spec.nodeName=../x"],
    ids=repr,
)  # fmt: skip
def test_a_field_selector_is_one(selector: Any) -> None:
    refused(READ, kind="pods", namespace="shop", field_selector=selector)
    refused(EVENTS, namespace="shop", field_selector=selector)


@pytest.mark.parametrize("limit", [0, -1, True, "5", 1.5, [5]])
def test_a_limit_is_a_whole_number(limit: Any) -> None:
    refused(READ, kind="pods", namespace="shop", limit=limit)
    refused(LOGS, namespace="shop", pod="a", tail_lines=limit)


def test_one_object_is_asked_for_by_its_name_alone() -> None:
    for more in ({"label_selector": "a=b"}, {"field_selector": "type=Warning"}, {"limit": 5}, {"all_namespaces": True}):
        refused(READ, EVERYWHERE, kind="pods", namespace="shop", name="a", **more)


@pytest.mark.parametrize(
    ("types", "selector"),
    [(None, None), (["Warning"], "type=Warning"), ("Warning", "type=Warning"), (["Normal"], "type=Normal"),
     (["Normal", "Warning"], None), ("Normal,Warning", None)],
)  # fmt: skip
def test_events_are_chosen_by_their_type(types: Any, selector: str | None) -> None:
    target = asked(EVENTS, namespace="shop", types=types).target
    path, _, query = target.partition("?")
    assert path == "/api/v1/namespaces/shop/events"
    assert dict(parse_qsl(query)).get("fieldSelector") == selector


def test_events_from_a_moment_on_are_judged_by_how_long_they_are_kept() -> None:
    found = asked(
        EVENTS, {**SOURCE, "events_kept_seconds": 7_200}, namespace="shop", begins="2026-09-14T08:00:00+02:00"
    )
    assert found.about["begins"] == datetime(2026, 9, 14, 6, 0, tzinfo=UTC)
    assert found.about["kept_for"] == timedelta(hours=2)
    for types in (["warning"], [], "x", 7, [["Warning"]], ["Warning", "Other"]):
        refused(EVENTS, namespace="shop", types=types)


def test_a_log_is_asked_for_with_its_times_and_limits() -> None:
    found = asked(LOGS, namespace="shop", pod="a-1", container="web", begins="2026-09-14T08:00:00.9Z", ends=1789376400)
    path, _, query = found.target.partition("?")
    assert path == "/api/v1/namespaces/shop/pods/a-1/log"
    assert dict(parse_qsl(query)) == {
        "timestamps": "true", "tailLines": "2000", "limitBytes": "500", "container": "web",
        "sinceTime": "2026-09-14T08:00:00Z",
    }  # fmt: skip
    assert found.ends == datetime(2026, 9, 14, 9, 0, tzinfo=UTC)
    assert "no logs" in refused(LOGS, {**SOURCE, "resources": ["pods"]}, namespace="shop", pod="a")


@pytest.mark.parametrize(
    "value", ["2026-09-14T08:00:00", "yesterday", 1789376400000, True, "1789376400", "2026-13-01T00:00:00Z"]
)
def test_a_moment_has_its_zone(value: Any) -> None:
    with pytest.raises(ValueError):
        moments.parse(value)
    refused(LOGS, namespace="shop", pod="a", begins=value)
    refused(LOGS, namespace="shop", pod="a", ends=value)


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"act": "delete", "kind": "pods"}, "The act of a request"),
        ({"act": ["read"], "kind": "pods"}, "The act of a request"),
        ({"act": "read"}, "says exactly"),
        ({"act": "read", "kind": "pods", "subresource": "exec"}, "says exactly"),
        ({"act": "read", "kind": "pods", "watch": True}, "says exactly"),
        ({"act": "read", "kind": "secrets"}, "kind is one of"),
        ({"act": "read", "kind": "pods", "namespace": "a/b"}, "A namespace is"),
        ({"act": "read", "kind": "pods", "name": "a/b"}, "A name is"),
        ({"act": "read", "kind": "pods", "label_selector": "a=b"}, "narrows the answer"),
        ({"act": "read", "kind": "pods", "field_selector": "type=Normal"}, "narrows the answer"),
        ({"act": "events", "namespace": "shop", "types": ["Normal"]}, "narrows the answer"),
        ({"act": "logs", "namespace": "shop", "pod": "a", "container": "b"}, "narrows the answer"),
        ({"act": "read", "kind": "pods", "all_namespaces": "yes"}, "all_namespaces"),
        ({"act": "logs", "namespace": "shop", "pod": "a", "follow": True}, "says exactly"),
        ({"act": "logs", "namespace": "shop", "pod": "a", "previous": True}, "says exactly"),
        ({"act": "read", "kind": {"argument": "kind", "x": 1}}, "place of an argument"),
        ({"act": "read", "kind": {"argument": "other"}}, "no property"),
    ],
)  # fmt: skip
def test_a_contract_that_could_do_more_is_not_taken(request_: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        asking.check(request_, {"input_schema": native.schema()})


@pytest.mark.parametrize(
    "request_",
    [
        {"act": "read", "kind": "pods", "name": {"argument": "namespace"}, "namespace": {"argument": "name"}},
        {"act": "read", "kind": {"argument": "name"}, "name": {"argument": "kind"}},
        {"act": "read", "kind": "pods", "namespace": "shop", "field_selector": {"argument": "label_selector"}},
        {"act": "events", "namespace": "shop", "begins": {"argument": "end_time"}},
        {"act": "logs", "namespace": "shop", "pod": {"argument": "filter"}},
    ],
    ids=str,
)
def test_an_argument_stands_where_rules_look_for_it_by_its_name(request_: dict[str, Any]) -> None:
    taken = [value["argument"] for value in request_.values() if isinstance(value, dict)]
    with pytest.raises(ValueError, match="is called; rename it"):
        asking.check(request_, {"input_schema": native.schema(*taken)})


@pytest.mark.parametrize("request_", [READ, EVENTS, LOGS])
def test_a_contract_may_leave_any_value_to_the_agent(request_: dict[str, Any]) -> None:
    asking.check(request_, {"input_schema": native.schema(*set(request_) - {"act"})})


ANYTHING = st.text(max_size=12) | st.integers() | st.none() | st.lists(st.text(max_size=3), max_size=2)


@settings(deadline=None)
@given(kind=ANYTHING | st.sampled_from(["pods", "jobs", "nodes"]), namespace=ANYTHING | st.just("shop"), name=ANYTHING)
def test_whatever_comes_the_path_has_no_other_steps(kind: Any, namespace: Any, name: Any) -> None:
    try:
        found = asked(READ, EVERYWHERE, kind=kind, namespace=namespace, name=name)
    except Refused:
        return
    path, _, query = found.target.partition("?")
    steps = path.strip("/").split("/")
    assert steps[0] in ("api", "apis")
    assert all(step not in ("", ".", "..") and unquote(step) == step for step in steps)
    assert "secrets" not in steps[:-1]
    assert set(dict(parse_qsl(query))) <= {"limit"}
