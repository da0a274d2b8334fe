"""One thing wrong in a case that passes: each of these is a way in which such a rule has let something through."""

from __future__ import annotations

from typing import Any

import pytest

from gate.triage.outcomes import Fail
from tests.triage.rules import cases, grown
from tests.triage.rules.cases import Edit, both, entry, put

LATE = "2026-05-05T09:00:00Z"


def condition(kind: str, status: Any = "True", **more: Any) -> Edit:
    """One condition more on the object of a1."""

    def edit(case: cases.Case) -> None:
        at = entry(case, "a1")["result"]["status"]["conditions"]
        at.append({"type": kind, "status": status, "reason": "X", **more})

    return edit


def event(**changes: Any) -> Edit:
    """One event more in the list of a2."""

    def edit(case: cases.Case) -> None:
        items = entry(case, "a2")["result"]["items"]
        items.append({**items[0], "lastTimestamp": "2026-04-18T10:00:00Z", **changes})

    return edit


def second_rule(**changes: Any) -> Edit:
    """One more rule of the same name, in a group of its own."""

    def edit(case: cases.Case) -> None:
        groups = entry(case, "a1")["result"]["data"]["groups"]
        groups.append({"name": "other", "rules": [{**groups[0]["rules"][0], **changes}]})

    return edit


