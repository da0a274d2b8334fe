"""Every known case put to the rules in force, in the trial worker, a second at a time."""

from __future__ import annotations

import time

from django.db import transaction
from django.utils import timezone

from audit.models import Definition
from gate.triage.outcomes import ActiveRule, Fail, Pass
from gate.triage.recorded_cases import CaseError
from gate.triage.replay import decide
from gate.triage.rule_models import OPEN, Job, Replay, ReplayLine
from gate.triage.rules import registry
from gate.triage.trials import SLICE, Cases


def advance(replay_id: int) -> bool:
    """Go on with a replay for a second. True when there is nothing more to do. Safe to run twice."""
    until, cases, rules = time.monotonic() + SLICE, Cases(), _in_force()
    while _step(replay_id, cases, rules):
        if time.monotonic() > until:
            return False
    return True


def _in_force() -> dict[str, ActiveRule]:
    active = Definition.objects.filter(kind="rule", status=Definition.Status.ACTIVE)
    return registry.active(dict(active.values_list("name", "body")))


@transaction.atomic
def _step(replay_id: int, cases: Cases, rules: dict[str, ActiveRule]) -> bool:
    """Replay the next case, or finish. False when it is over."""
    replay = Replay.objects.select_for_update(of=("self",)).get(pk=replay_id)
    if replay.status not in OPEN:
        return False
    try:
        position = replay.lines.count()
        is_more = position < len(cases.all)
        if is_more:
            _replay_one(replay, position, cases, rules)
    except CaseError as problem:
        _end(replay, Job.FAILED, problem.sentence)
        return False
    if not is_more:
        _end(replay, Job.DONE)
    return is_more


def _replay_one(replay: Replay, position: int, cases: Cases, rules: dict[str, ActiveRule]) -> None:
    case = cases.all[position]
    decided = decide(case, rules)
    ReplayLine.objects.create(
        replay=replay, position=position, name=case.name[:200], hypothesis=case.hypothesis[:80],
        rule_version=decided.receipt["version"], expected=case.expected or "",
        verdict="pass" if isinstance(decided, Pass) else "fail", decided_by=_decided_by(decided), why=case.why,
    )  # fmt: skip
    if replay.status == Job.WAITING:
        replay.status, replay.total = Job.RUNNING, len(cases.all)
        replay.save(update_fields=["status", "total"])


def _decided_by(decided: Pass | Fail) -> str:
    if isinstance(decided, Pass):
        return f"All {len(decided.checks)} checks hold."
    return decided.reasons[0].sentence[:600] if decided.reasons else ""


def _end(replay: Replay, status: str, why: str = "") -> None:
    replay.status, replay.why, replay.finished_at = status, why, timezone.now()
    replay.save(update_fields=["status", "why", "finished_at"])
