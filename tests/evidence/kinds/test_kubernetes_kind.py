"""Kubernetes as a kind: what is sent, what a rule's readers read of it, and what the proof sees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds.http import client
from evidence.kinds.kubernetes import rights
from evidence.kinds.kubernetes.kind import Kubernetes
from gate.triage.readers.kube_autoscalers import KubeAutoscaler
from gate.triage.readers.kube_deployments import KubeDeployment
from gate.triage.readers.kube_events import KubeEvents
from gate.triage.readers.kube_jobs import KubeJob
from gate.triage.readers.kube_nodes import KubeNode
from gate.triage.readers.pod_logs import PodLogs
from tests.evidence.kinds import native
from tests.evidence.kinds.http_server import Asked, Server, running, whole

KIND = Kubernetes()
LIMITS = Limits(seconds=5)
EXPOSED = ["deployments", "events", "horizontalpodautoscalers", "jobs", "nodes", "pods", "pods/log"]


@pytest.fixture(scope="module")
def one_server() -> Iterator[Server]:
    with running() as server:
        yield server
    client.close()


@pytest.fixture
def server(one_server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    one_server.scripts.clear()
    one_server.asked.clear()
    monkeypatch.setenv("CLUSTER_READER_TOKEN", "reader.token")
    monkeypatch.setenv("CLUSTER_DOCTOR_TOKEN", "doctor.token")
    return one_server


def body(server: Server, **changes: Any) -> dict[str, Any]:
    said = {
        "kind": "kubernetes", "url": server.url, "addresses": ["127.0.0.1"], "credential": "bearer",
        "reader_env": "CLUSTER_READER_TOKEN", "doctor_env": "CLUSTER_DOCTOR_TOKEN", "environment": "production",
        "namespaces": ["shop"], "resources": EXPOSED,
    }  # fmt: skip
    return {**said, **changes}


GET = {"act": "read", **{key: {"argument": key} for key in ("kind", "namespace", "name")}}
LIST_EVENTS = {"act": "events", "namespace": {"argument": "namespace"}, "types": {"argument": "types"}}
FETCH = {
    "act": "logs", "namespace": {"argument": "namespace"}, "pod": {"argument": "pod_name"},
    "begins": {"argument": "start_time"}, "ends": {"argument": "end_time"}, "tail_lines": {"argument": "limit"},
}  # fmt: skip


def read(server: Server, request: dict[str, Any], given: dict[str, Any], **changes: Any) -> Any:
    return KIND.read(native.source(body(server, **changes)), native.contract(request), given, LIMITS)


def test_its_own_examples_are_taken() -> None:
    KIND.check_source("mycluster", KIND.source_example)
    KIND.check_tool("list_jobs", {"input_schema": native.schema("job_id"), **KIND.tool_example})


def meta(**more: Any) -> dict[str, Any]:
    return {"name": "a", "namespace": "shop", "uid": "u", "resourceVersion": "7", "generation": 3, **more}


JOB = {
    "apiVersion": "batch/v1", "kind": "Job", "metadata": meta(), "spec": {"completions": 1},
    "status": {"conditions": [{"type": "Complete", "status": "True"}], "completionTime": "2026-09-14T08:00:00Z",
               "succeeded": 1, "failed": 1},
}  # fmt: skip
DEPLOYMENT = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(), "spec": {"replicas": 2},
    "status": {"observedGeneration": 3, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2,
               "availableReplicas": 2},
}  # fmt: skip
NODE = {
    "apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}, "spec": {},
    "status": {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-09-14T08:00:00Z"}]},
}  # fmt: skip
AUTOSCALER = {
    "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta(),
    "spec": {"minReplicas": 1, "maxReplicas": 4},
    "status": {"currentReplicas": 1, "desiredReplicas": 1,
               "conditions": [{"type": "ScalingLimited", "status": "True", "reason": "TooFewReplicas"}]},
}  # fmt: skip
OBJECTS = {
    "job": (JOB, "/apis/batch/v1/namespaces/shop/jobs", KubeJob),
    "deployment": (DEPLOYMENT, "/apis/apps/v1/namespaces/shop/deployments", KubeDeployment),
    "node": (NODE, "/api/v1/nodes", KubeNode),
    "hpa": (AUTOSCALER, "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers", KubeAutoscaler),
}


@pytest.mark.parametrize("kind", sorted(OBJECTS))
def test_an_object_is_one_get_and_its_reader_reads_it(server: Server, kind: str) -> None:
    answer, path, reader = OBJECTS[kind]
    given = {"kind": kind, "name": "a"} | ({} if kind == "node" else {"namespace": "shop"})
    server.answer(f"{path}/a", answer)
    found = read(server, GET, given)
    (asked,) = server.asked
    assert (asked.method, asked.target, asked.headers["authorization"]) == ("GET", f"{path}/a", "Bearer reader.token")
    assert (found.result, found.incomplete) == (answer, ())
    seen = reader(native.recorded("kubectl_get", given, found.result))
    assert (seen.complete(), seen.object_kind(()), seen.uid(())) == (True, answer["kind"], "u")
    assert seen.asked.name() == "a"


@pytest.mark.parametrize("kind", sorted(OBJECTS))
def test_a_list_is_one_get_and_its_reader_reads_it(server: Server, kind: str) -> None:
    answer, path, reader = OBJECTS[kind]
    item = {key: value for key, value in answer.items() if key not in ("kind", "apiVersion")}
    listed = {"kind": f"{answer['kind']}List", "apiVersion": answer["apiVersion"], "metadata": {"resourceVersion": "9"},
              "items": [item]}  # fmt: skip
    given = {"kind": kind} | ({} if kind == "node" else {"namespace": "shop"})
    server.answer(path, listed)
    found = read(server, GET, given)
    assert [asked.target for asked in server.asked] == [f"{path}?limit=1000"]
    assert (found.result, found.incomplete) == (listed, ())
    seen = reader(native.recorded("kubectl_get", given, found.result))
    place = seen.place(None if kind == "node" else "shop", "a")
    assert (seen.complete(), seen.uid(place)) == (True, "u")
    server.answer(path, {**listed, "metadata": {"resourceVersion": "9", "continue": "x", "remainingItemCount": 4}})
    assert read(server, GET, given).incomplete == ("goes_on",)


EVENT = {
    "metadata": {"name": "a.1", "namespace": "shop"}, "type": "Warning", "reason": "BackOff",
    "involvedObject": {"kind": "Pod", "name": "a", "namespace": "shop"}, "lastTimestamp": "2026-09-14T08:00:00Z",
}  # fmt: skip


def test_events_are_one_get_and_their_reader_reads_them(server: Server) -> None:
    listed = {"kind": "EventList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": [EVENT]}
    server.answer("/api/v1/namespaces/shop/events", listed)
    given = {"namespace": "shop", "types": ["Warning"]}
    found = read(server, LIST_EVENTS, given)
    assert [asked.target for asked in server.asked] == [
        "/api/v1/namespaces/shop/events?limit=1000&fieldSelector=type%3DWarning"
    ]
    assert (found.result, found.incomplete) == (listed, ())
    seen = KubeEvents(native.recorded("kubectl_events", given, found.result))
    assert (seen.complete(), seen.is_warning(0), seen.namespace(0)) == (True, True, "shop")


LINES = "2026-09-14T08:00:01.000000001Z first\n2026-09-14T08:59:00Z second\n2026-09-14T09:30:00Z later\n"
ASKED = {
    "pod_name": "a-1",
    "namespace": "shop",
    "start_time": "2026-09-14T08:00:00Z",
    "end_time": "2026-09-14T09:00:00Z",
}


def log_of(server: Server, text: str) -> None:
    server.answer("/api/v1/namespaces/shop/pods/a-1/log", text.encode(), Content_Type="text/plain")


def test_a_log_is_cut_at_the_asked_end_and_its_reader_reads_it(server: Server) -> None:
    log_of(server, LINES)
    found = read(server, FETCH, ASKED)
    assert found.result["data"].splitlines() == [
        "2026-09-14T08:00:01.000000001Z first", "2026-09-14T08:59:00Z second",
    ]  # fmt: skip
    assert found.incomplete == ()
    seen = PodLogs(native.recorded("fetch_pod_logs", ASKED, found.result))
    assert (seen.complete(), seen.has_lines()) == (True, True)
    assert seen.asked().selector == frozenset((("namespace", "shop"), ("pod", "a-1")))


def test_a_log_that_reached_its_limit_is_cut_also_where_later_lines_were_left_out(server: Server) -> None:
    log_of(server, LINES)
    assert read(server, FETCH, {**ASKED, "limit": 3}).incomplete == ("tail_reached",)


def test_a_line_is_cut_as_a_whole_whatever_stands_in_it(server: Server) -> None:
    log_of(server, "2026-09-14T08:00:01Z a\x0cb\u2028c\n2026-09-14T09:30:00Z d\x0ce\u2028f\x85g\n")
    assert read(server, FETCH, ASKED).result["data"] == "2026-09-14T08:00:01Z a\x0cb\u2028c\n"


def test_an_empty_log_shows_nothing(server: Server) -> None:
    log_of(server, "")
    found = read(server, FETCH, ASKED)
    assert (found.result["status"], found.result["data"], found.incomplete) == ("no_data", None, ("no_lines",))
    log_of(server, "2026-09-14T09:30:00Z later\n")
    assert read(server, FETCH, ASKED).incomplete == ("no_lines",)


def test_a_log_that_could_not_be_read_is_none(server: Server) -> None:
    log_of(server, "unable to retrieve container logs for containerd://ab12")
    assert read(server, FETCH, ASKED).incomplete == ("log_error",)


def test_what_is_not_there_is_a_failed_call_in_the_servers_words(server: Server) -> None:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": 'jobs "a" not found, reader.token',
              "code": 404}  # fmt: skip
    server.answer("/apis/batch/v1/namespaces/shop/jobs/a", status, 404)
    with pytest.raises(Refused, match=r'answered with 404: jobs "a" not found, \[masked\]') as refused:
        read(server, GET, {"kind": "job", "namespace": "shop", "name": "a"})
    assert refused.value.code == "http_404"
    server.answer("/apis/batch/v1/namespaces/shop/jobs/a", status)
    with pytest.raises(Refused, match="answered with a Status") as refused:
        read(server, GET, {"kind": "job", "namespace": "shop", "name": "a"})
    assert refused.value.code == "status"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"resources": ["secrets"]}, "none of what may be read"),
        ({"resources": ["pods/exec"]}, "none of what may be read"),
        ({"resources": []}, "lists what tools may read"),
        ({"namespaces": []}, "lists the namespaces"),
        ({"namespaces": ["a/b"]}, "Each of namespaces is"),
        ({"namespaces": ["*"]}, "Each of namespaces is"),
        ({"everywhere": "yes"}, "everywhere is true"),
        ({"events_kept_seconds": 0}, "events_kept_seconds"),
        ({"events_kept_seconds": True}, "events_kept_seconds"),
        ({"doctor_env": "CLUSTER_READER_TOKEN"}, "doctor_env"),
        ({"accepts": ["verbs"]}, "cannot be left to later lines"),
        ({"kubeconfig": "x"}, "says exactly"),
    ],
)
def test_a_source_that_says_something_else_is_not_taken(server: Server, change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        KIND.check_source("mine", body(server, **change))


# The proof.

READER = {"username": "system:serviceaccount:counterseal:reader", "uid": "1",
          "groups": ["system:serviceaccounts", "system:authenticated"]}  # fmt: skip
OF_ITSELF = [
    {"verbs": ["create"], "apiGroups": ["authorization.k8s.io"],
     "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]},
    {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
]  # fmt: skip
RULES = {
    "incomplete": False,
    "resourceRules": [
        *OF_ITSELF,
        {"verbs": ["get", "list"], "apiGroups": ["apps"], "resources": ["deployments"]},
        {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods", "events", "nodes"]},
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log"]},
    ],
    "nonResourceRules": [
        {"verbs": ["get"], "nonResourceURLs": ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                                               "/openapi/*", "/readyz", "/version", "/version/"]},
    ],
}  # fmt: skip
BINDINGS: dict[str, Any] = {"kind": "RoleBindingList", "metadata": {"resourceVersion": "1"}, "items": []}


def prove(server: Server, rules: Any = RULES, bindings: Any = BINDINGS, granted: Any = (), **changes: Any) -> Any:
    """The proof by a server that says this of the reader, and allows the acts that `granted` lists."""

    def who(asked: Asked) -> list[bytes]:
        is_reader = asked.headers["authorization"] == "Bearer reader.token"
        user = READER if is_reader else {"username": "system:serviceaccount:counterseal:doctor", "groups": []}
        return [whole(json.dumps({"status": {"userInfo": user}}).encode(), 201)]

    def access(asked: Asked) -> list[bytes]:
        assert asked.headers["authorization"] == "Bearer doctor.token"
        spec = json.loads(asked.body)["spec"]
        assert (spec["user"], spec["groups"]) == (READER["username"], READER["groups"])
        said = spec["resourceAttributes"]
        is_allowed = (said["verb"], said["resource"], said.get("subresource", ""), said.get("namespace", "")) in granted
        return [whole(json.dumps({"status": {"allowed": is_allowed}}).encode(), 201)]

    def listed(asked: Asked) -> list[bytes]:
        assert asked.headers["authorization"] == "Bearer reader.token"
        namespace = json.loads(asked.body)["spec"]["namespace"]
        status = rules.get(namespace, rules)
        return [whole(json.dumps({"status": status}).encode(), 201)]

    server.scripts["/apis/authentication.k8s.io/v1/selfsubjectreviews"] = who
    server.scripts["/apis/authorization.k8s.io/v1/subjectaccessreviews"] = access
    server.scripts["/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"] = listed
    if bindings is not None:
        server.answer("/apis/rbac.authorization.k8s.io/v1/rolebindings", bindings)
    return KIND.prove(native.source(body(server, **changes)))


def failing(proven: Any) -> set[str]:
    return {fact.fact for fact in proven.facts if not fact.holds}


def test_a_reader_that_gets_and_lists_what_is_exposed_is_proven(server: Server) -> None:
    proven = prove(server)
    assert (proven.holds, failing(proven)) == (True, set())
    assert READER["username"] in {fact.seen for fact in proven.facts}
    assert {fact for attack in KIND.attacks for fact in attack.facts} <= {fact.fact for fact in proven.facts}
    asked = {(one.method, one.target.partition("?")[0]) for one in server.asked}
    assert asked == {("POST", f"/apis/authorization.k8s.io/v1/{review}") for review in
                     ("selfsubjectrulesreviews", "subjectaccessreviews")} | {
        ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"),
        ("GET", "/apis/rbac.authorization.k8s.io/v1/rolebindings"),
    }  # fmt: skip


def rule(verbs: str, resources: str, group: str = "") -> dict[str, Any]:
    return {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}


@pytest.mark.parametrize(
    ("planted", "facts"),
    [
        (rule("create", "pods"), {"verbs"}),
        (rule("patch", "deployments", "apps"), {"verbs"}),
        (rule("deletecollection", "jobs", "batch"), {"verbs"}),
        (rule("impersonate", "users"), {"verbs"}),
        (rule("escalate", "clusterroles", "rbac.authorization.k8s.io"), {"verbs"}),
        (rule("bind", "roles", "rbac.authorization.k8s.io"), {"verbs"}),
        (rule("create", "selfsubjectaccessreviews"), {"verbs"}),
        (rule("create", "subjectaccessreviews", "authorization.k8s.io"), {"verbs"}),
        (rule("create", "serviceaccounts/token"), {"verbs", "opening"}),
        (rule("*", "pods"), {"verbs"}),
        (rule("*", "*", "*"), {"verbs", "secrets", "opening"}),
        (rule("use", "podsecuritypolicies", "policy"), {"verbs"}),
        (rule("get", "secrets"), {"secrets", "resources"}),
        (rule("list", "*"), {"secrets", "opening", "resources"}),
        (rule("watch", "secrets", "*"), {"secrets", "resources"}),
        ({**rule("get", "secrets"), "resourceNames": ["one"]}, {"secrets", "resources"}),
        ({"verbs": ["get"], "resources": ["secrets"]}, {"secrets", "resources"}),
        ({"verbs": ["get"], "apiGroups": [""]}, {"secrets", "opening", "resources"}),
        (rule("get", "pods/exec"), {"opening", "resources"}),
        (rule("get", "pods/attach"), {"opening", "resources"}),
        (rule("get", "pods/portforward"), {"opening", "resources"}),
        (rule("get", "nodes/proxy"), {"opening", "resources"}),
        (rule("get", "services/proxy"), {"opening", "resources"}),
        (rule("get", "pods/*"), {"opening", "resources"}),
        (rule("get", "*/exec"), {"opening", "resources"}),
        (rule("get", "configmaps"), {"resources"}),
        (rule("get", "pods", "metrics.k8s.io"), {"resources"}),
        (rule("", "secrets"), set()),
    ],
    ids=lambda one: str(sorted(one) if isinstance(one, set) else one),
)
def test_each_planted_rule_is_found(server: Server, planted: dict[str, Any], facts: set[str]) -> None:
    proven = prove(server, {**RULES, "resourceRules": [*RULES["resourceRules"], planted]})
    assert (failing(proven), proven.holds) == (facts, not facts)
    assert all(one.mend for one in proven.facts if not one.holds)


@pytest.mark.parametrize(
    ("planted", "facts"),
    [
        ({"verbs": ["*"], "nonResourceURLs": ["*"]}, {"verbs", "paths"}),
        ({"verbs": ["post"], "nonResourceURLs": ["/api/*"]}, {"verbs"}),
        ({"verbs": "post", "nonResourceURLs": ["/api/*"]}, {"verbs"}),
        ({"nonResourceURLs": ["/api/*"]}, {"verbs"}),
        ({"verbs": ["get"], "nonResourceURLs": ["/metrics"]}, {"paths"}),
        ({"verbs": ["get"], "nonResourceURLs": ["/logs/*"]}, {"paths"}),
    ],
)
def test_each_planted_path_is_found(server: Server, planted: dict[str, Any], facts: set[str]) -> None:
    proven = prove(server, {**RULES, "nonResourceRules": [planted]})
    assert (failing(proven), proven.holds) == (facts, False)


@pytest.mark.parametrize(
    "status", [{**RULES, "incomplete": True}, {**RULES, "evaluationError": "webhook"}, {"resourceRules": []}, None]
)
def test_rules_that_are_not_all_of_them_prove_nothing_unless_accepted(server: Server, status: Any) -> None:
    proven = prove(server, {"shop": status})
    assert (failing(proven), proven.holds) == ({"rules_whole"}, False)
    assert prove(server, {"shop": status}, accepts=["rules_whole"]).holds


@pytest.mark.parametrize(
    "granted",
    [("create", "pods", "", "shop"), ("get", "secrets", "", ""), ("get", "pods", "exec", "shop"),
     ("get", "nodes", "proxy", ""), ("impersonate", "users", "", ""), ("*", "*", "", "")],
)  # fmt: skip
def test_an_act_that_the_server_allows_is_found_whatever_the_rules_say(server: Server, granted: Any) -> None:
    proven = prove(server, granted=[granted])
    assert (failing(proven), proven.holds) == ({"tries"}, False)


@pytest.mark.parametrize(
    "status", [{"allowed": True}, {"allowed": None}, {}, None, {"allowed": False, "evaluationError": "x"}]
)
def test_an_answer_that_is_no_plain_no_counts_as_a_yes(status: Any) -> None:
    assert not rights.of_answers([(rights.FORBIDDEN[0], "", status)]).holds
    assert not rights.of_answers([]).holds


def binding(where: str, **subject: str) -> dict[str, Any]:
    return {"metadata": {"namespace": where}, "subjects": [subject]}


@pytest.mark.parametrize(
    ("found", "is_found"),
    [
        (binding("other", kind="ServiceAccount", name="reader", namespace="counterseal"), True),
        (binding("other", kind="Group", name="system:authenticated"), True),
        (binding("other", kind="User", name=READER["username"]), True),
        (binding("other", kind="ServiceAccount", name="reader", namespace="else"), False),
        (binding("other", kind="User", name="ada"), False),
        ({"metadata": {"namespace": "other"}}, False),
    ],
)
def test_a_right_in_a_namespace_that_nobody_named_is_found(server: Server, found: Any, is_found: bool) -> None:
    writing = {**RULES, "resourceRules": [rule("delete", "pods")]}
    proven = prove(server, {"shop": RULES, "other": writing}, {**BINDINGS, "items": [found]})
    assert failing(proven) == ({"verbs"} if is_found else set())


def test_a_doctor_that_does_not_see_all_bindings_proves_less(server: Server) -> None:
    cut = {**BINDINGS, "metadata": {"resourceVersion": "1", "continue": "x"}}
    assert failing(prove(server, bindings=cut)) == {"bindings_seen"}
    server.answer("/apis/rbac.authorization.k8s.io/v1/rolebindings", {"kind": "Status"}, 403)
    proven = prove(server, bindings=None, accepts=["bindings_seen"])
    assert (failing(proven), proven.holds) == ({"bindings_seen"}, True)


@pytest.mark.parametrize(
    "user",
    [{"username": "admin", "groups": ["system:masters"]}, {"username": "system:anonymous", "groups": []}, {}],
)
def test_one_whom_every_check_lets_through_is_no_reader(user: dict[str, Any]) -> None:
    assert not rights.of_identity(user).holds


def test_a_server_that_cannot_be_reached_is_not_proven(server: Server) -> None:
    proven = KIND.prove(native.source(body(server)))
    assert (failing(proven), proven.holds) == ({"reached"}, False)


@pytest.mark.parametrize("everywhere", [False, True])
def test_the_strongest_reader_is_one_that_the_proof_takes(server: Server, everywhere: bool) -> None:
    lines = KIND.strongest_reader(native.source(body(server, everywhere=everywhere)))
    documents = [one for one in yaml.safe_load_all("\n".join(lines)) if one]
    roles = {one["metadata"]["name"]: one["rules"] for one in documents if one["kind"] == "ClusterRole"}
    rules = [rule for name, found in roles.items() if name.startswith("counterseal-reader") for rule in found]
    status = {"incomplete": False, "resourceRules": [*rules, *OF_ITSELF], "nonResourceRules": []}
    assert all(fact.holds for fact in rights.of_rules({"shop": status}, EXPOSED))
    bound = {(one["kind"], one["roleRef"]["name"], one["metadata"].get("namespace")) for one in documents
             if one["kind"].endswith("Binding")}  # fmt: skip
    of_reader = {("ClusterRoleBinding", "counterseal-reader", None)} if everywhere else {
        ("RoleBinding", "counterseal-reader", "shop"), ("ClusterRoleBinding", "counterseal-reader-cluster", None),
    }  # fmt: skip
    assert bound == of_reader | {("ClusterRoleBinding", "counterseal-doctor", None)}
    assert roles["counterseal-doctor"][0]["resources"] == ["subjectaccessreviews"]
