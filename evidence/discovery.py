"""Discovery: an agent asks which tools there are for it, and what one of them promises.

Answered is what the agent may call now: with investigations running, the tools of their classes; without one, what
its token is good for, and nothing of which class offers what. A tool that is not among them is unknown, whether or not
it exists.

A question is an entry like every call, so that it shows afterwards what an agent knew it could ask. It takes nothing
from an investigation's budget, for it reads no evidence, and whoever knows the tools asks fewer times; it takes one of
the agent's calls of the hour, as else nothing would end a loop. Its entries name the investigation as their subject and
do not belong to it: they are no evidence on the incident, and no check reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from audit import log
from audit.agents import Principal
from audit.kinds import Kind
from audit.masking import mask
from evidence import catalog, desk, recording, scope
from evidence.contracts import INVESTIGATION
from evidence.errors import Problem, unknown_tool
from evidence.scope import Scope

LIST, DESCRIBE = "list_available_tools", "describe_tool"
WHICH = {
    "type": ["integer", "null"],
    "minimum": 1,
    "maximum": 2**63 - 1,
    "description": "Of several that you run, the one that is meant.",
}
LIST_SCHEMA = {"type": "object", "properties": {INVESTIGATION: WHICH}, "additionalProperties": False}
DESCRIBE_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 80}, INVESTIGATION: WHICH},
    "required": ["name"],
    "additionalProperties": False,
}
SUMMARY = ("name", "purpose", "query_type", "version", "read_only", "returns_action_recommendations")


@dataclass(frozen=True)
class Told:
    """An answer, and what its entries say besides the question."""

    result: dict[str, Any]
    about: log.About = field(default_factory=lambda: log.About())


Ask = Callable[[Principal, dict[str, Any], list[Scope]], Told]


def register() -> None:
    """Offer both tools over MCP and REST."""
    offer(LIST, "The tools that you may call now, each with its purpose.", LIST_SCHEMA, _list)
    purpose = "What one tool takes and gives back, its limitations, and the version and hash of its contract."
    offer(DESCRIBE, purpose, DESCRIBE_SCHEMA, _describe)


def offer(name: str, purpose: str, schema: dict[str, Any], ask: Ask) -> None:
    """Offer a tool that tells what there is: recorded as every call, and no evidence."""

    def handle(principal: Principal, given: dict[str, Any]) -> dict[str, Any]:
        within = _within(principal, given.get(INVESTIGATION))
        return _recorded(principal, name, given, within, ask(principal, given, within))

    desk.register(desk.DeskTool(name, purpose, schema, "tools", handle, is_read_only=True))


def _within(principal: Principal, investigation: int | None) -> list[Scope]:
    """What the agent is at: the one it names, or all that it runs. Raises Problem for one that is not its own."""
    return scope.running(principal) if investigation is None else [scope.resolve(principal, investigation)]


def _list(principal: Principal, given: dict[str, Any], within: list[Scope]) -> Told:
    offers = [offer.stated() for offer in catalog.offered(principal, within)]
    return Told({"tools": [{key: offer[key] for key in SUMMARY} for offer in offers]})


def _describe(principal: Principal, given: dict[str, Any], within: list[Scope]) -> Told:
    found = next((offer for offer in catalog.offered(principal, within) if offer.name == given["name"]), None)
    if found is None:
        # Said as an answer of this tool, which exists; a call of an unknown one is a fault of the protocol.
        raise Problem(404, "no_such_tool", unknown_tool().sentence)
    return Told({"tool": found.stated()})


def _recorded(
    principal: Principal, name: str, given: dict[str, Any], within: list[Scope], told: Told
) -> dict[str, Any]:
    """The answer with the entry to cite, after both halves of the call are in the log. Raises Problem."""
    about: log.About = {"tool": name, "call_id": uuid4(), "args": mask(given), "summary": _words(name, given)}
    about = {**about, **told.about}
    if len(within) == 1:
        about["subject"] = f"I-{within[0].incident_id}"
    started = recording.commit(Kind.CALL_STARTED, principal, **about)
    answered: log.About = {**about, "parent": started.id, "status": "ok", "result": told.result}
    finished = recording.commit(Kind.CALL_FINISHED, principal, **answered)
    return {"audit_id": finished.ref, "digest": finished.digest.hex(), "result": told.result}


def _words(name: str, given: dict[str, Any]) -> str:
    return " ".join([name, *(str(value) for key, value in mask(given).items() if key != INVESTIGATION)])
