"""An action judged by the policy that is in force, and recorded before anybody is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from audit import log, masking, twohands
from audit.agents import Principal
from audit.kinds import Kind
from audit.models import Definition
from evidence import recording
from gate.admission import policies
from gate.admission.reducer import Decision, Escalation, decide

NOTHING: Mapping[str, Any] = MappingProxyType({})
# The entries that hold a decision: of any gate, and of a proposed write.
KINDS = (Kind.ADMISSION_DECIDED, Kind.WRITE_ADMITTED, Kind.WRITE_BLOCKED)
NO_POLICY = Decision("ask", None, (Escalation(None, "no_policy"),))


@dataclass(frozen=True)
class Judged:
    """A verdict over one action: by which version, and whether it is enforced or only observed."""

    policy: str
    version: Definition | None  # None when there is no version that decides or observes
    is_enforced: bool
    decision: Decision
    is_clamped: bool = False  # an allow that became ask, because a person decides there
    judged: Any = None  # the digests that the answers were bound by
    executed: Any = None
    entry: log.Recorded | None = None

    @property
    def verdict(self) -> str:
        """What is to be done: what only observes holds nothing back."""
        return self.decision.verdict if self.is_enforced else "allow"

    def as_json(self) -> dict[str, Any]:
        """As a gate is told."""
        return {
            **self.decision.as_json(), "policy": self.policy, "is_enforced": self.is_enforced,
            "is_clamped": self.is_clamped, "version": self.version.version if self.version else None,
            "digest": policies.digest(self.version) if self.version else None,
            "audit_id": self.entry.ref if self.entry else "",
        }  # fmt: skip


def judge(policy: str, answers: Any, *, judged: Any = None, executed: Any = None, is_clamped: bool = False) -> Judged:
    """The verdict of the policy in force, else of the one that observes. Without either, a person is asked.

    With `is_clamped`, an allow becomes ask: at a production target a person decides.
    """
    version = version_of(policy)
    return judge_by(version, policy, answers, judged=judged, executed=executed, is_clamped=is_clamped)


def judge_by(
    version: Definition | None, policy: str, answers: Any, *, judged: Any, executed: Any, is_clamped: bool
) -> Judged:  # fmt: skip
    """The verdict of this version of a policy, for whoever has gathered the answers that it asks for."""
    if version is None:
        return Judged(policy, None, True, NO_POLICY, judged=judged, executed=executed)
    decision = decide(version.body["program"], answers, judged_action=judged, executed_action=executed)
    is_enforced = version.status == Definition.Status.ACTIVE
    found = Judged(policy, version, is_enforced, decision, judged=judged, executed=executed)
    if is_clamped and decision.verdict == "allow":
        return replace(found, decision=replace(decision, verdict="ask"), is_clamped=True)
    return found


def version_of(policy: str) -> Definition | None:
    """The version in force, else the newest that observes; None when there is neither."""
    return twohands.active(policies.KIND.name, policy) or policies.observed(policy)


def recorded(
    found: Judged, principal: Principal, *, subject: str, answers: Any, action: Mapping[str, Any],
    model: Mapping[str, Any], asked: Mapping[str, Any] = NOTHING,
) -> Judged:  # fmt: skip
    """The same with its entry, committed. Raises Problem when it cannot be: then nobody may be told.

    `model` is what the agent says answered for it; `asked` says which answers came from the answering model.
    """
    version = found.version
    entry = recording.commit(
        Kind.ADMISSION_DECIDED, principal, subject=subject, summary=summary(found), tool=found.policy,
        tool_version=version.version if version else None, tool_hash=policies.digest(version) if version else "",
        args=masking.mask(args_of(found, answers, action, model, asked)), result=result_of(found),
    )  # fmt: skip
    return replace(found, entry=entry)


def args_of(
    found: Judged, answers: Any, action: Mapping[str, Any], model: Mapping[str, Any], asked: Mapping[str, Any] = NOTHING
) -> dict[str, Any]:  # fmt: skip
    """What an entry of a decision holds of what it was about, and who answered."""
    return {
        "action": action, "answers": answers, "model": dict(model), "asked": dict(asked),
        "judged_action": found.judged, "executed_action": found.executed,
    }  # fmt: skip


def result_of(found: Judged) -> dict[str, Any]:
    """What an entry of a decision holds of what was decided, and by what measure."""
    decision = found.decision
    return {
        **decision.as_json(), "is_enforced": found.is_enforced, "is_clamped": found.is_clamped,
        "reasons": {one.q: one.reason for one in decision.escalations if one.q and one.reason},
        "thresholds": _thresholds(found.version),
    }  # fmt: skip


def summary(found: Judged) -> str:
    """The verdict in one line, and what led to it."""
    decision = found.decision
    why = f"rule {decision.rule}" if decision.rule else ", ".join(_said(one) for one in decision.escalations)
    observed = "" if found.is_enforced else ", observed only"
    return f"{decision.verdict}: {why}{observed}"


def _said(one: Escalation) -> str:
    return f"{one.q} {one.why}" if one.q else one.why


def _thresholds(version: Definition | None) -> dict[str, Any]:
    """What an answer had to be sure of, by question, as it was then."""
    questions = version.body["program"]["questions"] if version else []
    keys = ("unsure_between", "min_confidence")
    return {one["id"]: one[key] for one in questions for key in keys if key in one}