KUBE_JOB = [
    put("a1 args name", "invoice-export-28561380"),
    put("a1 args name", "invoice-export-2856132"),
    put("a1 args namespace", "billing-staging"),
    put("a1 args namespace"),
    put("a1 args kind", "cronjob"),
    put("a1 args kind", "pod"),
    put("a1 args context", "staging"),
    put("a1 args resource_name", "invoice-export-28561380"),
    put("a1 args resource", "pod"),
    put("a1 args ns", "billing-staging"),
    put("a1 args resourceVersion", "0"),
    put("a1 args label_selector", "status=done"),
    put("a1 args field_selector", "status.successful=1"),
    put("a1 args output", "jsonpath"),
    put("incident subject cluster", "eu-2"),
    put("incident subject uid", "another"),
    put("incident subject job", "invoice-export-28561380"),
    put("incident subject job_name", "invoice-export-28561320"),
    put("incident subject name", "invoice-export-28561380"),
    both(put("incident subject name", "invoice-export-28561320"), put("incident subject kind", "Job")),
    put("incident subject", {"namespace": "billing", "kind": "CronJob", "name": "invoice-export-28561320"}),
    put("incident subject limit", 5),
    put("a1 result metadata name", "invoice-export-28561380"),
    put("a1 result metadata namespace", "billing-staging"),
    put("a1 result metadata deletionTimestamp", "2026-05-05T08:00:00Z"),
    put("a1 result kind", "CronJob"),
    put("a1 result kind", "Status"),
    put("a1 result apiVersion", "batch/v1beta1"),
    put("a1 result spec completions", 2),
    put("a1 result spec completions", 0),
    put("a1 result spec completions", True),
    put("a1 result spec suspend", True),
    put("a1 result status succeeded", 0),
    put("a1 result status active", 1),
    put("a1 result status active", -1),
    put("a1 result status ready", 1),
    put("a1 result status terminating", 1),
    put("a1 result status completionTime", "2026-05-05T01:59:00Z"),  # before the incident: an earlier run
    put("a1 result status completionTime", LATE),
    put("a1 result status completionTime", "2026-05-05T02:03:11"),
    put("a1 result status conditions", []),
    put("a1 result status conditions 0 status", "True "),
    put("a1 result status conditions 0 status", "true"),
    put("a1 result status conditions 0 status", True),
    put("a1 result status conditions 0 status", "Unknown"),
    put("a1 result status conditions 0 type", "Completed"),
    put("a1 result status conditions 0 type", "complete"),
    condition("Complete", "False"),
    condition("Complete"),
    condition("Failed"),
    condition("Failed", "Unknown"),
    condition("FailureTarget"),
    condition("Suspended"),
    condition("SuccessCriteriaMet", "False"),
    condition("Retrying"),
]
IN_A_LIST = [
    put("a1 result items", []),
    put("a1 result kind", "PodList"),
    put("a1 result kind", "JobList"),
    put("a1 result metadata continue", "eyJ2IjoibWV0YS5"),
    put("a1 result metadata remainingItemCount", 3),
    put("a1 args limit", 2),
    put("a1 result items 1 metadata name", "invoice-export-28561380"),
    put("a1 result items 0 metadata name", "invoice-export-28561320"),  # the same name twice
    both(
        put("a1 result items 0 metadata name", "invoice-export-28561320"),
        lambda case: entry(case, "a1")["result"]["items"].reverse(),
    ),
    put("a1 result items 1 metadata namespace", "other"),
    put("a1 result items 1 kind", "CronJob"),
    put("a1 result items 1 status conditions 0 type", "Failed"),
    put("a1 args namespace", "default"),
]
QUEUE = [
    put("a1 args job_id", "c0a1f1b2-5b5e-49f7-a0f5-6f1de4c6a912"),
    put("a1 args", {"id": 1}),
    put("a1 args", {}),
    put("a1 args state", "succeeded"),
    put("a1 args queue", "reports"),
    put("incident subject queue", "reports"),
    put("a1 result job id", "c0a1f1b2-5b5e-49f7-a0f5-6f1de4c6a912"),
    put("a1 result job", None),
    put("a1 result job", []),
    put("a1 result error", "the queue was not reachable"),
    *(put("a1 result job state", state) for state in ("finished", "discarded", "running", "Succeeded", "done")),
    put("a1 result job state", "succeeded "),
    put("a1 result job state", ["succeeded"]),
    put("a1 result job status", "failed"),  # two states
    put("a1 result job error", "Net::ReadTimeout"),
    put("a1 result job error", ""),
    put("a1 result job error"),
    put("a1 result job last_error", "Net::ReadTimeout"),
    put("a1 result job finished_at", None),
    put("a1 result job finished_at", "2026-03-03T08:59:59Z"),
    put("a1 result job finished_at", "2026-03-03T16:00:00Z"),
]  # fmt: skip
SIDEKIQ = [
    put("a1 result", None),
    put("a1 result", {"job": None}),
    put("a1 result", {"queue": None, "retry": None, "dead": None}),
    *(put("a1 result status", status) for status in ("complete", "dead", "retrying", "failed", "interrupted", "ok")),
    put("a1 result jid", "b4a577edbccf1d805744efaa"),
    put("a1 args jid", "b4a577edbccf1d805744efaa"),
    put("a1 result error_message", "execution expired"),
    put("a1 result error_class", "Net::ReadTimeout"),
    put("a1 result finished_at", "2026-03-03T08:00:00Z"),
    put("incident subject jid", "b4a577edbccf1d805744efaa"),
    put("a1 result id", "b4a577edbccf1d805744efa9"),  # two ids
]
CELERY = [
    *(put("a1 result status", status) for status in ("PENDING", "STARTED", "RETRY", "FAILURE", "success", "OK")),
    put("a1 result state", "FAILURE"),  # two states
    put("a1 result traceback", "Traceback (most recent call last):"),
    put("a1 result traceback"),
    put("a1 result error", "backend lost"),
    put("a1 result task_id", "3f1c9a52-7d2b-4e1a-9a34-7a2f3b1b2f11"),
    put("a1 args task_id", "3f1c9a52-7d2b-4e1a-9a34-7a2f3b1b2f11"),
    put("a1 args timeout", 0),
    put("a1 result date_done", "2021-07-23T08:10:00"),
    put("a1 result date_done", "2021-07-23T07:10:00Z"),  # an earlier run of the same task
    put("a1 result date_done", "2021-07-23T15:10:00Z"),
    put("a1 result date_done"),
]  # fmt: skip
RUNNING_AGAIN = [
    put("a3 result active", [{"id": "3f1c9a52-7d2b-4e1a-9a34-7a2f3b1b2f10"}]),
    put("a3 result active", [{"name": "reports.build"}]),
    put("a3 result active", None),
    put("a3 result", {}),
    put("a3 result", None),
    put("a3 result", []),
    put("a3 args destination", ["celery@worker-1"]),
    put("a3 args task_id", "another"),
    put("a1 result status", "STARTED"),
    lambda case: case["findings"].remove({"fact": "job_completed", "audit_id": "a1"}),  # not running is not done
]
SHOP = [
    put("a1 result job job_id", 90413),
    put("a1 result job job_id", "90412"),
    put("a1 args job_id", "90412"),
    put("a1 result job id", 90412),  # two shapes in one
    put("a1 result job", None),
    put("a1 result job state", "running"),
    put("a1 result job state", "finished"),
    put("a1 result job last_error", "ReadTimeout"),
    put("a1 result job last_error"),
    put("a1 result job finished_at", None),
    put("a1 result job finished_at", "2026-03-03T09:00:00Z"),
    put("a2 result count", 1),
    put("a2 result scanned", 0),
    put("a2 result complete", False),
]
ATTEMPTS = [
    put("a4 result total", 3),
    put("a4 result attempts", []),
    both(put("a4 result attempts", []), put("a4 result total", 0)),
    put("a4 result attempts 1 outcome", "failed"),
    put("a4 result attempts 1 outcome", "running"),
    put("a4 result attempts 1 error", "ReadTimeout"),
    put("a4 result attempts 0 started_at", "2026-03-03T09:10:00Z"),  # the failed one came last
    put("a4 result attempts 0 started_at", None),
    put("a4 result attempts 1 ended_at", None),
    put("a4 args job_id", 90413),
    lambda case: case["findings"].remove({"fact": "job_completed", "audit_id": "a1"}),
]
WORKLOAD = [
    put("a1 args kind", "statefulset"),
    put("a1 args name", "payments-api-canary"),
    put("a1 args namespace", "payments-staging"),
    put("a1 args name"),
    put("a1 result metadata name", "payments-api-canary"),
    put("a1 result metadata namespace", "payments-staging"),
    put("a1 result metadata generation", 8),
    put("a1 result status observedGeneration", 6),
    put("a1 result metadata deletionTimestamp", "2026-04-18T10:30:00Z"),
    put("a1 result apiVersion", "extensions/v1beta1"),
    put("a1 result kind", "StatefulSet"),
    put("a1 result spec replicas", 0),
    put("a1 result spec replicas", 4),
    put("a1 result spec paused", True),
    put("a1 result status replicas", 4),
    put("a1 result status updatedReplicas", 2),
    put("a1 result status readyReplicas", 2),
    put("a1 result status availableReplicas"),
    put("a1 result status unavailableReplicas", 1),
    both(
        put("a1 result spec replicas", 0),
        *(put(f"a1 result status {name}", 0) for name in ("replicas", "updatedReplicas", "readyReplicas")),
        put("a1 result status availableReplicas", 0),
    ),
    put("a1 result status conditions 0 status", "False"),
    put("a1 result status conditions 1 status", "Unknown"),
    put("a1 result status conditions 1 status", "False"),
    put("a1 result status conditions 0 status", True),
    put("a1 result status conditions", []),
    condition("ReplicaFailure"),
    condition("Available", "False"),
    condition("Degraded"),
    put("a1 meta called_at", "2026-04-18T09:24:59Z"),
    both(put("incident freshness_s", 7200), put("a1 meta called_at", "2026-04-18T09:24:59Z")),  # before recovery
    put("incident subject cluster", "eu-2"),
]
EVENTS = [
    event(),
    event(lastTimestamp="2026-04-18T09:25:00Z"),
    event(lastTimestamp=None),
    event(lastTimestamp=None, eventTime="2026-04-18T09:50:00.000000Z"),
    event(lastTimestamp="2026-04-18T09:24:50Z", series={"count": 9, "lastObservedTime": "2026-04-18T10:29:00.000000Z"}),
    event(lastTimestamp="2026-04-18 10:00:00"),
    event(type="Error"),
    event(type="warning"),
    event(type=None),
    event(involvedObject={"kind": "Pod", "name": "x", "namespace": "other"}),
    event(involvedObject={"kind": "Pod", "name": "x"}),
    put("a2 result items", []),  # 66 minutes later nothing shows that events are kept for so long
    put("a2 result items", None),
    put("a2 result items 0 lastTimestamp", None),
    put("a2 result items 0 involvedObject"),
    put("a2 result kind", "PodList"),
    put("a2 result kind", "Table"),
    put("a2 result apiVersion", "v2"),
    put("a2 result metadata continue", "eyJ2IjoibWV0YS5"),
    put("a2 result metadata remainingItemCount", 1),
    put("a2 args namespace", "default"),
    put("a2 args namespace"),
    put("a2 args namespace", None),
    put("a2 args for", "deployment/payments-api"),
    put("a2 args types", ["Normal"]),
    put("a2 args types", []),
    put("a2 args types", "Normal"),
    put("a2 args type", "Normal"),
    put("a2 args field_selector", "reason=Killing"),
    put("a2 args field_selector", "type!=Warning"),
    put("a2 args label_selector", "app=payments-api"),
    put("a2 args name", "payments-api"),
    put("a2 args kind", "pod"),
    put("a2 args limit", 1),
    put("a2 args since", "10m"),
    put("a2 args context", "staging"),
    put("a2 meta called_at", "2026-04-18T10:24:59Z"),  # before it had time to happen again
]
OTHER_EVENTS = [
    put("a2 args kind", "pods"),
    put("a2 args kind", "events,pods"),
    put("a2 args kind", "events/b.1"),
    put("a2 args kind"),
    put("a2 args output", "name"),
    put("a2 result items 0 series lastObservedTime", "2026-04-18T09:25:00.000000Z"),
    put("a2 result items 0 deprecatedLastTimestamp", "2026-04-18T09:30:00Z"),
    put("a2 result items 1 type", "Warning"),
    put("a2 result items 1 type"),
    put("a2 result items 1 eventTime", None),
    put("a2 result items 1 metadata namespace", "other"),
    put("a2 result apiVersion", "events.k8s.io/v2"),
]
NO_EVENTS = [
    put("a2 meta called_at", "2026-04-18T10:25:00.5Z"),  # an hour and a moment: gone by then
    put("incident recurrence_period_s", 3600),
    put("a2 args for", "deployment/payments-api"),
]
NODE = [
    put("a1 args name", "k3s02"),
    put("a1 args kind", "pod"),
    put("a1 args namespace", "default"),
    put("a1 result metadata name", "k3s02"),
    put("a1 result kind", "Pod"),
    put("a1 result apiVersion", "v2"),
    put("incident subject node", "k3s02"),
    put("incident subject cluster", "edge"),
    put("incident subject condition", "NetworkUnavailable"),
    *(put(f"a1 result status conditions {number}") for number in range(5)),
    *(put(f"a1 result status conditions {number} status", "Unknown") for number in range(5)),
    *(put(f"a1 result status conditions {number} status", "True") for number in (1, 2, 3)),
    put("a1 result status conditions 0 status", "False"),
    put("a1 result status conditions 4 status", "False"),
    put("a1 result status conditions 4 status", True),
    put("a1 result status conditions 4 lastHeartbeatTime", "2024-06-24T20:50:00Z"),
    put("a1 result status conditions 4 lastHeartbeatTime", "2024-06-24T22:00:00Z"),
    condition("Ready", "False"),
    condition("DiskPressure", "False"),
    condition("KernelDeadlock"),
    condition("KernelDeadlock", "False"),
    condition("NetworkUnavailable"),
    put("a1 result spec", {"unschedulable": True}),
    put("a1 result spec", {"unschedulable": "false"}),
    put("a1 result spec", {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}),
    put("a1 result spec", {"taints": [{"effect": "NoExecute"}]}),
]
AUTOSCALER = [
    put("a1 args name", "storefront-canary"),
    put("a1 args namespace", "shop-staging"),
    put("a1 args kind", "deployment"),
    put("a1 result metadata name", "storefront-canary"),
    put("a1 result metadata namespace", "shop-staging"),
    put("a1 result apiVersion", "autoscaling/v1"),
    put("a1 result kind", "Deployment"),
    put("a1 result spec minReplicas"),
    put("a1 result spec minReplicas", 1),
    put("a1 result spec maxReplicas", 1),
    put("a1 result status currentReplicas", 3),
    put("a1 result status desiredReplicas", 3),
    put("a1 result status desiredReplicas", 1),
    both(
        put("a1 result spec minReplicas", 0), put("a1 result status currentReplicas", 0),
        put("a1 result status desiredReplicas", 0),
    ),
    put("a1 result status conditions 2 reason", "TooManyReplicas"),
    put("a1 result status conditions 2 reason", "DesiredWithinRange"),
    put("a1 result status conditions 2 reason", "TooFewReplicas "),
    put("a1 result status conditions 2 status", "False"),
    put("a1 result status conditions 2 status", True),
    put("a1 result status conditions 2"),
    put("a1 result status conditions 1 status", "False"),
    put("a1 result status conditions 0 status", "Unknown"),
    put("a1 result status conditions", []),
    condition("ScalingLimited", "True"),
    condition("Paused"),
    both(put("a1 result metadata generation", 4), put("a1 result status observedGeneration", 3)),
    put("incident subject cluster", "eu-2"),
    put("incident subject", {"namespace": "shop", "name": "storefront"}),
    put("incident subject horizontalpodautoscaler", "backoffice"),
    put("incident subject", {"namespace": "shop", "kind": "Deployment", "name": "storefront"}),
]  # fmt: skip
RULE = "a1 result data groups 0 rules 0"
WATCHDOG = [
    put("a1 args rule_name[]", "InstanceDown"),
    put("a1 args rule_name[]", ["Watchdog", "InstanceDown"]),
    put("a1 args rule_name[]", []),
    put("a1 args type", "record"),
    put("incident subject type", "record"),
    put("a1 args rule_group[]", "general.rules"),
    put("a1 args match[]", '{severity="none"}'),
    put("a1 args group_limit", 1),
    put("incident subject alertname", "InstanceDown"),
    put("incident subject cluster", "eu-2"),
    put("incident subject severity", "critical"),
    put("a1 result status", "error"),
    put("a1 result warnings", ["store 2 did not answer"]),
    put("a1 result error", "timed out"),
    put("a1 result data groupNextToken", "abc"),
    put("a1 result data groups", []),
    put(f"{RULE} name", "watchdog"),
    put(f"{RULE} query", "up == 0"),
    put(f"{RULE} query", "vector(1) unless up"),
    put(f"{RULE} query", "vector(time())"),
    put(f"{RULE} query", "vector(NaN)"),
    put(f"{RULE} query", "vector(1"),
    put(f"{RULE} query", "vector(１)"),
    put(f"{RULE} query", "absent(vector(1))"),
    put(f"{RULE} labels severity", "None"),
    put(f"{RULE} labels severity", "page"),
    put(f"{RULE} labels severity"),
    put(f"{RULE} labels", {}),
    put(f"{RULE} state", "inactive"),
    put(f"{RULE} state", "pending"),
    put(f"{RULE} health", "err"),
    put(f"{RULE} health", "unknown"),
    put(f"{RULE} type", "recording"),
    put(f"{RULE} lastEvaluation", "2024-11-29T07:18:02.57Z"),
    put(f"{RULE} lastEvaluation", "0001-01-01T00:00:00Z"),
    second_rule(query="up == 0"),
    second_rule(labels={"severity": "page"}),
    second_rule(type="recording"),
]

