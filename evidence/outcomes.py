"""What a call that was let in comes to: one guarded read, checked and made fit to be shown, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit import log
from audit.masking import mask
from evidence import escaping, kinds, showing, turns
from evidence.calling import Admitted, Asked
from evidence.contracts import Contract
from evidence.errors import Problem, Refused
from evidence.kinds.kind import Found
from evidence.metrics import calls


@dataclass(frozen=True)
class Outcome:
    """What a read came to: a result, or why there is none."""

    result: dict[str, Any] | None
    truncated: bool = False
    incomplete: tuple[str, ...] = ()
    incomplete_why: Sequence[str] = ()
    error_class: str = ""
    error: str = ""
    status: int = 502


def of(admitted: Admitted, asked: Asked, started: log.Recorded) -> Outcome:
    """One guarded read, checked against the output schema. It does not raise: a failure is an outcome."""
    contract, source, given = admitted.contract, admitted.source, asked.given
    try:
        with turns.of(source.name).take(asked.principal.owner_id):
            found = _found(admitted, asked, started)
        result = showing.showable(found.result)
        _check_result(contract, result)
    except Refused as refused:
        error = _without_secrets(refused.sentence, given)
        return Outcome(None, error_class=refused.code, error=error, status=_status(refused, given))
    except Problem as problem:
        return Outcome(None, error_class=problem.code, error=problem.sentence, status=problem.status)
    # What is not the whole answer counts as cut, whoever cut it.
    why = kinds.sentences(source, found.incomplete)
    return Outcome(result, found.truncated or bool(found.incomplete), found.incomplete, why)


def _found(admitted: Admitted, asked: Asked, started: log.Recorded) -> Found:
    """What the source says. A metric is read as of the investigation's decision point: live, when the call began."""
    contract, source = admitted.contract, admitted.source
    if not isinstance(contract, calls.MetricCall):
        return kinds.of(source).read(source, contract, asked.given, admitted.limits)
    at = admitted.decision_point or started.at
    run = str(asked.about["call_id"])
    return contract.read(source, asked.about["certificate"], asked.given, at, run, started.ref)


def _status(refused: Refused, given: dict[str, Any]) -> int:
    """The caller's fault or the source's: a tool without arguments fails by its source."""
    if refused.code == "parameters" and given:
        return 422
    return 503 if refused.code == "busy" else 502


def _without_secrets(sentence: str, given: dict[str, Any]) -> str:
    """A database's error may repeat an argument; what is masked in the arguments is masked here, too."""
    for secret in sorted(_texts(given) - _texts(mask(given)), key=len, reverse=True):
        sentence = sentence.replace(secret, "[masked]")
    return escaping.shown(mask(sentence))


def _texts(value: Any) -> set[str]:
    if isinstance(value, dict | list):
        children = value.values() if isinstance(value, dict) else value
        return {text for child in children for text in _texts(child)}
    return {value} if isinstance(value, str) and value else set()


def _check_result(contract: Contract, result: dict[str, Any]) -> None:
    """Raise Refused when the result is not what the contract promises, or too large to be recorded whole."""
    sentence = contract.misfit_of_result(result)
    if sentence:
        raise Refused("output_mismatch", f"The result is kept out, for it breaks the tool's contract: {sentence}")
    showing.check_size(result)
