"""Rule versions in shadow: they are put to live investigations after the verdict, and decide nothing."""

from __future__ import annotations

from audit.models import Definition
from gate.triage import comparison, history
from gate.triage.models import Investigation
from gate.triage.outcomes import ActiveRule, Pass
from gate.triage.rule_models import ShadowResult, Verdict
from gate.triage.rules import registry


def run(investigation: Investigation) -> None:
    """Put the investigation to every version in shadow for its hypothesis. A second run does nothing."""
    shadows = Definition.objects.filter(
        kind="rule", name=investigation.hypothesis, status=Definition.Status.SHADOW
    ).order_by("version")
    for definition in shadows:
        _run_one(definition, investigation)


def _run_one(definition: Definition, investigation: Investigation) -> None:
    rule = registry.find(definition.body)
    if rule is None or ShadowResult.objects.filter(definition=definition, investigation=investigation).exists():
        return
    rules = {rule.hypothesis: ActiveRule(rule, str(definition.body["hash"]))}
    decided = history.situation_of(investigation, history.tools_of(rules.values())).decide(rules)
    ShadowResult.objects.create(
        definition=definition, investigation=investigation,
        outcome=Verdict.PASS if isinstance(decided, Pass) else Verdict.FAIL,
        checks=[check.as_json() for check in decided.checks], reasons=comparison.reasons_of(decided),
    )  # fmt: skip