TABLES = {
    "kube_job": KUBE_JOB, "job_in_a_list": IN_A_LIST, "queue_job": QUEUE, "sidekiq_job": SIDEKIQ,
    "celery_task": CELERY, "celery_task_not_running": RUNNING_AGAIN, "shop_job": SHOP,
    "shop_job_with_attempts": ATTEMPTS, "workload": [*WORKLOAD, *EVENTS], "workload_without_events": NO_EVENTS,
    "workload_with_newer_events": OTHER_EVENTS, "node": NODE, "autoscaler": AUTOSCALER, "watchdog": WATCHDOG,
}  # fmt: skip
ROWS = [
    pytest.param(name, edit, id=f"{name}-{number}")
    for name, edits in TABLES.items()
    for number, edit in enumerate(edits)
]


@pytest.mark.parametrize(("name", "edit"), ROWS)
def test_it_fails_with_a_sentence(name: str, edit: Edit) -> None:
    verdict = cases.decide(cases.edited(grown.EARNED[name](), edit))
    assert isinstance(verdict, Fail)
    assert verdict.reasons
    assert all(reason.sentence.endswith(".") for reason in verdict.reasons)


MORE = {
    "kube_job": put("a1 result status conditions 0 status", "False"),
    "queue_job": put("a1 result job state", "discarded"),
    "celery_task": put("a1 result status", "STARTED"),
    "shop_job": put("a1 result job", None),
    "workload": put("a1 result status readyReplicas", 1),
    "node": put("a1 result status conditions 4 status", "Unknown"),
    "autoscaler": put("a1 result status conditions 2 reason", "TooManyReplicas"),
    "watchdog": put("a1 result data groups 0 rules 0 labels severity", "page"),
}


