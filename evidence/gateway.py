"""The one door to evidence: token, contract, scope, arguments, certificate, budget, then one guarded read.

Nothing runs before its `call.started` is committed, and nothing is shown before its `call.finished` is. A tool never
retries and never falls back: a failed call is an answer, with an id that can be cited.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Unpack
from uuid import uuid4

from audit import agents, log, payloads, twohands
from audit.agents import Principal
from audit.budgets import CALLS
from audit.kinds import Kind
from audit.masking import mask
from audit.models import Definition
from evidence import budgets, contracts, proof, reader, recording, scope, sources
from evidence.arguments import exact, is_deep, misfit
from evidence.contracts import INVESTIGATION, Contract
from evidence.errors import Problem, Refused, unknown_tool
from evidence.scope import Scope

LONGEST_SUMMARY = 160  # characters
LIMITS = reader.Limits(bytes=payloads.LARGEST_PAYLOAD)


@dataclass(frozen=True)
class CallResult:
    """What the agent gets: the id to cite with its receipt, the facts, whether they were cut, and the calls left."""

    audit_id: str
    digest: str
    result: dict[str, Any]
    truncated: bool
    budget_left: int


@dataclass
class Asked:
    """A call on its way through the checks, with what its entries will say."""

    principal: Principal
    tool: str
    given: dict[str, Any]
    investigation: Any
    about: log.About

    def note(self, **more: Unpack[log.About]) -> None:
        """Something that the entries from here on say."""
        self.about = {**self.about, **more}

    def record(self, kind: Kind, **more: Unpack[log.About]) -> log.Recorded:
        """One entry of this call. Raises Problem when it could not be committed: then nothing may go on."""
        about: log.About = {**self.about, **more}
        return recording.commit(kind, self.principal, **about)


@dataclass(frozen=True)
class Admitted:
    """A call that may run."""

    contract: Contract
    dsn: str
    schema: str  # that the source exposes
    budget_left: int


@dataclass(frozen=True)
class Outcome:
    """What a read came to: a result, or why there is none."""

    result: dict[str, Any] | None
    truncated: bool = False
    error_class: str = ""
    error: str = ""
    status: int = 502


def call(principal: Principal, tool_name: str, arguments: dict[str, Any], investigation: int | None) -> CallResult:
    """Call an evidence tool for an agent. Raises Problem: refused before it ran, or failed, then with its audit id.

    `investigation` is needed when the agent runs several; it may stand among the arguments, too.
    """
    asked = Asked(principal, tool_name, arguments, investigation, {"tool": tool_name, "call_id": uuid4()})
    try:
        admitted = _admit(asked)
    except Problem as problem:
        recording.refusal(principal, problem, asked.about)
        raise
    started = asked.record(Kind.CALL_STARTED, summary=_asked_words(asked))
    begun = time.monotonic()
    outcome = _read(admitted, asked.given)
    duration = int((time.monotonic() - begun) * 1000)
    if agents.is_stopped(principal.agent_id):
        stopped = budgets.stopped()
        outcome = Outcome(None, error_class=stopped.code, error=stopped.sentence, status=stopped.status)
    finished = asked.record(
        Kind.CALL_FINISHED,
        parent=started.id,
        summary=_answered_words(asked, outcome, duration),
        status="ok" if outcome.result is not None else "failed",
        duration_ms=duration,
        result=outcome.result,
        truncated=outcome.truncated,
        error_class=outcome.error_class,
        error=outcome.error,
    )
    if outcome.result is None:
        sentence = f"{outcome.error.rstrip('.')}; the failed call is {finished.ref}."
        raise Problem(outcome.status, outcome.error_class, sentence, finished.ref, finished.digest.hex())
    return CallResult(finished.ref, finished.digest.hex(), outcome.result, outcome.truncated, admitted.budget_left)


def _admit(asked: Asked) -> Admitted:
    """Everything that must hold before a read, in an order that spends the budget last. Raises Problem."""
    asked.given = exact(asked.given)
    asked.note(args=mask(asked.given))
    contract = contracts.active(asked.tool) if "tools" in asked.principal.scopes else None
    if contract is None:
        raise unknown_tool()
    within = scope.resolve(asked.principal, _which(asked))
    # Which investigation it is stands in the entry itself; checks compare the tool's own arguments.
    asked.note(
        args=mask(asked.given), run_id=within.run_id, incident_id=within.incident_id, subject=f"I-{within.incident_id}"
    )
    if not _is_offered(contract, within):
        raise unknown_tool()
    _note_contract(asked, contract)
    sentence = contract.misfit(asked.given)
    if sentence:
        raise Problem(422, "wrong_arguments", sentence)
    source = _proven_source(asked, contract)
    dsn = sources.dsn(source, "reader_env")
    budgets.take(asked.principal, CALLS)
    return Admitted(contract, dsn, source.body["schema"], within.take_call())


def _which(asked: Asked) -> int | None:
    """The investigation that the call names, taken out of the arguments. Raises Problem when it is no number."""
    inside = asked.given.pop(INVESTIGATION, None)
    which: int | None = inside if asked.investigation is None else asked.investigation
    if inside not in (None, which) or not (which is None or _is_id(which)):
        raise Problem(422, "wrong_arguments", f"{INVESTIGATION} is the number of one investigation of yours.")
    return which


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63


def _is_offered(contract: Contract, within: Scope) -> bool:
    """Whether the class offers the tool, and the tool can speak about the decision point."""
    return within.allows(contract.name) and (contract.visibility_scope != "live" or within.decision_point is None)


def _note_contract(asked: Asked, contract: Contract) -> None:
    asked.note(
        tool_version=contract.version,
        tool_hash=contract.digest,
        source=contract.source,
    )


def _asked_words(asked: Asked) -> str:
    """A call in one line of the log: its tool, and its masked arguments."""
    words = [f"{name}={value}" for name, value in mask(asked.given).items() if value is not None]
    return " ".join([asked.tool, *words])[:LONGEST_SUMMARY]


def _answered_words(asked: Asked, outcome: Outcome, duration: int) -> str:
    """An answer in one line of the log: how long it took and how much came of it."""
    if outcome.result is None:
        return f"{asked.tool}, failed after {duration} ms: {outcome.error_class}"
    size = payloads.pack(outcome.result).full_length
    return f"{asked.tool}, {size:,} bytes, {duration} ms{', cut' if outcome.truncated else ''}"


def _proven_source(asked: Asked, contract: Contract) -> Definition:
    """The source, when its certificate holds. Raises Problem."""
    source = twohands.active("source", contract.source)
    if source is None:
        raise Problem(503, "source_dark", f"The source {contract.source} is not in force; an admin can activate it.")
    certificate = proof.require(source)
    asked.note(certificate=str(certificate.pk))
    return source


def _read(admitted: Admitted, given: dict[str, Any]) -> Outcome:
    """One guarded read, shaped and checked against the output schema. It does not raise: a failure is an outcome."""
    contract = admitted.contract
    values = [given.get(name) for name in contract.parameters]
    try:
        if contract.is_query:
            found = reader.read(admitted.dsn, given["sql"], limits=LIMITS, schema=admitted.schema)
        else:
            found = reader.read(admitted.dsn, contract.sql, values, limits=LIMITS)
        result = _shaped(contract, found)
        _check_result(contract, result)
    except Refused as refused:
        # The caller's fault or the source's: a tool without arguments fails by its source.
        status = 422 if refused.code == "parameters" and given else 502
        return Outcome(None, error_class=refused.code, error=_without_secrets(refused.sentence, given), status=status)
    return Outcome(result, found.truncated)


def _without_secrets(sentence: str, given: dict[str, Any]) -> str:
    """A database's error may repeat an argument; what is masked in the arguments is masked here, too."""
    for secret in sorted(_texts(given) - _texts(mask(given)), key=len, reverse=True):
        sentence = sentence.replace(secret, "[masked]")
    masked: str = mask(sentence)
    return masked


