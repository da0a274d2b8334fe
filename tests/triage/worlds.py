"""One earned pass per rule, as data that a test can break in one place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from gate.triage import case_files
from gate.triage.cases import Finding, IncidentFacts, RecordedCall
from gate.triage.outcomes import ActiveRule, Fail, Pass
from gate.triage.rules import registry
from gate.triage.verdict import verdict

BEGAN = datetime(2026, 11, 29, 2, 10, 44, tzinfo=UTC)
RECOVERED = datetime(2026, 11, 29, 2, 15, 34, tzinfo=UTC)
DECIDED = datetime(2026, 11, 29, 6, 31, tzinfo=UTC)
RULES = registry.active({rule.hypothesis: registry.body_of(rule) for rule in registry.newest()})
# The first versions, which say in words what the lines of a page say. What they refuse, the newest must refuse as well.
FIRST = registry.active({rule.hypothesis: registry.body_of(rule) for rule in registry.loaded() if rule.version == 1})
HYPOTHESES = ("transient_failure_recovered", "no_errors_in_logs", "refund_completed")


def at(hours: int, minutes: int, seconds: int = 0) -> datetime:
    """A time of that morning."""
    return datetime(2026, 11, 29, hours, minutes, seconds, tzinfo=UTC)


def call(number: int, tool: str, args: Any, result: Any, called_at: datetime, **changes: Any) -> RecordedCall:
    """A recorded call of the incident 318 that went well."""
    recorded = RecordedCall(
        audit_id=f"A-{number}", incident_id=318, run_id="7", tool=tool, tool_version=2, tool_hash="ab" * 32,
        source="shop", status="ok", called_at=called_at, finished_at=called_at + timedelta(milliseconds=40),
        args=args, result=result, truncated=False, is_intact=True, digest=f"{number:064x}",
    )  # fmt: skip
    return replace(recorded, **changes)


@dataclass(frozen=True)
class World:
    """Everything that a verdict is given."""

    hypothesis: str
    findings: tuple[Finding, ...]
    entries: tuple[RecordedCall, ...]
    incident: IncidentFacts
    decided_at: datetime = DECIDED
    rules: dict[str, ActiveRule] = field(default_factory=lambda: dict(RULES))
    objections: tuple[Finding, ...] = ()

    def decide(self) -> Pass | Fail:
        return verdict(
            hypothesis=self.hypothesis, findings=self.findings, entries=self.entries, incident=self.incident,
            rules=self.rules, decided_at=self.decided_at, objections=self.objections,
        )  # fmt: skip

    def but(self, **changes: Any) -> World:
        return replace(self, **changes)

    def with_call(self, number: int | str, **changes: Any) -> World:
        """The same with one recorded call changed."""
        ref = named(number)
        return self.but(entries=tuple(replace(e, **changes) if e.audit_id == ref else e for e in self.entries))

    def with_result(self, number: int | str, edit: Callable[[Any], Any]) -> World:
        """The same with one result edited in place (or replaced by what `edit` returns)."""
        return self.with_call(number, result=edited(self.entry(number).result, edit))

    def with_args(self, number: int | str, edit: Callable[[Any], Any]) -> World:
        """The same with one call's arguments edited."""
        return self.with_call(number, args=edited(self.entry(number).args, edit))

    def entry(self, number: int | str) -> RecordedCall:
        return next(entry for entry in self.entries if entry.audit_id == named(number))

    def cited(self) -> tuple[RecordedCall, ...]:
        ids = {finding.audit_id for finding in self.findings}
        return tuple(entry for entry in self.entries if entry.audit_id in ids)

    def and_call(self, *more: RecordedCall) -> World:
        return self.but(entries=(*self.entries, *more))

    def with_incident(self, **changes: Any) -> World:
        return self.but(incident=replace(self.incident, **changes))


def named(number: int | str) -> str:
    return f"A-{number}" if isinstance(number, int) else number


def edited(value: Any, edit: Callable[[Any], Any]) -> Any:
    kept = copy.deepcopy(value)
    returned = edit(kept)
    return kept if returned is None else returned


def incident(**changes: Any) -> IncidentFacts:
    facts = IncidentFacts(
        id=318, kind="incident", subject={"job_id": 90412}, began_at=BEGAN, watch_from=RECOVERED,
        recurrence_seconds=3 * 3600, freshness_seconds=1800, ingestion_lag_seconds=300, hypotheses=HYPOTHESES,
        facts={"error": "ReadTimeout", "job_kind": "settle_payouts"},
    )  # fmt: skip
    return replace(facts, **changes)


def job_result() -> dict[str, Any]:
    return {
        "job": {
            "job_id": 90412, "kind": "settle_payouts", "state": "succeeded", "attempts": 3, "locked_by": None,
            "started_at": "2026-11-29T02:15:00Z", "finished_at": "2026-11-29T02:15:34Z", "last_error": None,
        }
    }  # fmt: skip


def attempts() -> dict[str, Any]:
    def attempt(number: int, started: str, ended: str, outcome: str, error: str | None) -> dict[str, Any]:
        return {"attempt": number, "started_at": started, "ended_at": ended, "outcome": outcome, "error": error}

    return {
        "attempts": [
            attempt(1, "2026-11-29T02:10:00Z", "2026-11-29T02:10:44Z", "failed", "ReadTimeout"),
            attempt(2, "2026-11-29T02:12:00Z", "2026-11-29T02:12:41Z", "failed", "ReadTimeout"),
            attempt(3, "2026-11-29T02:15:00Z", "2026-11-29T02:15:34Z", "succeeded", None),
        ],
        "total": 3,
    }


