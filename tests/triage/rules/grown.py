"""Cases that pass: the recorded ones, and twins of them through the other tools and shapes of the same families."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tests.triage.rules.cases import Case, both, edited, entry, put, recorded

TOOLS = frozenset((
    "kubectl_get", "kubectl_find_resource", "kubectl_events", "find_job", "list_job_attempts", "sidekiq_find_job",
    "celery_task_result", "celery_inspect_active", "prometheus_rules",
))  # fmt: skip
# Without these a pass stays one: what the systems leave out when it is zero, false, nothing or not told.
MAY_BE_LEFT_OUT = frozenset((
    "ready", "suspend", "continue", "lastHeartbeatTime", "lastEvaluation", "deprecatedLastTimestamp",
))  # fmt: skip

# Said in two places, or by two of three times: with one of them gone the other still holds.
SAID_TWICE = frozenset((
    ("sidekiq_job", "error_class"), ("sidekiq_job", "error_message"), ("workload_with_newer_events", "namespace"),
    ("workload_with_newer_events", "eventTime"), ("workload_with_newer_events", "lastObservedTime"),
))  # fmt: skip
# Answers that hold other things besides the subject: what those are called may change.
HOLD_OTHERS = frozenset(("job_in_a_list", "job_in_a_typed_list", "node_in_a_list", "job_found",
                         "workload_with_newer_events", "watchdog_among_others",
                         "celery_task_not_running_on_any_worker", "node_of_a_cloud"))  # fmt: skip
# Kubernetes writes null for a time that it keeps in another of its fields.
MAY_BE_NULL = frozenset(("eventTime", "lastObservedTime"))


def kube_job() -> Case:
    return recorded("k8s_job_completed_after_failed_pod")


def the_job(case: Case) -> Any:
    return entry(case, "a1")["result"]


def sibling(case: Case) -> Any:
    """Another run of the same schedule, which failed."""
    other = edited(case, lambda _: None)
    job = the_job(other)
    job["metadata"] |= {"name": "invoice-export-28561380", "uid": "9a"}
    job["status"] = {"conditions": [{"type": "Failed", "status": "True"}], "failed": 5}
    return job


def job_in_a_list(kind: str = "List", **meta: Any) -> Case:
    def edit(case: Case) -> None:
        api, items = "v1" if kind == "List" else "batch/v1", [sibling(case), the_job(case)]
        if kind != "List":
            items = [{key: part for key, part in item.items() if key not in ("kind", "apiVersion")} for item in items]
        call = entry(case, "a1")
        call["result"] = {"apiVersion": api, "kind": kind, "metadata": {"resourceVersion": "", **meta}, "items": items}
        call["args"] = {"kind": "jobs", "namespace": "billing"}

    return edited(kube_job(), edit)


def job_in_a_typed_list() -> Case:
    """As the API itself lists them: the items do not repeat what they are."""
    return job_in_a_list("JobList")


def job_found() -> Case:
    return edited(
        job_in_a_list(),
        both(
            lambda case: entry(case, "a1").update(tool="kubectl_find_resource"),
            put("a1 args", {"kind": "job", "keyword": "invoice-export-28561320"}),
        ),
    )


def job_of_three() -> Case:
    return edited(
        kube_job(),
        both(
            put("a1 result spec completions", 3),
            put("a1 result spec suspend", False),
            put("a1 result status succeeded", 3),
            put("a1 result status ready", 0),
            put("a1 result status conditions", [
                {"type": "SuccessCriteriaMet", "status": "True", "reason": "CompletionsReached"},
                {"type": "Complete", "status": "True", "reason": "CompletionsReached"},
            ]),
        ),
    )  # fmt: skip


def queue_job() -> Case:
    return recorded("job_succeeded_though_event_says_discarded")


def queue_job_by_number() -> Case:
    def edit(case: Case) -> None:
        number = 771_203_448
        case["incident"]["subject"] = {"job_id": number}
        entry(case, "a1")["args"] = {"id": number}
        entry(case, "a1")["result"]["job"]["id"] = number
        search = entry(case, "a2")["args"]
        search["expr"] = search["expr"].replace("c0a1f1b2-5b5e-49f7-a0f5-6f1de4c6a911", str(number))

    return edited(queue_job(), edit)


def sidekiq_job() -> Case:
    def edit(case: Case) -> None:
        jid = "b4a577edbccf1d805744efa9"
        case["incident"]["subject"] = {"jid": jid}
        call = entry(case, "a1")
        call["tool"], call["args"] = "sidekiq_find_job", {"jid": jid}
        call["result"] = {"jid": jid, "class": "ReportJob", "queue": "default", "status": "succeeded",
                          "retry_count": 1, "error_message": None, "error_class": None}  # fmt: skip
        search = entry(case, "a2")["args"]
        search["expr"] = search["expr"].replace("c0a1f1b2-5b5e-49f7-a0f5-6f1de4c6a911", jid)

    return edited(queue_job(), edit)


def celery_task() -> Case:
    """The task of the recorded case, which nobody started again."""
    case = recorded("celery_success_then_started_again")
    case["findings"] = [finding for finding in case["findings"] if finding["audit_id"] != "a3"]
    case["audit"] = [call for call in case["audit"] if call["id"] != "a3"]
    return case


def celery_task_not_running() -> Case:
    return edited(recorded("celery_success_then_started_again"), put("a3 result active", []))


def celery_task_not_running_on_any_worker() -> Case:
    other = {"id": "9c1e7c5a-0000-4000-8000-111111111111", "name": "reports.build", "time_start": Decimal("1.5")}
    return edited(
        recorded("celery_success_then_started_again"),
        both(put("a3 args", {}), put("a3 result", {"celery@worker-1": [], "celery@worker-2": [other]})),
    )


def shop_job() -> Case:
    """The demo's own tools."""

    def edit(case: Case) -> None:
        case["incident"] |= {"subject": {"job_id": 90412}, "error": "ReadTimeout", "job_kind": "settle_payouts"}
        entry(case, "a1")["args"] = {"job_id": 90412}
        entry(case, "a1")["result"] = {"job": {
            "job_id": 90412, "kind": "settle_payouts", "state": "succeeded", "attempts": 2, "locked_by": None,
            "started_at": "2026-03-03T09:00:40Z", "finished_at": "2026-03-03T09:01:02Z", "last_error": None,
        }}  # fmt: skip
        window = {"from": "2026-03-03T09:01:02Z", "to": "2026-03-03T15:12:00Z"}
        search = entry(case, "a2")
        search["tool"], search["args"] = (
            "count_errors",
            {"error": "ReadTimeout", "job_kind": "settle_payouts", **window},
        )
        search["result"] = {"error": "ReadTimeout", "job_kind": "settle_payouts", "window": window, "count": 0,
                            "scanned": 18204, "complete": True}  # fmt: skip

    return edited(queue_job(), edit)


