"""The probes of an HTTP action: what its target's definition says, for nobody can look at what a request would do."""

from __future__ import annotations

from gate.writes import target_admission, targets
from gate.writes.errors import Unfit
from gate.writes.models import WriteRequest
from gate.writes.probes.fact import Fact, Probe, Unknown, yes_no
from gate.writes.target_admission import Said

TARGET, METHOD = "target's definition", "method"
BY_METHOD = {"PUT": "changes", "PATCH": "changes", "DELETE": "removes"}  # a POST may do anything
REPEATABLE = frozenset({"PUT", "DELETE"})  # RFC 9110 9.2.2: the effect of several is that of one


def probes(write: WriteRequest) -> dict[str, Probe]:
    """By the question that each answers."""
    said, action = target_admission.of(write.target.body), targets.of(write.target).action
    method = action.method if action is not None else ""
    return {
        "effect": lambda: _effect(said, method), "reversible": lambda: _reversible(said),
        "moves_money": lambda: _moves_money(said), "repeatable": lambda: _repeatable(said, method),
    }  # fmt: skip


def _effect(said: Said, method: str) -> Fact:
    if said.effect is not None:
        return Fact(said.effect, "the target says so", TARGET)
    if method not in BY_METHOD:
        raise Unknown(f"The target does not say what its {method} does to what is there.")
    return Fact(BY_METHOD[method], f"as {method} does", METHOD)


def _reversible(said: Said) -> Fact:
    if said.undone_by is None:
        return yes_no(False, "the target names no action that undoes it", TARGET)
    try:
        targets.active(said.undone_by)
    except Unfit:
        return yes_no(False, f"the target {said.undone_by}, which would undo it, is not in force", TARGET)
    return yes_no(True, f"by the target {said.undone_by}", TARGET)


def _moves_money(said: Said) -> Fact:
    return yes_no(
        said.moves_money, "it does, or the target does not say" if said.moves_money else "it does not", TARGET
    )


def _repeatable(said: Said, method: str) -> Fact:
    if method in REPEATABLE:
        return yes_no(True, f"as every {method}", METHOD)
    if said.honors_key is None:
        raise Unknown("The target does not say whether it honors the Idempotency-Key.")
    return yes_no(said.honors_key, f"the target {'honors' if said.honors_key else 'ignores'} the key", TARGET)