def count_args(error: str | None = "ReadTimeout") -> dict[str, Any]:
    return {
        "error": error, "job_kind": "settle_payouts", "from": "2026-11-29T02:15:34Z", "to": "2026-11-29T06:20:00Z",
    }  # fmt: skip


def count_result(error: str | None = "ReadTimeout", count: int = 0) -> dict[str, Any]:
    return {
        "error": error, "job_kind": "settle_payouts",
        "window": {"from": "2026-11-29T02:15:34Z", "to": "2026-11-29T06:20:00Z"},
        "count": count, "scanned": 18204, "complete": True,
    }  # fmt: skip


def recovered() -> World:
    """A job failed twice, then succeeded; its error did not come again."""
    return World(
        "transient_failure_recovered",
        (Finding("job_completed", "A-10"), Finding("no_recurrence", "A-13")),
        (
            call(10, "find_job", {"job_id": 90412}, job_result(), at(6, 24, 10)),
            call(11, "list_job_attempts", {"job_id": 90412}, attempts(), at(6, 24, 40)),
            call(13, "count_errors", count_args(), count_result(), at(6, 25, 2)),
        ),
        incident(),
    )


def quiet() -> World:
    """The reported error is not in the logs, and the logs are there."""
    return World(
        "no_errors_in_logs",
        (Finding("log_search_zero", "A-20"), Finding("log_source_alive", "A-21")),
        (
            call(20, "count_errors", count_args(), count_result(), at(6, 25, 2)),
            call(21, "count_errors", count_args(None), count_result(None, 18204), at(6, 25, 30)),
        ),
        incident(),
    )


def refund(**changes: Any) -> dict[str, Any]:
    return {
        "refund_id": "re_5526", "charge_id": "ch_8846", "amount_cents": 12950, "currency": "eur",
        "status": "succeeded", "failure_reason": None, "created_at": "2026-11-28T03:00:00Z",
        "settled_at": "2026-11-29T02:30:00Z", **changes,
    }  # fmt: skip


def refund_list(*refunds: dict[str, Any]) -> dict[str, Any]:
    return {"charge_id": "ch_8846", "refunds": list(refunds), "total": len(refunds)}


def charge_result() -> dict[str, Any]:
    return {
        "charge": {
            "charge_id": "ch_8846", "order_id": 70018, "amount_cents": 12950, "currency": "eur", "captured": True,
            "disputed": False, "created_at": "2026-11-25T03:00:00Z",
        }
    }  # fmt: skip


def refunded() -> World:
    """The claimed refund succeeded in full."""
    return World(
        "refund_completed",
        (Finding("refund_succeeded_for_this_charge", "A-30"), Finding("refund_amount_matches", "A-31")),
        (
            call(30, "list_refunds", {"charge_id": "ch_8846"}, refund_list(refund()), at(6, 25, 2)),
            call(31, "get_charge", {"charge_id": "ch_8846"}, charge_result(), at(6, 25, 30)),
        ),
        incident(kind="claim", subject={"charge_id": "ch_8846"}, facts={"amount_cents": 12950, "currency": "eur"}),
    )


WORLDS: dict[str, Callable[[], World]] = {
    "transient_failure_recovered": recovered, "no_errors_in_logs": quiet, "refund_completed": refunded,
}  # fmt: skip


CASES = Path(__file__).parents[1] / "data" / "incidents"


def recorded(name: str) -> World:
    """A recorded case as a world; its entries bear its name, so that those of several cases can stand together."""
    case = case_files.read(CASES / f"{name}.json")
    assert case.incident is not None
    assert case.decided_at is not None
    return World(
        case.hypothesis,
        tuple(Finding(finding.fact, f"{name}-{finding.audit_id}") for finding in case.findings),
        tuple(replace(entry, audit_id=f"{name}-{entry.audit_id}") for entry in case.calls),
        case.incident,
        case.decided_at,
    )


def _passing() -> dict[str, Callable[[], World]]:
    read = [case_files.read(file) for file in sorted(CASES.glob("*.json"))]
    return {case.name: partial(recorded, case.name) for case in read if case.expected == "pass"}


# What is earned: the demo's worlds and the recorded cases that ended well.
EARNED: dict[str, Callable[[], World]] = {**WORLDS, **_passing()}


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every leaf of a JSON value."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inside = list(children)
    if not inside:
        yield at
    for key, child in inside:
        yield from leaves(child, (*at, key))


def value_at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def put(path: tuple[Any, ...], new: Any) -> Callable[[Any], None]:
    """An edit that replaces one leaf."""

    def edit(value: Any) -> None:
        value_at(value, path[:-1])[path[-1]] = new

    return edit


def drop(path: tuple[Any, ...]) -> Callable[[Any], None]:
    """An edit that removes one leaf."""

    def edit(value: Any) -> None:
        del value_at(value, path[:-1])[path[-1]]

    return edit


def pointer(path: tuple[Any, ...]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