def shop_job_with_attempts() -> Case:
    def edit(case: Case) -> None:
        call = edited(case, lambda _: None)["audit"][0] | {"id": "a4", "tool": "list_job_attempts"}
        call["result"] = {"attempts": [
            {"attempt": 1, "started_at": "2026-03-03T08:59:40Z", "ended_at": "2026-03-03T09:00:10Z",
             "outcome": "failed", "error": "ReadTimeout"},
            {"attempt": 2, "started_at": "2026-03-03T09:00:40Z", "ended_at": "2026-03-03T09:01:02Z",
             "outcome": "succeeded", "error": None},
        ], "total": 2}  # fmt: skip
        case["audit"].append(call)
        case["findings"].append({"fact": "job_completed", "audit_id": "a4"})

    return edited(shop_job(), edit)


def workload() -> Case:
    return recorded("single_restart_recovered")


def workload_without_events() -> Case:
    """Nothing was reported at all, and the list was asked for within the hour for which events are kept."""
    return edited(
        workload(),
        both(
            put("a2 result items", []),
            put("incident recurrence_period_s", 1800),
            put("a1 meta called_at", "2026-04-18T10:20:00Z"),
            put("a2 meta called_at", "2026-04-18T10:20:30Z"),
            put("incident decided_at", "2026-04-18T10:25:00Z"),
        ),
    )


def workload_with_newer_events() -> Case:
    """The events of events.k8s.io, by kubectl_get, with a Normal one after recovery."""
    old = {"metadata": {"name": "a.1", "namespace": "payments"}, "type": "Warning", "reason": "BackOff",
           "deprecatedLastTimestamp": None, "eventTime": "2026-04-18T09:20:00.000001Z",
           "series": {"count": 4, "lastObservedTime": "2026-04-18T09:24:50.123456Z"},
           "regarding": {"kind": "Pod", "namespace": "payments", "name": "payments-api-x"}}  # fmt: skip
    new = {"metadata": {"name": "b.1", "namespace": "payments"}, "type": "Normal", "reason": "Pulled",
           "eventTime": "2026-04-18T09:25:10.000001Z"}  # fmt: skip
    listed = {"apiVersion": "events.k8s.io/v1", "kind": "EventList", "metadata": {"continue": ""}, "items": [old, new]}
    return edited(
        workload(),
        both(
            lambda case: entry(case, "a2").update(tool="kubectl_get"),
            put("a2 args", {"kind": "events.events.k8s.io", "namespace": "payments", "output": "json"}),
            put("a2 result", listed),
        ),
    )


def node() -> Case:
    return recorded("node_condition_etcd_voter")


