"""The same question in other words passes, and so does the same answer in the other shapes of its family."""

from __future__ import annotations

from typing import Any

import pytest

from gate.triage.outcomes import Fail, Pass
from gate.triage.readers.document import Unreadable
from gate.triage.readers.kube_events import KubeEvents
from gate.triage.readers.kube_jobs import JOB, KubeJob
from gate.triage.readers.prometheus_rules import PrometheusRules
from gate.triage.rules.transient_failure_recovered import v2
from tests.triage.rules import cases, grown
from tests.triage.rules.cases import Case, both, entry, put
from tests.triage.worlds import at, call

NAME, NS = "invoice-export-28561320", "billing"
NAMED = {"name": NAME, "namespace": NS}
ASKED: dict[str, list[tuple[str, Any]]] = {
    "kube_job": [
        *(("a1 args", {"kind": kind, **NAMED}) for kind in JOB.asked_as),
        *(("a1 args", {key: "job", **NAMED}) for key in ("resource", "resource_type", "resourceType")),
        ("a1 args", {"kind": "job", "name": NAME, "ns": NS}),
        ("a1 args", {"resource": f"job/{NAME}", "namespace": NS}),
        ("a1 args", {"resource": f"jobs.batch/{NAME}", "namespace": NS}),
        ("a1 args", {"kind": "job", **NAMED, "output": "json"}),
        ("a1 args", {"kind": "job", **NAMED, "selector": None, "all_namespaces": False}),
        ("a1 args", {"kind": "job", **NAMED, "field_selector": f"metadata.name={NAME}"}),
        ("incident subject", {"namespace": NS, "job_name": NAME, "alertname": "KubeJobFailed", "severity": "warning"}),
    ],
    "job_in_a_list": [
        ("a1 args", {"kind": "jobs", "all_namespaces": True}),
        ("a1 args", {"kind": "jobs", "namespace": NS, "field_selector": f"metadata.name={NAME}"}),
        ("a1 args", {"kind": "jobs", "namespace": NS, "label_selector": f"job-name={NAME}"}),
        ("a1 args", {"kind": "jobs", "namespace": NS, "selector": f"batch.kubernetes.io/job-name={NAME}"}),
        ("a1 args", {"kind": "jobs", "namespace": NS, "limit": 500}),
        ("a1 result metadata", {"continue": "", "remainingItemCount": 0}),
    ],
    "job_found": [
        ("a1 args", {"kind": "jobs", "keyword": NAME, "namespace": NS}),
        ("a1 args", {"kind": "job", "name": NAME}),
    ],
    "queue_job": [
        ("incident began_at", "2026-03-03T09:01:02Z"),
        ("a1 args", {"id": "c0a1f1b2-5b5e-49f7-a0f5-6f1de4c6a911"}),
    ],
    "sidekiq_job": [("a1 args", {"job_id": "b4a577edbccf1d805744efa9"})],
    "celery_task": [("a1 result error", None), ("a1 result result", {"error": "none of ours"})],
    "workload": [
        ("a1 args", {"kind": "deploy", "name": "payments-api", "namespace": "payments"}),
        ("a1 args", {"kind": "deployments.apps", "name": "payments-api", "namespace": "payments"}),
        ("a1 result status unavailableReplicas", 0),
        ("a1 result spec paused", False),
        ("incident subject pod", "payments-api-7f9dd8b6c4-x7gr9"),
        ("a2 args", {"namespace": "payments"}),
        ("a2 args", {"namespace": "payments", "types": ["Warning", "Normal"]}),
        ("a2 args", {"namespace": "payments", "types": "Warning"}),
        ("a2 args", {"namespace": "payments", "type": "Warning", "limit": 500}),
        ("a2 args", {"namespace": "payments", "field_selector": "type!=Normal"}),
        ("a2 args", {"all_namespaces": True}),
        ("a2 args", {"namespace": "payments", "for": None}),
        ("a2 result kind", "List"),
        ("a2 result items 0", {"type": "Normal", "lastTimestamp": "2026-04-18T09:25:00Z",
                               "involvedObject": {"namespace": "payments"}}),
    ],
    "node": [
        ("a1 args", {"kind": "nodes", "name": "k3s01"}),
        ("a1 args", {"resource": "node/k3s01"}),
        ("a1 args", {"kind": "node", "name": "k3s01", "context": None}),
        ("a1 result status conditions 4 lastHeartbeatTime", cases.DROP),
        ("incident subject condition", "EtcdIsVoter"),
        ("incident subject", {"kind": "Node", "name": "k3s01"}),
        ("a1 result spec", {"unschedulable": False}),
    ],
    "autoscaler": [
        ("a1 args kind", "horizontalpodautoscaler"),
        ("a1 args kind", "horizontalpodautoscalers.autoscaling"),
        ("a1 result apiVersion", "autoscaling/v2beta2"),
        ("a1 result metadata generation", 3),
        ("incident subject", {"namespace": "shop", "horizontalpodautoscaler": "storefront"}),
        ("incident subject", {"namespace": "shop", "kind": "HorizontalPodAutoscaler", "name": "storefront"}),
    ],
    "watchdog": [
        ("a1 args", {}),
        ("a1 args", {"rule_name": "Watchdog"}),
        ("a1 args", {"rule_name[]": ["Watchdog"], "type": "alert", "exclude_alerts": True}),
        ("a1 result warnings", []),
        ("a1 result data groups 0 rules 0 lastEvaluation", cases.DROP),
        ("a1 result data groupNextToken", ""),
        ("incident subject severity", "none"),
    ],
}  # fmt: skip
ROWS = [
    pytest.param(name, path, value, id=f"{name}: {path} = {value}")
    for name, rows in ASKED.items()
    for path, value in rows
]