def _texts(value: Any) -> set[str]:
    if isinstance(value, dict | list):
        children = value.values() if isinstance(value, dict) else value
        return {text for child in children for text in _texts(child)}
    return {value} if isinstance(value, str) and value else set()


def _shaped(contract: Contract, found: reader.ReadResult) -> dict[str, Any]:
    """The result in the contract's shape (see contracts.SHAPES). Raises Refused when the rows do not have it."""
    if contract.shape == "rows":
        return {"rows": found.rows}
    if contract.is_query:
        return {"columns": found.columns, "rows": found.rows}
    if found.truncated:
        # One row that a limit cut is no row; that it is absent would be a lie.
        raise Refused("truncated", "The result is larger than a tool may give back; narrow the arguments.")
    if len(found.rows) > 1:
        raise Refused("wrong_shape", f"The tool promises one row and its read found {len(found.rows)}.")
    if contract.shape == "row":
        return {"row": found.rows[0] if found.rows else None}
    return _object(found)


def _object(found: reader.ReadResult) -> dict[str, Any]:
    result = found.rows[0].get("result") if found.rows and found.columns == ["result"] else None
    if not isinstance(result, dict):
        raise Refused("wrong_shape", "The tool promises one object in one column called result; its read found none.")
    return result


def _check_result(contract: Contract, result: dict[str, Any]) -> None:
    """Raise Refused when the result is not what the contract promises, or too large to be recorded whole."""
    sentence = misfit(contract.output_schema, result)
    if sentence:
        raise Refused("output_mismatch", f"The result is kept out, for it breaks the tool's contract: {sentence}")
    if is_deep(result):
        raise Refused("too_nested", "The result nests too deeply to be read again, so it is kept out.")
    if payloads.pack(result).is_cut:
        raise Refused("too_large", "The result is larger than the log keeps; narrow the arguments.")
