"""From findings to the draft that a person sees, with a busy queue, in the product as it runs.

`python -m tests.bench.drafts` starts the whole product with its own relay, broker and worker. The evidence of every
investigation is gathered first; then all of them are handed in at once, and each waits for the others.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.bench import timing
from tests.kills import product
from tests.kills.doors import Rest
from tests.kills.product import Product

HANDED_IN = 120
AT_ONCE = 8
PATIENCE = 300.0  # seconds
FACTS = {"error": "ReadTimeout", "job_kind": "settle_payouts"}
# The agent's own budgets and the source's are for agents, and would only make this one wait.
UNBOUND = (
    "update audit_agent set open_investigations = 10000, calls_per_hour = 1000000 returning id",
    'update audit_definition set body = body || \'{"calls_per_minute": {"agent": 100000, "all": 100000}}\''
    " where kind = 'source' returning id",
)
# When the demo's job was done: silence counts from there, so that the drafts are passes.
RECOVERED = "select finished_at from shop.jobs where job_id = 90412"
TAKEN = """
select extract(epoch from d.rendered_at - i.submitted_at), d.outcome, i.submitted_at, d.rendered_at
from triage_draft d join triage_investigation i on i.id = d.investigation_id where i.id = any(%s)
"""


def run() -> None:
    """Print how long drafts took, and how many waited at once."""
    timing.say_load()
    at = product.start()
    try:
        for statement in UNBOUND:
            at.rows(statement)
        numbers = _hand_in(at)
        _say(_drafted(at, numbers))
    finally:
        trouble = at.stop()
        at.forget()
    if trouble:
        print(trouble)  # noqa: T201


def _hand_in(at: Product) -> list[int]:
    """Everything gathered, and then handed in as fast as the agents' plane takes it."""
    recovered = at.rows(RECOVERED, database="shop")[0][0].astimezone(UTC)
    with ThreadPoolExecutor(AT_ONCE) as agents:
        gathered = list(agents.map(lambda number: _gather(at, recovered, number), range(HANDED_IN)))
        list(agents.map(lambda one: Rest(at.agents, at.agent_token).submit(*one), gathered))
    return [investigation for investigation, _ in gathered]


def _gather(at: Product, recovered: datetime, number: int) -> tuple[int, dict[str, Any]]:
    """One incident with its evidence: what is to be handed in."""
    incident = Rest(at.agents, at.intake_token).report({
        "class": "job_failed", "title": f"Job 90412 failed ({number})", "subject": {"job_id": 90412}, "facts": FACTS,
        "began_at": _spelled(recovered - timedelta(minutes=5)), "recovered_at": _spelled(recovered),
        "dedup_key": f"bench-{number}",
    })  # fmt: skip
    agent = Rest(at.agents, at.agent_token)
    look = agent.start(incident)
    until = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=6)
    job = agent.ask("find_job", {"job_id": 90412}, look)
    agent.ask("list_job_attempts", {"job_id": 90412}, look)
    count = agent.ask("count_errors", {**FACTS, "from": _spelled(recovered), "to": _spelled(until)}, look)
    cited = [("job_completed", job), ("no_recurrence", count)]
    findings = [{"fact": fact, "audit_id": told["audit_id"]} for fact, told in cited]
    answer = "The job failed twice, succeeded, and did not fail again."
    return look, {"hypothesis": "transient_failure_recovered", "findings": findings, "answer": answer}


def _spelled(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _drafted(at: Product, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
    """The drafts, once all of them are there. Raises RuntimeError when some do not come."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = at.rows(TAKEN, [list(numbers)])
        if len(found) == len(numbers):
            return found
        if time.monotonic() > deadline:
            raise RuntimeError(f"{len(numbers) - len(found)} of {len(numbers)} drafts did not come.")
        time.sleep(0.5)


def _say(drafts: Sequence[tuple[Any, ...]]) -> None:
    taken = [float(one[0]) for one in drafts]
    cuts = statistics.quantiles(taken, n=100)
    waiting = max(sum(one[2] <= moment < one[3] for one in drafts) for _, _, moment, _ in drafts)
    first, last = min(one[2] for one in drafts), max(one[3] for one in drafts)
    print(  # noqa: T201
        f"findings to draft, {len(drafts)} handed in at once and up to {waiting} waiting: {cuts[49]:.2f} s in the "
        f"median, {cuts[94]:.2f} s at 95 %, {max(taken):.2f} s at most; "
        f"{len(drafts) / (last - first).total_seconds():.0f} drafts per second, "
        f"{sum(one[1] == 'pass' for one in drafts)} of them passes"
    )


if __name__ == "__main__":
    run()
