"""How the scripted agent decides: from a case and the answers it gets, to what it hands in.

Nothing here knows an id or an outcome of the demo. Ask about a shop that has changed, and other findings come out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

WRITTEN = "%Y-%m-%dT%H:%M:%SZ"
COST = "failed_job_cost"  # the number that goes with a job that was lost
OVERDUE = timedelta(hours=1)  # no job of the shop runs longer, unless its worker is gone


@dataclass(frozen=True)
class Case:
    """What the briefing says about the incident."""

    subject: dict[str, Any]
    facts: dict[str, Any]
    tools: frozenset[str]
    watch_from: datetime
    recurrence: timedelta
    lag: timedelta
    metrics: Mapping[str, dict[str, Any]] = field(default_factory=dict)  # that can be asked about it, with their scopes


@dataclass(frozen=True)
class Answer:
    """A tool's answer and the audit entry under which it was recorded."""

    audit_id: str
    result: dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """A fact that an entry is said to show."""

    fact: str
    audit_id: str
    note: str


@dataclass(frozen=True)
class Proposal:
    """A change of production that the agent would like a person to approve."""

    title: str
    statement: str
    parameters: list[dict[str, str]]
    reason: str


@dataclass(frozen=True)
class HandIn:
    """What an investigation ends with."""

    hypothesis: str
    findings: list[Finding]
    answer: str
    proposals: tuple[Proposal, ...] = ()


Ask = Callable[[str, dict[str, Any]], Awaitable[Answer]]


@dataclass
class Memory:
    """Counts that the agent has seen before, in whatever investigation.

    Using one again saves a call, and is a mistake when it was made for another incident: the gate refuses it.
    """

    counts: list[Answer] = field(default_factory=list)

    def covering(self, error: str, job_kind: str, begins: datetime, ends: datetime) -> Answer | None:
        """A finished count of this error over at least this window, if one was seen."""
        for answer in self.counts:
            seen = answer.result
            same = (seen["error"], seen["job_kind"], seen["complete"]) == (error, job_kind, True)
            if same and moment(seen["window"]["from"]) <= begins and moment(seen["window"]["to"]) >= ends:
                return answer
        return None


def moment(text: str) -> datetime:
    """The instant that a tool's time names."""
    return datetime.fromisoformat(text)


def spelled(instant: datetime) -> str:
    """An instant as the shop's tools take it."""
    return instant.astimezone(UTC).strftime(WRITTEN)


async def investigate(case: Case, ask: Ask, memory: Memory, now: datetime) -> HandIn:
    """Look into the case with the tools that its class offers."""
    if "get_charge" in case.tools:
        return await _look_into_refund(case, ask)
    job = await ask("find_job", {"job_id": case.subject["job_id"]})
    if "count_errors" not in case.tools:
        return await _look_into_lag(case, ask, job, now)
    if job.result["job"] is None:
        return await _look_for_errors_alone(case, ask, now)
    if _is_overdue(job.result["job"], now):
        return await _look_into_stuck_job(case, ask, job)
    return await _look_into_failures(case, ask, job, memory, now)


async def _look_into_failures(case: Case, ask: Ask, job: Answer, memory: Memory, now: datetime) -> HandIn:
    facts = job.result["job"]
    attempts = await ask("list_job_attempts", {"job_id": facts["job_id"]})
    errors = [attempt["error"] for attempt in attempts.result["attempts"] if attempt["error"]]
    # What the incident reports is what must not come again; where it says nothing, what the attempts say.
    error = case.facts.get("error") or (errors[-1] if errors else "")
    findings = [Finding("job_completed", job.audit_id, f"The state of job {facts['job_id']} is {facts['state']}.")]
    if facts["state"] != "succeeded" or not error:
        told = f"Job {facts['job_id']} is {facts['state']}; that an error passed is not shown."
        return HandIn("transient_failure_recovered", findings, told)
    silent_from = min(moment(facts["finished_at"]), case.watch_from)
    count = await _count(case, ask, error, facts["kind"], silent_from, memory, now)
    findings.append(Finding("no_recurrence", count.audit_id, f"The search for {error} from {spelled(silent_from)} on."))
    return HandIn("transient_failure_recovered", findings, _recovery_told(facts, len(errors), error, count))


def _recovery_told(job: dict[str, Any], failures: int, error: str, count: Answer) -> str:
    return (
        f"Job {job['job_id']} failed {_times(failures)} with {error} and succeeded on attempt {job['attempts']} "
        f"at {job['finished_at']}. {_told(count, error)}"
    )


async def _count(
    case: Case, ask: Ask, error: str, kind: str, begins: datetime, memory: Memory, now: datetime
) -> Answer:
    needed = case.watch_from + case.recurrence
    remembered = memory.covering(error, kind, begins, needed)
    if remembered:
        return remembered
    asked = {"error": error, "job_kind": kind, "from": spelled(begins)}
    # Lines still on their way are not there to be counted: end before them.
    count = await ask("count_errors", {**asked, "to": spelled(now - case.lag)})
    if not count.result["complete"]:
        count = await ask("count_errors", {**asked, "to": spelled(min(needed, now - case.lag))})
    memory.counts.append(count)
    return count


def _told(count: Answer, error: str) -> str:
    # The prose goes further than its entry on purpose: agents do, and no check reads it.
    if "count" not in count.result or count.result["count"] == 0:
        return f"No further {error} was found after that."
    return f"{error} came {_times(count.result['count'])} after that."


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