@pytest.mark.parametrize("name", sorted(MORE))
def test_a_later_answer_that_says_otherwise_takes_the_pass_away(name: str) -> None:
    """Cited or not: asking until it gets green is not evidence."""
    case = grown.EARNED[name]()
    later = {**entry(cases.edited(case, MORE[name]), "a1"), "id": "z9"}
    later["meta"] = {
        **later["meta"],
        "called_at": entry(case, "a2" if len(case["audit"]) > 1 else "a1")["meta"]["called_at"],
    }
    case["audit"].append(later)
    verdict = cases.decide(case)
    assert isinstance(verdict, Fail)
    assert [reason.code for reason in verdict.reasons] == ["contradicted_later"], cases.sentences(verdict)


def test_a_later_look_at_what_runs_takes_the_pass_away() -> None:
    case = grown.celery_task()
    running = cases.recorded("celery_success_then_started_again")["audit"][2]
    case["audit"].append(running)
    assert "the task is running" in cases.sentences(cases.decide(case))


def test_a_later_list_of_narrower_events_takes_the_pass_away() -> None:
    """Events of one object do not show that the namespace is quiet, but they do show that it is not."""
    case = grown.workload()
    narrower = entry(cases.edited(case, both(event(), put("a2 args for", "pod/payments-api-x"))), "a2")
    case["audit"].append({**narrower, "id": "z9"})
    assert "a Warning was reported" in cases.sentences(cases.decide(case))


