"""What comes after a draft: what would have flipped it, what rules in shadow say, and how the tools' answers change.

None of it changes the draft. It runs as a job of its own, so that no draft waits for it.
"""

from __future__ import annotations

from gate.triage import briefing, drift, history, mutation, nearest, shadowing
from gate.triage.models import Draft
from gate.triage.outcomes import ActiveRule, Fail, Pass
from gate.triage.rule_models import Examination
from gate.triage.rules import registry
from gate.triage.situation import Situation

MOST_TRIED = 3000  # changes of one draft's evidence


def examine(draft_id: int) -> None:
    """Look at a draft once more. Runs in the caller's transaction; a second run does nothing."""
    drafts = Draft.objects.select_related("investigation__incident__incident_class")
    draft = drafts.get(pk=draft_id)
    if Examination.objects.filter(draft=draft).exists():
        return
    rules = registry.active(briefing.rules_in_force([draft.rule]))
    situation = history.situation_of(draft.investigation, history.tools_of(rules.values()))
    decided = situation.decide(rules)
    _keep(draft, situation, rules, decided)
    shadowing.run(draft.investigation)
    drift.note(situation, decided)


def _keep(draft: Draft, situation: Situation, rules: dict[str, ActiveRule], decided: Pass | Fail) -> None:
    told = list(mutation.tell(situation, rules, decided=decided, most=MOST_TRIED))
    # The version in force may be another one than when the draft was rendered: its changes would say nothing about it.
    if decided.receipt["sha256"] != draft.receipt.get("sha256"):
        told = []
    rows = nearest.rows(told, is_pass=isinstance(decided, Pass))
    Examination.objects.create(
        draft=draft, rows=[row.as_json() for row in rows], noticed=sum(one.is_noticed for one in told), tried=len(told)
    )
