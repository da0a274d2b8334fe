"""The desk tools of writes: an agent proposes, and asks what became of it. Nothing here approves."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from django.db import transaction

from audit import masking
from audit.agents import Principal
from audit.budgets import PROPOSALS
from evidence import budgets, recording
from evidence.desk import DeskTool
from evidence.errors import Problem
from gate.admission import asking, judging
from gate.admission.usable import usable
from gate.errors import NotAllowed
from gate.writes import actions, canary_placing, editing, target_admission, targets, telling
from gate.writes.errors import Duplicate, Unfit
from gate.writes.models import WriteRequest
from gate.writes.parameters import MOST_PARAMETERS, TYPES

PROPOSE = "propose_write"
STATUS = "write_status"
QUESTIONS = "write_questions"

PARAMETER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "t": {"type": "string", "enum": list(TYPES)},
        "v": {"type": ["string", "null"], "description": 'The value as text, like "250.00"; null for NULL.'},
    },
    "required": ["t", "v"],
    "additionalProperties": False,
}
PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}
# Closed, so that nobody can say of an answer that a probe gave it.
ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "p": PROBABILITY,
        "value": {"type": "string", "maxLength": 200},
        "level": {"type": "number", "minimum": 0},
        "confidence": PROBABILITY,
        "abstain": {"type": "boolean"},
        "why": {"type": "string", "maxLength": 500},
    },
    "additionalProperties": False,
}
MOST_ANSWERS = 50
PROPOSE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "target": {"type": "string", "description": "The name of the target in force, like shop."},
        "statement": {
            "type": "string",
            "description": "One INSERT, UPDATE or DELETE with schema-qualified tables and parameters $1, $2, …; for a"
            " target that is an HTTP action, the JSON object of its fields, and no parameters.",
        },
        "parameters": {"type": "array", "items": PARAMETER_SCHEMA, "maxItems": MOST_PARAMETERS},
        "title": {"type": "string", "description": "What it does, in one sentence."},
        "reason": {"type": "string", "description": "Why. People read it as your words; it is not what they approve."},
        "incident": {"type": "string", "description": "The incident it is for, like I-318."},
        "edits": {
            "type": "string",
            "description": "A write of yours that this replaces, like W-577: same target, and nothing approved of it"
            " counts any more.",
        },
        "answers": {
            "type": "object",
            "description": "Your model's answers to what write_questions tells for the target, by question.",
            "additionalProperties": ANSWER_SCHEMA,
            "maxProperties": MOST_ANSWERS,
        },
        "model": {
            "type": "object",
            "description": "The model that gave these answers.",
            "properties": {"id": {"type": "string", "maxLength": 200}, "latency_ms": {"type": "number"}},
            "required": ["id"],
            "additionalProperties": False,
        },
    },
    "required": ["target", "statement", "parameters", "title", "reason"],
    "additionalProperties": False,
}
STATUS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"write": {"type": "string", "description": "The write, like W-577."}},
    "required": ["write"],
    "additionalProperties": False,
}


def propose(principal: Principal, arguments: dict[str, Any]) -> dict[str, Any]:
    """Propose a write; it is checked, and then a person decides.

    Raises Problem with the sentence that says what to change; it is recorded.
    """
    try:
        write = _propose(principal, arguments)
    except Duplicate as twin:
        raise _recorded(principal, PROPOSE, arguments, Problem(409, "already_proposed", str(twin))) from twin
    except NotAllowed as refusal:
        raise _recorded(principal, PROPOSE, arguments, Problem(422, "write_refused", str(refusal))) from refusal
    canary_placing.place_due()
    return answer(write)


@transaction.atomic
def _propose(principal: Principal, arguments: dict[str, Any]) -> WriteRequest:
    # Counted with the proposal, so that one which cannot be made costs nothing of the day.
    budgets.take(principal, PROPOSALS)
    given = dict(arguments)
    for name in given.keys() & {"answers", "model"}:
        given[name] = _plain(given[name])
    edits = given.pop("edits", None)
    write = actions.propose(by_agent=principal, **given) if edits is None else _edit(principal, edits, given)
    # The row refers to the agent's, so it waited for whoever was stopping the agent.
    budgets.check_at_work(principal)
    return write


def _plain(value: Any) -> Any:
    """Numbers as a reducer compares them: a call's own are exact."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return float(value) if isinstance(value, Decimal) else value


def _edit(principal: Principal, edits: str, given: dict[str, Any]) -> WriteRequest:
    write = _own(principal, edits)
    if write is None:
        raise Unfit("You proposed no such write, so it is not yours to edit.")
    if given.pop("target") != write.target.name or given.pop("incident", "") not in ("", _incident_of(write)):
        raise Unfit("An edit keeps the target and the incident; propose another write for others.")
    return editing.edit(write, seen_version=write.version, by_agent=principal, **given)


def _incident_of(write: WriteRequest) -> str:
    return f"I-{write.incident_id}" if write.incident_id else ""


def _own(principal: Principal, ref: str) -> WriteRequest | None:
    number = re.fullmatch(r"W-([1-9][0-9]{0,17})", ref)
    own = WriteRequest.objects.filter(proposed_by_agent_id=principal.agent_id).select_related("target")
    return own.filter(pk=int(number[1])).first() if number else None


QUESTIONS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"target": {"type": "string", "description": "The name of the target in force, like shop."}},
    "required": ["target"],
    "additionalProperties": False,
}


def questions(principal: Principal, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a target's policy asks of a model about a write, and nothing of what follows. Raises Problem, recorded."""
    try:
        target = targets.active(arguments["target"])
    except Unfit as refusal:
        problem = Problem(404, "unknown_target", str(refusal))
        raise _recorded(principal, QUESTIONS, arguments, problem) from refusal
    policy = target_admission.of(target.body).policy
    version = judging.version_of(policy)
    program = usable(version.body["program"]) if version else None
    return {
        "policy": policy, "version": version.version if version else None,
        "questions": asking.asked(program) if program else [],
    }  # fmt: skip


def status(principal: Principal, arguments: dict[str, Any]) -> dict[str, Any]:
    """The status of an own write. Raises Problem, the same for a write that is not there and one of another agent."""
    found = _own(principal, arguments["write"])
    if found is None:
        raise _recorded(principal, STATUS, arguments, Problem(404, "unknown_write", "You proposed no such write."))
    return answer(found)


def _recorded(principal: Principal, tool: str, arguments: dict[str, Any], problem: Problem) -> Problem:
    """The refusal, once it is in the log. Raises another Problem when it cannot be."""
    recording.refusal(principal, problem, {"tool": tool, "args": masking.mask(arguments)})
    return problem


def answer(write: WriteRequest) -> dict[str, Any]:
    """What an agent learns about a write: which one, where it stands, why and by which rule, and what it needs."""
    return {
        "id": write.pk, "write": write.ref, "status": write.status, "edition": write.edition,
        "reason": telling.reason(write), "rule": telling.rule(write), "needs": telling.needs(write),
    }  # fmt: skip


TOOLS = (
    DeskTool(
        QUESTIONS,
        "What is asked about a write to a target that your model may answer with its proposal; probes answer the rest.",
        QUESTIONS_SCHEMA,
        "propose",
        questions,
        is_read_only=True,
    ),
    DeskTool(
        PROPOSE,
        "Propose a change of production data. It runs only after a person saw and approved it.",
        PROPOSE_SCHEMA,
        "propose",
        propose,
    ),
    DeskTool(
        STATUS,
        "Where a write that you proposed stands, the reason when it ended, and what it still needs.",
        STATUS_SCHEMA,
        "propose",
        status,
    ),
)
