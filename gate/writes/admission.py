"""What admission made of a write, as those read it who act on it later: people's guards and the writer.

The writer trusts no row: it wants the entry as well, which only the role that probes may write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit import reading, twohands
from audit.kinds import Kind
from audit.models import Definition, Entry
from gate.admission import policies
from gate.admission.answers import OWN_KEY
from gate.admission.reducer import decide
from gate.errors import NotAllowed
from gate.writes import digests, known_since, target_admission
from gate.writes.models import Admission, Preview, WriteRequest

Status = WriteRequest.Status
NEVER_AGAIN = "Nobody can overrule that; the way on is another proposal."


class Outdated(NotAllowed):
    """Another version of the policy came in force since, or more is known: the write is observed and judged anew."""


class NotAdmitted(Exception):
    """The writer may not run it, for admission did not let it in; the sentence says what is wrong."""


def latest(write: WriteRequest) -> Admission | None:
    """What was made of the newest edition last; None while it is being checked."""
    found = Admission.objects.filter(write=write, edition=write.edition).select_related("version")
    return found.order_by("-pk").first()


def check_has_answered(write: WriteRequest) -> None:
    """Raises NotAllowed while a write is being checked, and for one that was blocked."""
    if write.status == Status.PROPOSED:
        raise NotAllowed(f"{write.ref} is being checked by its target's policy; nobody decides about it before that.")
    if write.status == Status.BLOCKED:
        raise NotAllowed(f"{why_blocked(write)} {NEVER_AGAIN}")


def why_blocked(write: WriteRequest) -> str:
    """Which rule blocked it, and what was observed, in a sentence or two. It names no threshold."""
    found = latest(write)
    if found is None:
        return f"{write.ref} was blocked."
    evidence = ", ".join(f"{question}: {_said(found.answers[question])}" for question in blocking(found))
    seen = f" ({evidence})" if evidence else ""  # where no rule matched, nothing decided
    return f"The rule {found.rule} of the policy {found.policy} blocks {write.ref}{seen}."


def blocking(found: Admission) -> list[str]:
    """The questions that the rule which decided reads: before it decided, each had an answer."""
    rules = found.version.body["program"]["rules"] if found.version else []
    return list(dict.fromkeys(one["q"] for rule in rules if rule["id"] == found.rule for one in rule["when"]))


def _said(answer: Mapping[str, Any]) -> str:
    return next(str(answer[key]) for key in OWN_KEY.values() if key in answer)


def check_is_current(write: WriteRequest) -> None:
    """Raises Outdated when another version is in force than judged this write, or its preview shows something else.

    Strict: what a newer version asks may never have been observed, and what was observed is as old as the proposal.
    So the write is observed and judged anew, rather than the old answers read by new rules.
    """
    in_force = _in_force(write)
    found = latest(write)
    if found is None or found.verdict != Admission.Verdict.ASK:
        raise NotAllowed(f"Admission did not let {write.ref} in as it stands, so nobody decides about it.")
    if in_force is not None and in_force.pk != found.version_id:
        raise Outdated(
            f"Version {in_force.version} of the policy {in_force.name} came in force after {write.ref} was checked, so"
            " it is checked anew first."
        )
    if why := known_since.differs(write, found):
        raise Outdated(f"{why} when it was checked, so it is checked anew first.")


def _in_force(write: WriteRequest) -> Definition | None:
    return twohands.active(policies.KIND.name, target_admission.of(write.target.body).policy)


def check_effect(write: WriteRequest, seen: Preview) -> None:
    """Raises NotAllowed where the policy blocks what is known by now: a freeze, an incident, or as many rows."""
    found = latest(write)
    if found is not None and (rule := _blocks_now(write, found, seen)):
        raise NotAllowed(
            f"The rule {rule} blocks {write.ref} now: for the rows that its preview shows, a freeze, or an incident."
        )


def check_admitted(write: WriteRequest, seen: Preview) -> None:
    """The writer's own look at it, and at what it would change. Raises NotAdmitted.

    The answers stand for the proposal that they were about alone; and the policy in force, which may have come since
    the approval, is read over them once more, for what it would block is not run.
    """
    found = latest(write)
    if found is None or found.verdict != Admission.Verdict.ASK or not _is_recorded(write, found):
        raise NotAdmitted(f"Admission never let {write.ref} in front of people as it stands.")
    if digests.of_proposal(write) != found.proposal_digest:
        raise NotAdmitted(
            f"{write.ref} was changed after it was proposed: what was observed is about another action"
            " (action_changed)."
        )
    if rule := _blocks_now(write, found, seen):
        raise NotAdmitted(f"The rule {rule} of the policy that is in force now blocks {write.ref}.")


def _blocks_now(write: WriteRequest, found: Admission, seen: Preview) -> str | None:
    """The rule of the policy in force that blocks it by what is known now; None when none does."""
    version = _in_force(write)
    if version is None:
        return None
    decision = decide(version.body["program"], {**found.answers, **known_since.answers(write, version, seen)})
    return decision.rule if decision.verdict == "block" else None


def _is_recorded(write: WriteRequest, found: Admission) -> bool:
    """Whether the log says that exactly this proposal was let in."""
    entries = list(Entry.objects.filter(kind=Kind.WRITE_ADMITTED, subject=write.ref))
    contents = reading.contents_of(entries)
    args = [contents[one.pk].args for one in entries if contents[one.pk].is_readable]
    return any(
        one["judged_action"] == found.proposal_digest and one["action"]["edition"] == write.edition for one in args
    )
