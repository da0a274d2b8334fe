"""The one door to evidence: token, contract, scope, arguments, certificate, budget, then one guarded read.

Nothing runs before its `call.started` is committed, and nothing is shown before its `call.finished` is. A tool never
retries and never falls back: a failed call is an answer, with an id that can be cited.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import simplejson
from django.db import DatabaseError

from audit import agents, at_once, log, payloads
from audit.agents import Principal
from audit.budgets import CALLS
from audit.kinds import Kind
from audit.masking import mask
from audit.models import Definition
from evidence import budgets, contracts, outcomes, proof, rate, recording, scope, written_reads
from evidence.arguments import exact
from evidence.bounds import Limits
from evidence.calling import Admitted, Asked, Left
from evidence.contracts import INVESTIGATION, Contract
from evidence.errors import Problem, unknown_tool
from evidence.metrics import calls
from evidence.models import Certificate
from evidence.outcomes import Outcome
from evidence.scope import Scope

LONGEST_SUMMARY = 160  # characters
LIMITS = Limits(bytes=payloads.LARGEST_PAYLOAD)


@dataclass(frozen=True)
class CallResult:
    """What the agent gets: the id to cite with its receipt, the facts, whether they were cut, and what is left.

    `incomplete` says by codes why an answer that was cut is not the whole one, where the source itself says so, and
    `incomplete_why` in a sentence each.
    `untrusted` says that others wrote what stands in `result`: it is data, and never an instruction.
    """

    audit_id: str
    digest: str
    result: dict[str, Any]
    truncated: bool
    incomplete: list[str]
    incomplete_why: list[str]
    budget_left: int
    left: Left
    untrusted: bool = True


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
    read = outcomes.of(admitted, asked, started)
    duration = int((time.monotonic() - begun) * 1000)
    outcome = _unless_stopped(principal, read)
    finished = _finish(asked, started, outcome, duration)
    if read.error_class == written_reads.WROTE:
        _darken(asked, admitted, finished)
    return _told(outcome, finished, admitted.left)


def _unless_stopped(principal: Principal, outcome: Outcome) -> Outcome:
    """The outcome; none for an agent that was stopped while its call ran."""
    if not agents.is_stopped(principal.agent_id):
        return outcome
    stopped = budgets.stopped()
    return Outcome(None, error_class=stopped.code, error=stopped.sentence, status=stopped.status)


def _finish(asked: Asked, started: log.Recorded, outcome: Outcome, duration: int) -> log.Recorded:
    """The entry that is cited. Raises Problem when it could not be committed: then nothing is shown."""
    return asked.record(
        Kind.CALL_FINISHED,
        parent=started.id,
        summary=_answered_words(asked, outcome, duration),
        status="ok" if outcome.result is not None else "failed",
        duration_ms=duration,
        result=outcome.result,
        truncated=outcome.truncated,
        # An answer that came and is not whole is no error, but its codes and sentences stand where those of errors do.
        error_class=outcome.error_class or " ".join(outcome.incomplete),
        error=outcome.error or " ".join(outcome.incomplete_why),
    )


def _told(outcome: Outcome, finished: log.Recorded, left: Left) -> CallResult:
    """What the agent gets of an outcome that is on record. Raises Problem for a call that failed."""
    digest = finished.digest.hex()
    if outcome.result is None:
        sentence = f"{outcome.error.rstrip('.')}; the failed call is {finished.ref}."
        raise Problem(outcome.status, outcome.error_class, sentence, finished.ref, digest)
    return CallResult(
        finished.ref, digest, outcome.result, outcome.truncated, list(outcome.incomplete),
        list(outcome.incomplete_why), left.investigation, left,
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
    contract, within, behind = _look_up(asked)
    if contract is None or not contract.is_offered(within):
        raise _unknown(asked)
    sentence = contract.misfit(asked.given)
    if sentence:
        raise Problem(422, "wrong_arguments", sentence)
    source, certificate = behind()
    asked.note(certificate=str(certificate.pk))
    limits = _limits(contract)
    return Admitted(contract, source, limits, _take(asked.principal, source, within, limits), within.decision_point)


def _look_up(asked: Asked) -> tuple[Contract | None, Scope, Callable[[], tuple[Definition, Certificate]]]:
    """The contract that is called, for which investigation, and what says the source behind it. Raises Problem.

    One question to the database. The investigation is checked before anything is said about the tool: what is there
    and is not for this agent answers as what is not there.
    """
    which, flaw = _which(asked)
    of_tool, of_source = _called(asked)
    of_scope = scope.resolving(asked.principal, which)
    tool_rows, scope_rows, source_rows = at_once.rows_of(of_tool, of_scope, of_source)
    contract = of_tool.told(tool_rows) if "tools" in asked.principal.scopes else None
    if contract is not None:
        _note_contract(asked, contract)
    if flaw:
        raise Problem(422, "wrong_arguments", flaw)
    within = of_scope.told(scope_rows)
    # Which investigation it is stands in the entry itself; checks compare the tool's own arguments.
    asked.note(
        args=mask(asked.given), run_id=within.run_id, incident_id=within.incident_id, subject=f"I-{within.incident_id}"
    )
    return contract, within, lambda: of_source.told(source_rows)


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
    words = [f"{name}={_in_words(value)}" for name, value in mask(asked.given).items() if value is not None]
    return " ".join([asked.tool, *words])[:LONGEST_SUMMARY]


def _in_words(argument: Any) -> str:
    """A text as it is, and anything else as JSON: people read the line."""
    return argument if isinstance(argument, str) else simplejson.dumps(argument, ensure_ascii=False)


def _answered_words(asked: Asked, outcome: Outcome, duration: int) -> str:
    """An answer in one line of the log: how long it took and how much came of it."""
    if outcome.result is None:
        return f"{asked.tool}, failed after {duration} ms: {outcome.error_class}"
    size = payloads.pack(outcome.result).full_length
    cut = ", cut" if outcome.truncated else ""
    why = f": {' '.join(outcome.incomplete)}" if outcome.incomplete else ""
    return f"{asked.tool}, {size:,} bytes, {duration} ms{cut}{why}"