def node_of_a_cloud() -> Case:
    network = {"type": "NetworkUnavailable", "status": "False", "reason": "CalicoIsUp"}
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    return edited(
        node(),
        both(
            lambda case: entry(case, "a1")["result"]["status"]["conditions"].append(network),
            put("a1 result spec", {"taints": [taint], "podCIDR": "10.42.0.0/24"}),
        ),
    )


def node_in_a_list() -> Case:
    def edit(case: Case) -> None:
        call = entry(case, "a1")
        other = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "k3s02"}, "status": {"conditions": []}}
        call["args"] = {"kind": "nodes"}
        call["result"] = {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": [other, call["result"]]}

    return edited(node(), edit)


def autoscaler() -> Case:
    """An idle autoscaler at rest on its minimum, which a scanner reported."""
    conditions = [
        {"type": "AbleToScale", "status": "True", "reason": "ReadyForNewScale"},
        {"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound"},
        {"type": "ScalingLimited", "status": "True", "reason": "TooFewReplicas"},
    ]
    result = {
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "storefront", "namespace": "shop"},
        "spec": {"minReplicas": 2, "maxReplicas": 8, "scaleTargetRef": {"kind": "Deployment", "name": "storefront"}},
        "status": {"currentReplicas": 2, "desiredReplicas": 2, "conditions": conditions},
    }  # fmt: skip
    case = node()
    case |= {"name": "autoscaler_at_rest", "hypothesis": "hpa_limited_by_design"}
    case["findings"] = [
        {"fact": fact, "audit_id": "a1"} for fact in ("reason_is_too_few_replicas", "replicas_at_minimum")
    ]
    case["incident"]["subject"] = {"namespace": "shop", "hpa": "storefront"}
    call = entry(case, "a1")
    call["args"], call["result"] = {"kind": "hpa", "name": "storefront", "namespace": "shop"}, result
    return case


def autoscaler_of_one() -> Case:
    return edited(
        autoscaler(),
        both(*(put(f"a1 result {path}", 1) for path in
               ("spec minReplicas", "status currentReplicas", "status desiredReplicas"))),
    )  # fmt: skip


def watchdog() -> Case:
    return recorded("watchdog_always_firing")


def watchdog_among_others() -> Case:
    """A server that ignores the name lists every rule; two of them bear it."""
    other = {"type": "alerting", "name": "InstanceDown", "query": "up == 0", "state": "inactive", "health": "ok",
             "labels": {"severity": "page"}}  # fmt: skip

    def edit(case: Case) -> None:
        groups = entry(case, "a1")["result"]["data"]["groups"]
        second = dict(groups[0]["rules"][0]) | {
            "query": "vector(0)",
            "lastEvaluation": "2024-11-29T09:18:02.570123456Z",
        }
        groups += [{"name": "more.rules", "rules": [other, second]}, {"name": "empty.rules", "rules": []}]
        entry(case, "a1")["args"] = {"type": "alert"}

    return edited(watchdog(), edit)


def finished_job_repaired() -> Case:
    """The job that was given up, had it succeeded."""
    return edited(
        recorded("job_state_finished_means_discarded"),
        both(put("a1 result job state", "succeeded"), put("a1 result job error", None)),
    )


def failed_kube_job_repaired() -> Case:
    """The Job that gave up, had it come through, and its log been there."""
    return edited(
        recorded("k8s_job_backoff_limit_exceeded"),
        both(
            put("a1 result status conditions", [{"type": "Complete", "status": "True"}]),
            put("a1 result status succeeded", 1),
            put("a1 result status completionTime", "2025-05-29T10:44:14Z"),
            put("a2 result data stats summary totalLinesProcessed", 118),
        ),
    )


def old_scan_repaired() -> Case:
    """The Deployment, had it been asked for after the incident, with all events of its namespace."""
    old = {"type": "Warning", "reason": "Unhealthy", "count": 3, "lastTimestamp": "2025-04-30T08:59:30Z",
           "involvedObject": {"kind": "Pod", "name": "failed-deployment-probe-1", "namespace": "test"}}  # fmt: skip
    return edited(
        recorded("scan_result_older_than_incident"),
        both(
            put("a1 meta called_at", "2025-04-30T10:04:00Z"),
            put("a2 args", {"namespace": "test", "types": ["Warning"]}),
            put("a2 result items", [old]),
        ),
    )


EARNED: dict[str, Callable[[], Case]] = {
    built.__name__: built
    for built in (
        kube_job, job_in_a_list, job_in_a_typed_list, job_found, job_of_three, queue_job, queue_job_by_number,
        sidekiq_job, celery_task, node_in_a_list,
        celery_task_not_running, celery_task_not_running_on_any_worker, shop_job, shop_job_with_attempts, workload,
        workload_without_events, workload_with_newer_events, node, node_of_a_cloud, autoscaler, autoscaler_of_one,
        watchdog, watchdog_among_others, finished_job_repaired, failed_kube_job_repaired, old_scan_repaired,
    )
}  # fmt: skip