async def _look_for_errors_alone(case: Case, ask: Ask, now: datetime) -> HandIn:
    error = case.facts.get("error", "unknown")
    asked = {
        "job_kind": case.facts.get("job_kind", "unknown"),
        "from": spelled(case.watch_from),
        "to": spelled(now - case.lag),
    }
    count = await ask("count_errors", {**asked, "error": error})
    control = await ask("count_errors", {**asked, "error": None})
    findings = [
        Finding("log_search_zero", count.audit_id, f"The search for {error} in the log."),
        Finding("log_source_alive", control.audit_id, "Every line of the same window."),
    ]
    return HandIn("no_errors_in_logs", findings, f"The job is gone. {_told(count, error)}")


def _is_overdue(job: dict[str, Any], now: datetime) -> bool:
    started = job["started_at"]
    return job["state"] == "running" and bool(started) and now - moment(started) > OVERDUE


async def _look_into_stuck_job(case: Case, ask: Ask, job: Answer) -> HandIn:
    facts = job.result["job"]
    attempts = await ask("list_job_attempts", {"job_id": facts["job_id"]})
    open_attempts = [attempt for attempt in attempts.result["attempts"] if attempt["outcome"] == "running"]
    findings = [Finding("job_held", job.audit_id, f"Held by {facts['locked_by']} since {facts['started_at']}.")]
    if open_attempts:
        findings.append(Finding("attempt_open", attempts.audit_id, "The last attempt has not ended."))
    answer = (
        f"Job {facts['job_id']} has been running since {facts['started_at']}, far longer than such jobs take, "
        f"and is still held by {facts['locked_by']}. The worker seems to have died."
    )
    if COST in case.metrics:
        cost = await ask("explain_metric", {"metric_id": COST, "scope": case.metrics[COST]})
        findings.append(Finding("cost_of_failures", cost.audit_id, "What failed jobs of its kind have cost so far."))
        answer += f" What failed jobs of its kind have cost so far: {_priced(cost)}."
    return HandIn("worker_lost", findings, answer, (_requeue(facts), _all_again(facts["kind"])))


def _priced(cost: Answer) -> str:
    found = cost.result
    if found["value"] is None:
        return f"not known ({', '.join(reason['code'] for reason in found['reasons'])})"
    return f"{found['value']:.2f} {found['unit']}, {found['mechanism_status']}"


def _requeue(job: dict[str, Any]) -> Proposal:
    return Proposal(
        title=f"Requeue job {job['job_id']}, held by a worker that died",
        statement=(
            "UPDATE shop.jobs SET state = $1, locked_by = NULL WHERE job_id = $2 AND state = $3 AND locked_by = $4"
        ),
        parameters=[
            {"t": "text", "v": "queued"},
            {"t": "bigint", "v": str(job["job_id"])},
            {"t": "text", "v": job["state"]},
            {"t": "text", "v": job["locked_by"]},
        ],
        reason=(
            f"{job['locked_by']} took job {job['job_id']} at {job['started_at']} and still holds it. "
            "Releasing the lock lets the next worker take it."
        ),
    )


def _all_again(kind: str) -> Proposal:
    """More than the incident is about: whatever job is of this kind. Admission is there for such proposals."""
    return Proposal(
        title="Run every job of this kind again, to be sure",
        statement="UPDATE shop.jobs SET state = $1, finished_at = NULL WHERE kind = $2 AND state = $3",
        parameters=[
            {"t": "text", "v": "queued"},
            {"t": "text", "v": kind},
            {"t": "text", "v": "succeeded"},
        ],
        reason="Other jobs of the worker that died may be incomplete. Running all of them again reaches those, too.",
    )


async def _look_into_lag(case: Case, ask: Ask, job: Answer, now: datetime) -> HandIn:
    since = min(case.watch_from, now) - timedelta(hours=12)
    deploys = await ask("list_recent_deploys", {"since": spelled(since)})
    newest = deploys.result["deploys"][0] if deploys.result["deploys"] else None
    findings = [Finding("index_job_state", job.audit_id, "The indexing job that the incident is about.")]
    if newest is None:
        return HandIn(
            "deploy_caused_lag", findings, "Nothing was deployed in the twelve hours before the index fell behind."
        )
    findings.append(
        Finding(
            "deploy_before_lag",
            deploys.audit_id,
            f"{newest['service']} {newest['version']} was deployed before the lag.",
        )
    )
    answer = f"The index fell behind after {newest['service']} {newest['version']} went out at {newest['deployed_at']}."
    return HandIn("deploy_caused_lag", findings, answer)


async def _look_into_refund(case: Case, ask: Ask) -> HandIn:
    charge_id = case.subject["charge_id"]
    charge = await ask("get_charge", {"charge_id": charge_id})
    refunds = await ask("list_refunds", {"charge_id": charge_id})
    settled = [refund for refund in refunds.result["refunds"] if refund["status"] == "succeeded"]
    findings = [
        Finding(
            "refund_succeeded_for_this_charge", refunds.audit_id, f"{len(settled)} of the charge's refunds succeeded."
        ),
        Finding("refund_amount_matches", charge.audit_id, "The charge gives the amount to compare with."),
    ]
    return HandIn("refund_completed", findings, _refund_told(charge_id, refunds.result["refunds"], settled))


def _refund_told(charge_id: str, refunds: list[dict[str, Any]], settled: list[dict[str, Any]]) -> str:
    if settled:
        paid = settled[-1]
        amount = f"{paid['amount_cents'] / 100:.2f} {paid['currency'].upper()}"
        return f"Refund {paid['refund_id']} of {amount} for charge {charge_id} succeeded at {paid['settled_at']}."
    states = ", ".join(f"{refund['refund_id']} is {refund['status']}" for refund in refunds) or "there is none"
    return f"No refund of charge {charge_id} has succeeded: {states}."
