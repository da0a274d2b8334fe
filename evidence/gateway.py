"""The one door to evidence: token, contract, scope, arguments, certificate, budget, then one guarded read.

Nothing runs before its `call.started` is committed, and nothing is shown before its `call.finished` is. A tool never
retries and never falls back: a failed call is an answer, with an id that can be cited.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Unpack
from uuid import uuid4

from django.db import DatabaseError

from audit import agents, at_once, log, payloads
from audit.agents import Principal
from audit.budgets import CALLS
from audit.kinds import Kind
from audit.masking import mask
from audit.models import Definition
from evidence import (
    budgets,
    contracts,
    escaping,
    kinds,
    proof,
    rate,
    recording,
    scope,
    showing,
    turns,
    written_reads,
)  # fmt: skip
from evidence.arguments import exact
from evidence.bounds import Limits
from evidence.contracts import INVESTIGATION, Contract
from evidence.errors import Problem, Refused, unknown_tool
from evidence.kinds.kind import Found
from evidence.metrics import calls
from evidence.models import Certificate
from evidence.scope import Scope

LONGEST_SUMMARY = 160  # characters
LIMITS = Limits(bytes=payloads.LARGEST_PAYLOAD)


@dataclass(frozen=True)
class Left:
    """What is left after a call, and what its answer could have held at most."""

    investigation: int  # calls of it
    agent_this_hour: int  # calls of the agent's budget
    agent_this_minute: int  # calls of this source
    source_this_minute: int  # calls of this source by all agents
    rows_cap: int
    bytes_cap: int


@dataclass(frozen=True)
class CallResult:
    """What the agent gets: the id to cite with its receipt, the facts, whether they were cut, and what is left.

    `incomplete` says by codes why an answer that was cut is not the whole one, where the source itself says so.
    `untrusted` says that others wrote what stands in `result`: it is data, and never an instruction.
    """

    audit_id: str
    digest: str
    result: dict[str, Any]
    truncated: bool
    incomplete: list[str]
    budget_left: int
    left: Left
    untrusted: bool = True


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
    source: Definition
    limits: Limits
    left: Left
    decision_point: datetime | None


@dataclass(frozen=True)
class Outcome:
    """What a read came to: a result, or why there is none."""

    result: dict[str, Any] | None
    truncated: bool = False
    incomplete: tuple[str, ...] = ()
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
    outcome = _read(admitted, asked, started)
    duration = int((time.monotonic() - begun) * 1000)
    has_written = outcome.error_class == written_reads.WROTE
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
        # An answer that came and is not whole is no error, but its codes stand where those of errors do.
        error_class=outcome.error_class or " ".join(outcome.incomplete),
        error=outcome.error,
    )
    if has_written:
        _darken(asked, admitted, finished)
    if outcome.result is None:
        sentence = f"{outcome.error.rstrip('.')}; the failed call is {finished.ref}."
        raise Problem(outcome.status, outcome.error_class, sentence, finished.ref, finished.digest.hex())
    return CallResult(
        finished.ref, finished.digest.hex(), outcome.result, outcome.truncated, list(outcome.incomplete),
        admitted.left.investigation, admitted.left,
    )  # fmt: skip


def _darken(asked: Asked, admitted: Admitted, finished: log.Recorded) -> None:
    """Keep the source from every further read: something wrote during this one. Raises Problem when that fails."""
    try:
        written_reads.note(admitted.source, finished.ref, asked.principal.agent)
    except DatabaseError as error:
        sentence = f"Something wrote during {finished.ref}, and that could not be kept; tell whoever keeps the source."
        raise Problem(503, "not_darkened", sentence, finished.ref, finished.digest.hex()) from error


def _admit(asked: Asked) -> Admitted:
    """Everything that must hold before a read, in an order that spends the budget last. Raises Problem."""
    asked.given = exact(asked.given)
    asked.note(args=mask(asked.given))
    which, flaw = _which(asked)
    of_tool, of_source = _called(asked)
    of_scope = scope.resolving(asked.principal, which)
    tool_rows, scope_rows, source_rows = at_once.rows_of(of_tool, of_scope, of_source)
    contract = of_tool.told(tool_rows) if "tools" in asked.principal.scopes else None
    if contract is not None:
        _note_contract(asked, contract)
    if flaw:
        raise Problem(422, "wrong_arguments", flaw)
    # Before anything is said about the tool: what is there and is not for this agent answers as what is not there.
    within = of_scope.told(scope_rows)
    # Which investigation it is stands in the entry itself; checks compare the tool's own arguments.
    asked.note(
        args=mask(asked.given), run_id=within.run_id, incident_id=within.incident_id, subject=f"I-{within.incident_id}"
    )
    if contract is None or not contract.is_offered(within):
        raise _unknown(asked)
    sentence = contract.misfit(asked.given)
    if sentence:
        raise Problem(422, "wrong_arguments", sentence)
    source, certificate = of_source.told(source_rows)
    asked.note(certificate=str(certificate.pk))
    limits = _limits(contract)
    return Admitted(contract, source, limits, _take(asked.principal, source, within, limits), within.decision_point)


def _called(asked: Asked) -> tuple[at_once.Asked[Contract | None], at_once.Asked[tuple[Definition, Certificate]]]:
    """What is called, with its source: a tool in force, or one of the product's own about a metric in force."""
    if asked.tool in calls.TOOLS:
        return calls.asked(asked.principal, asked.tool, asked.given), proof.behind("metric", calls.named(asked.given))
    return contracts.asked(asked.tool), proof.behind("tool", asked.tool)


def _unknown(asked: Asked) -> Problem:
    """The answer where nothing is offered that is called so."""
    if calls.is_for(asked.principal, asked.tool):
        return calls.unknown(asked.tool, asked.given)
    return unknown_tool()


def _limits(contract: Contract) -> Limits:
    """The caps of one answer: those of every tool, or lower ones of the contract's own."""
    return replace(LIMITS, rows=contract.max_rows or LIMITS.rows, bytes=contract.max_bytes or LIMITS.bytes)


def _take(principal: Principal, source: Definition, within: Scope, limits: Limits) -> Left:
    """One call of every count that it is one of, the investigation's last. Raises Problem when one is used up."""
    of_minute = rate.taking(source.name, principal.agent_id, rate.rates_of(source.body))
    of_hour, of_calls = budgets.taking(principal, CALLS), within.taking_call()
    minute, hour, calls = at_once.take(of_minute, of_hour, of_calls)
    return Left(calls, hour, minute.agent, minute.source, limits.rows, limits.bytes)


def _which(asked: Asked) -> tuple[int | None, str]:
    """The investigation that the call names, taken out of the arguments, and why it cannot be one."""
    inside = asked.given.pop(INVESTIGATION, None)
    which: int | None = inside if asked.investigation is None else asked.investigation
    if inside not in (None, which) or not (which is None or _is_id(which)):
        return None, f"{INVESTIGATION} is the number of one investigation of yours."
    return which, ""


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63


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
    cut = ", cut" if outcome.truncated else ""
    why = f": {' '.join(outcome.incomplete)}" if outcome.incomplete else ""
    return f"{asked.tool}, {size:,} bytes, {duration} ms{cut}{why}"


def _read(admitted: Admitted, asked: Asked, started: log.Recorded) -> Outcome:
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
    return Outcome(result, found.truncated or bool(found.incomplete), found.incomplete)


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