def test_a_later_answer_about_another_job_changes_nothing() -> None:
    case = grown.kube_job()
    other = entry(
        cases.edited(
            case,
            both(
                put("a1 args name", "invoice-export-28561380"),
                put("a1 result metadata name", "invoice-export-28561380"),
                put("a1 result status conditions 0 type", "Failed"),
            ),
        ),
        "a1",
    )
    case["audit"].append({**other, "id": "z9"})
    assert cases.sentences(cases.decide(case)) == ""


def two_workloads() -> cases.Case:
    """Two Deployments of one namespace in one incident: each has its own answer, and they share the events."""
    case = grown.workload()
    case["incident"]["members"] = [{"namespace": "payments", "deployment": "ledger-api"}]
    other = entry(
        cases.edited(case, both(put("a1 args name", "ledger-api"), put("a1 result metadata name", "ledger-api"))), "a1"
    )
    case["audit"].append({**other, "id": "a3"})
    case["findings"].append({"fact": "workload_ready", "audit_id": "a3"})
    return case


def test_each_member_of_an_incident_is_shown() -> None:
    assert cases.sentences(cases.decide(two_workloads())) == ""


@pytest.mark.parametrize(
    "edit",
    [
        put("a3 result status readyReplicas", 2),
        put("a1 result status readyReplicas", 2),
        put("a3 result metadata name", "payments-api"),
        put("a3 args namespace", "payments-staging"),
        put("incident undelivered", 1),
        lambda case: case["findings"].remove({"fact": "workload_ready", "audit_id": "a3"}),
        event(involvedObject={"kind": "Pod", "name": "ledger-api-x", "namespace": "payments"}),
    ],
)
def test_one_member_that_is_not_shown_takes_the_pass_away(edit: Edit) -> None:
    assert isinstance(cases.decide(cases.edited(two_workloads(), edit)), Fail)
