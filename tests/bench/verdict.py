"""What an earned verdict costs: per second on one core, beside the plainest careless reader of the same cases.

`python -m tests.bench.verdict` starts the product for its last line alone. It prints ratios, for a busy machine slows
both sides alike. The careless reader is what a verdict would be without any of its defenses: a plausible line per tool,
first finding wins.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

from gate.triage import case_files
from gate.triage.outcomes import ActiveRule
from gate.triage.recorded_cases import RecordedCase
from gate.triage.replay import newest, replay
from gate.triage.rules import registry
from tests.bench import drafts, timing
from tests.triage.worlds import CASES

REPLAYS = 10_000

# One plausible line for each tool of the recorded cases. Each is a way to pass what is not fine.
CARELESS: Mapping[str, Callable[[Any], bool]] = {
    "airflow_get_dag_run": lambda r: r.get("state") == "success",
    "airflow_get_task_instances": lambda r: all(t["state"] == "success" for t in r.get("task_instances", [])),
    "alertmanager_alerts": lambda r: not r,
    "celery_inspect_active": lambda r: not r.get("active"),
    "celery_task_result": lambda r: r.get("status") == "SUCCESS",
    "cloudwatch_describe_alarms": lambda r: all(a["StateValue"] == "OK" for a in r.get("MetricAlarms", [])),
    "cloudwatch_get_metric_data": lambda r: bool(r.get("MetricDataResults")),
    "cloudwatch_get_query_results": lambda r: len(r.get("results", [])) < 2,
    "execute_prometheus_range_query": lambda r: r.get("status") == "success",
    "fetch_pod_logs": lambda r: not r.get("data"),
    "find_job": lambda r: (r.get("job") or {}).get("state") in ("succeeded", "finished"),
    "kubectl_events": lambda r: not any(e.get("type") == "Error" for e in r.get("items", [])),
    "kubectl_get": lambda r: not r.get("error") and not (r.get("status") or {}).get("failureReason"),
    "loki_query": lambda r: r.get("status") == "success",
    "lvs_report": lambda r: bool(r.get("report")),
    "pg_select": lambda r: r.get("row_count", 0) > 0,
    "prometheus_rules": lambda r: "vector(" in str(r),
    "query_prometheus": lambda r: not (r.get("data") or {}).get("result") if isinstance(r, dict) else not r,
    "query_prometheus_range": lambda r: r.get("status") == "success",
    "rds_describe_events": lambda r: bool(r.get("Events")),
    "stripe_get_charge": lambda r: bool(r.get("captured", True)),
    "stripe_get_refund": lambda r: r.get("status") == "succeeded",
    "stripe_list_charges": lambda r: all(c.get("refunded") for c in r.get("data", [])),
    "stripe_list_payment_intents": lambda r: any(p.get("status") == "succeeded" for p in r.get("data", [])),
    "stripe_list_refunds": lambda r: all(f.get("status") == "succeeded" for f in r.get("data", [])),
}


def careless(case: RecordedCase) -> bool:
    """Pass or not, the way that a first draft of such a function decides it."""
    calls = {call.audit_id: call for call in case.calls}
    facts: dict[str, str] = {}
    for finding in case.findings:
        facts.setdefault(finding.fact, finding.audit_id)
    cited = [calls.get(audit_id) for audit_id in facts.values()]
    return all(call is not None and CARELESS.get(call.tool, bool)(call.result) for call in cited)


def run() -> None:
    """Print rates, ratios, and how the two judge the same cases."""
    cases = [case_files.read(file) for file in sorted(CASES.glob("*.json"))]
    rules = newest(registry)
    timing.say_load()
    pairs = [
        (
            timing.per_second(lambda: [careless(case) for case in cases]),
            timing.per_second(lambda: [replay(case, rules) for case in cases]),
        )
        for _ in range(timing.SLICES)
    ]
    times = statistics.median(base / rate for base, rate in pairs)
    print(f"a verdict takes {times:,.0f} times as long as the careless reader of the same {len(cases)} cases")  # noqa: T201
    _say_rates(cases, rules)
    _say_wrong(cases, rules)


def _say_rates(cases: list[RecordedCase], rules: Mapping[str, ActiveRule]) -> None:
    taken = []
    began = time.process_time()
    for number in range(REPLAYS):
        before = time.perf_counter()
        replay(cases[number % len(cases)], rules)
        taken.append(time.perf_counter() - before)
    spent = time.process_time() - began
    cuts = statistics.quantiles(taken, n=100)
    print(  # noqa: T201
        f"{REPLAYS:,} replays: {REPLAYS / spent:,.0f} verdicts per second of one core; each "
        f"{1000 * cuts[49]:.2f} ms in the median, {1000 * cuts[94]:.2f} ms at 95 %, {1000 * max(taken):.1f} ms at most"
    )


def _say_wrong(cases: list[RecordedCase], rules: Mapping[str, ActiveRule]) -> None:
    unearned = [case for case in cases if case.expected == "fail"]
    earned = [case for case in cases if case.expected == "pass"]
    ours = sum(replay(case, rules).verdict == "pass" for case in unearned)
    kept = sum(replay(case, rules).verdict == "pass" for case in earned)
    print(  # noqa: T201
        f"unearned passes: {ours} of {len(unearned)}, the careless reader {sum(map(careless, unearned))}; "
        f"earned ones that pass: {kept} of {len(earned)}, the careless reader {sum(map(careless, earned))}"
    )


if __name__ == "__main__":
    run()
    drafts.run()