@pytest.mark.parametrize(("name", "path", "value"), ROWS)
def test_it_still_passes(name: str, path: str, value: Any) -> None:
    verdict = cases.decide(cases.edited(grown.EARNED[name](), put(path, value)))
    assert isinstance(verdict, Pass), cases.sentences(verdict)


def test_a_cluster_that_the_subject_and_both_questions_name_is_the_same_cluster() -> None:
    named = both(
        put("incident subject cluster", "eu-2"), put("a1 args cluster", "eu-2"),
    )  # fmt: skip
    assert cases.sentences(cases.decide(cases.edited(grown.node(), named))) == ""
    elsewhere = both(named, put("a1 args cluster", "eu-1"))
    assert "`cluster` is not that of the incident." in cases.sentences(
        cases.decide(cases.edited(grown.node(), elsewhere))
    )


def test_the_events_of_other_namespaces_are_others() -> None:
    def everywhere(case: Case) -> None:
        found = entry(case, "a2")
        found["args"] = {"all_namespaces": True}
        other = {**found["result"]["items"][0], "lastTimestamp": "2026-04-18T10:00:00Z"}
        found["result"]["items"].append(other | {"involvedObject": {"kind": "Pod", "name": "x", "namespace": "other"}})

    assert cases.sentences(cases.decide(cases.edited(grown.workload(), everywhere))) == ""


# One row per marker: what a family says when its answer is not all there is.
KUBE_MARKERS = [
    ("continue", "eyJ2IjoibWV0YS5"),
    ("continue", None),
    ("remainingItemCount", 1),
    ("remainingItemCount", "0"),
]
RULE_MARKERS = [
    ("groupNextToken", "abc"), ("warnings", ["one store did not answer"]), ("error", "timed out"),
    ("errorType", "timeout"),
]  # fmt: skip


@pytest.mark.parametrize(("marker", "value"), KUBE_MARKERS)
def test_a_list_of_kubernetes_that_goes_on_is_unreadable(marker: str, value: Any) -> None:
    cut = {"apiVersion": "v1", "kind": "List", "metadata": {marker: value}, "items": []}
    for answer in (
        KubeJob(call(1, "kubectl_get", {}, cut, at(1, 0))),
        KubeEvents(call(1, "kubectl_get", {}, cut, at(1, 0))),
    ):
        with pytest.raises(Unreadable):
            answer.complete()
    whole = cut | {"metadata": {"resourceVersion": "7"}}
    assert KubeEvents(call(1, "kubectl_get", {}, whole, at(1, 0))).complete() is True


