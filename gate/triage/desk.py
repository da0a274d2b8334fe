"""The two desk tools of triage: an agent starts an investigation, and hands in what it found."""

from __future__ import annotations

from typing import Any

from audit import masking
from audit.agents import Principal
from evidence import desk, recording
from evidence.errors import Problem
from gate.triage import investigations, submissions
from gate.triage.scope import running_of

START = {
    "type": "object",
    "properties": {
        "incident": {
            "type": ["string", "integer", "null"],
            "pattern": "^(I-)?[1-9][0-9]{0,17}$",
            "minimum": 1,
            "maximum": 10**18 - 1,
            "description": "I-318, or nothing for the one that has waited longest",
        }
    },
    "additionalProperties": False,
}
NUMBER = {"type": "integer", "minimum": 1, "description": "needed only when you run several"}
# What else is handed in is refused by submissions.check, with a sentence that says why.
SUBMIT = {**submissions.SCHEMA, "properties": {**submissions.PROPERTIES, "investigation": NUMBER}}


def start_investigation(principal: Principal, given: dict[str, Any]) -> dict[str, Any]:
    """Begin, and read the briefing. Raises Problem."""
    return investigations.told(investigations.start(principal, given.get("incident")))


def submit_findings(principal: Principal, given: dict[str, Any]) -> dict[str, Any]:
    """Hand in. The answer says that it arrived, and nothing of what came of it. Raises Problem."""
    handed_in = {key: value for key, value in given.items() if key != "investigation"}
    submissions.check(handed_in)
    number = given["investigation"] if "investigation" in given else running_of(principal, None).pk
    return dict(submissions.submit(principal, number, handed_in))


def recorded(name: str, handler: desk.Handler) -> desk.Handler:
    """The handler, with each refusal recorded before the agent reads it."""

    def handle(principal: Principal, given: dict[str, Any]) -> dict[str, Any]:
        try:
            return handler(principal, given)
        except Problem as problem:
            recording.refusal(principal, problem, {"tool": name, "args": masking.mask(given)})
            raise

    return handle


def register() -> None:
    """Offer both tools over MCP and REST."""
    _offer("start_investigation", "Start looking into an incident and read its briefing.", START, start_investigation)
    purpose = "Hand in a hypothesis, findings that cite entries, and an answer for the person. Once."
    # Handing in is never refused for want of a budget: what was found would be lost.
    _offer("submit_findings", purpose, SUBMIT, submit_findings, is_counted=False)


def _offer(name: str, purpose: str, schema: dict[str, Any], handler: desk.Handler, *, is_counted: bool = True) -> None:
    desk.register(desk.DeskTool(name, purpose, schema, "investigate", recorded(name, handler), is_counted))
