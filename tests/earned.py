"""What has been earned, for tests that are not about how: versions to be activated, and passes to be closed on."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from audit import twohands
from audit.models import Definition
from evidence.metrics import golden
from evidence.metrics.asking import goldens
from evidence.models import MetricAsk
from gate.triage import clock, history, known_cases
from gate.triage.models import Draft
from gate.triage.outcomes import Pass
from gate.triage.rule_models import Job, Trial
from gate.triage.rules import registry
from tests.triage.conftest import count_errors, find_job


def as_tried(version: Definition, by: Any, **changes: Any) -> Trial:
    """A trial of the version as the worker leaves one behind: every change noticed, and a failing case."""
    newest = Draft.objects.filter(rule=version.name).order_by("-pk").values_list("pk", flat=True).first()
    about: dict[str, Any] = {
        "definition": version, "against": twohands.active("rule", version.name), "rule_hash": version.body["hash"],
        "upto": newest or 0, "asked_by": by, "status": Job.DONE, "finished_at": timezone.now(), "mutants": 1,
        "noticed": 1, "cases_digest": known_cases.digest(known_cases.sources()),
        "cases": [{"name": "c", "expected": "fail", "before": "fail", "verdict": "fail", "failing": [1], "checks": [],
                   "reasons": [], "mutants": 0, "noticed": 0, "why": ""}], **changes,
    }  # fmt: skip
    return Trial.objects.create(**about)


def as_golden(version: Definition, by: Any) -> MetricAsk:
    """A run of the version's golden values as the reads worker leaves one behind that gave each of them."""
    return MetricAsk.objects.create(
        version=version, digest=version.digest, kind=MetricAsk.Kind.GOLDEN, arguments={}, asked_by=by,
        asked_by_name=str(by), asked_by_username=by.get_username(), answered_at=timezone.now(),
        answer=all_held(version), audit_id="A-1",
    )  # fmt: skip


def all_held(version: Definition) -> dict[str, Any]:
    """The answer to a version's golden values when each of them holds."""
    return {"golden": [golden.Held(one, one.value, one.status).said() for one in goldens(version.body["golden"])]}


def in_force(rule: str, by: Any) -> Definition:
    """The newest file of a rule, in force."""
    found = twohands.active("rule", rule)
    if found is not None:
        return found
    body = next(registry.body_of(one) for one in registry.newest() if one.hypothesis == rule)
    return Definition.objects.create(
        kind="rule", name=rule, version=1, body=body, digest="0" * 64, reason="", status="active", drafted_by=by
    )


def as_gathered(draft: Draft) -> Draft:
    """The draft of a recovered job with calls in the log that earn its pass, and the receipt of that very pass."""
    look = draft.investigation
    rule = in_force(look.hypothesis, look.agent.owner)
    calls = {"job_completed": find_job(look), "no_recurrence": count_errors(look)}
    for position, (fact, call) in enumerate(calls.items(), start=101):  # a test may add its own
        look.findings.create(position=position, fact=fact, audit_id=call.ref)
    look.submitted_at = clock.now()
    look.save(update_fields=["submitted_at"])
    rules = registry.active({rule.name: rule.body})
    decided = history.situation_of(look, history.tools_of(rules.values())).decide(rules)
    assert isinstance(decided, Pass), decided
    draft.receipt, draft.rule_hash, draft.decided_at = decided.receipt, rule.body["hash"], look.submitted_at
    draft.save(update_fields=["receipt", "rule_hash", "decided_at"])
    return draft