@pytest.mark.parametrize(("marker", "value"), RULE_MARKERS)
def test_a_part_of_the_rules_is_unreadable(marker: str, value: Any) -> None:
    cut: dict[str, Any] = {"status": "success", "data": {"groups": []}}
    assert PrometheusRules(call(1, "prometheus_rules", {}, cut, at(1, 0))).complete() is True
    (cut["data"] if marker == "groupNextToken" else cut)[marker] = value
    with pytest.raises(Unreadable):
        PrometheusRules(call(1, "prometheus_rules", {}, cut, at(1, 0))).complete()


FOUND = [
    ("find_job", {"job": {"job_id": 7}}, "FindJob"),
    ("find_job", {"job": None}, "FindJob"),
    ("find_job", {"job": {"id": 7}}, "QueueJob"),
    ("find_job", {"job": {"jid": "7"}}, "QueueJob"),
    ("sidekiq_find_job", {"job": None}, "QueueJob"),
    ("sidekiq_find_job", None, "QueueJob"),
    ("celery_task_result", None, "CeleryResult"),
    ("celery_inspect_active", None, "CeleryActive"),
    ("kubectl_find_resource", None, "KubeJob"),
    ("list_job_attempts", None, "ListJobAttempts"),
]


@pytest.mark.parametrize(("tool", "result", "reader"), FOUND)
def test_one_reader_takes_each_shape(tool: str, result: Any, reader: str) -> None:
    assert v2.JOB.read(call(1, tool, {}, result, at(1, 0))).__class__.__name__ == reader


def test_a_job_of_two_shapes_is_taken_by_no_reader() -> None:
    with pytest.raises(Unreadable, match="no reader, or more than one"):
        v2.JOB.read(call(1, "find_job", {}, {"job": {"id": 7, "job_id": 7}}, at(1, 0)))


# The last moment that still counts, and the first that does not.
EDGES = [
    ("queue_job", "a1 result job finished_at", "2026-03-03T09:00:11Z", "2026-03-03T09:00:10.999Z"),
    ("queue_job", "a1 result job finished_at", "2026-03-03T15:10:12Z", "2026-03-03T15:10:12.001Z"),
    ("workload", "a2 meta called_at", "2026-04-18T10:25:01Z", "2026-04-18T10:25:00.999Z"),  # the period and the lag
    ("workload", "a1 meta called_at", "2026-04-18T10:05:00Z", "2026-04-18T10:04:59.999Z"),  # freshness
    (
        "workload_without_events",
        "a2 meta called_at",
        "2026-04-18T10:25:00Z",
        "2026-04-18T10:25:00.001Z",
    ),  # kept for 1 h
    ("workload_without_events", "incident recurrence_period_s", 3329, 3330),
    ("workload_with_newer_events", "a2 result items 1 eventTime", "2026-04-18T09:25:00Z", None),
    ("node", "a1 result status conditions 4 lastHeartbeatTime", "2024-06-24T20:56:40Z", "2024-06-24T20:56:39Z"),
    ("node", "a1 result status conditions 4 lastHeartbeatTime", "2024-06-24T21:06:45Z", "2024-06-24T21:06:46Z"),
    ("watchdog", "a1 result data groups 0 rules 0 lastEvaluation", "2024-11-29T09:08:30Z", "2024-11-29T09:08:29Z"),
    ("watchdog", "a1 result data groups 0 rules 0 lastEvaluation", "2024-11-29T09:18:35Z", "2024-11-29T09:18:36Z"),
    ("autoscaler", "a1 result spec maxReplicas", 2, 1),
    ("kube_job", "a1 result spec completions", 1, 0),
    ("job_in_a_list", "a1 args limit", 3, 2),
]


@pytest.mark.parametrize(("name", "path", "last", "first"), EDGES)
def test_a_bound_is_exactly_where_it_is(name: str, path: str, last: Any, first: Any) -> None:
    case = cases.edited(
        grown.EARNED[name](), put("incident decided_at", "2026-04-18T10:35:00Z") if "work" in name else both()
    )
    assert cases.sentences(cases.decide(cases.edited(case, put(path, last)))) == ""
    assert isinstance(cases.decide(cases.edited(case, put(path, first))), Fail)
