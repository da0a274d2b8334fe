"""Closing on a pass: the verdict once more, at the moment of closing, over what is on record then.

What was decided has to come out again as it did, and nothing that is known since may speak against it. A pass that a
person finds in the inbox the next day was true when it was rendered; whether it still is, its evidence does not say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from audit import reading
from audit.kinds import Kind
from audit.models import Entry
from gate.errors import NotAllowed
from gate.triage import briefing, classes, clock, history
from gate.triage.models import Draft
from gate.triage.outcomes import ActiveRule, Fail, Reason
from gate.triage.rules import registry
from gate.triage.situation import Situation
from gate.triage.wording import elapsed

SEND_BACK = "Send it back for a new look."
MOST_REPORTS = 100  # since the verdict: more than that are not read, and then nothing is closed


def check_still_earned(draft: Draft) -> None:
    """Raises NotAllowed unless a pass comes out again as it did, and again with all that is on record now."""
    rules = registry.active(briefing.rules_in_force([draft.rule]))
    _check_rule(draft, rules)
    now = clock.now()
    at_once = history.situation_of(draft.investigation, history.tools_of(rules.values()), until=now)
    _check_same(draft, _as_it_was(at_once, draft.decided_at), rules)
    _check_now(draft, at_once, rules)
    _check_reports(draft)


def _check_rule(draft: Draft, rules: Mapping[str, ActiveRule]) -> None:
    active = rules.get(draft.rule)
    if active is None or active.hash != draft.rule_hash:
        raise NotAllowed(
            f"The version of {draft.rule} that earned {draft.ref} is not in force any more, so its pass closes "
            f"nothing. {SEND_BACK}"
        )
    if active.rule is None:
        raise NotAllowed(
            f"{draft.ref} cannot be decided again here: this process has not loaded the version of {draft.rule} that "
            "is in force. An operator deploys it."
        )


def _as_it_was(situation: Situation, decided_at: datetime) -> Situation:
    """The same without what came after the decision point."""
    calls = (call for call in situation.calls if call.finished_at is not None and call.finished_at <= decided_at)
    return replace(situation, calls=tuple(calls), decided_at=decided_at)


def _check_same(draft: Draft, situation: Situation, rules: Mapping[str, ActiveRule]) -> None:
    decided = situation.decide(rules)
    if decided.receipt["sha256"] == draft.receipt.get("sha256"):
        return
    why = f" {decided.reasons[0].sentence}" if isinstance(decided, Fail) and decided.reasons else ""
    raise NotAllowed(f"Decided again from what is on record, {draft.ref} is not what it was.{why} {SEND_BACK}")


def _check_now(draft: Draft, situation: Situation, rules: Mapping[str, ActiveRule]) -> None:
    decided = situation.decide(rules)
    if isinstance(decided, Fail):
        said = {reason.code: reason for reason in reversed(decided.reasons)}
        raise NotAllowed(f"{_why_not_now(draft, situation, said)} {SEND_BACK}")


def _why_not_now(draft: Draft, situation: Situation, said: Mapping[str, Reason]) -> str:
    if set(said) == {"stale"}:
        most = elapsed(situation.incident.freshness_seconds)
        return f"The evidence of {draft.ref} is older than {most} by now, so it does not show how things are."
    if "contradicted_later" in said:
        return f"What was asked since speaks against {draft.ref}. {said['contradicted_later'].sentence}"
    return f"{draft.ref} is no pass by now. {next(iter(said.values())).sentence}"


def _check_reports(draft: Draft) -> None:
    """Where a class has passes watched, a monitor that reports it again speaks against a pass that waits."""
    incident = draft.investigation.incident
    if classes.of(incident).watch_seconds == 0:
        return
    told = Entry.objects.filter(kind=Kind.INCIDENT_UPDATED, incident_id=incident.pk, actor_kind="monitor")
    since = list(told.filter(at__gt=draft.decided_at).order_by("seq")[:MOST_REPORTS])
    contents = reading.contents_of(since)
    if any(_is_firing(contents[entry.pk]) for entry in since) or len(since) == MOST_REPORTS:
        raise NotAllowed(f"{incident.ref} was reported again after {draft.ref} was decided. {SEND_BACK}")


def _is_firing(content: reading.Content) -> bool:
    """Whether a report says that it goes on. One that cannot be read may have said so."""
    return not (content.is_readable and isinstance(content.args, dict) and content.args.get("status") == "resolved")
