"""The desk: tools by which an agent hands something in or asks what there is. They return no evidence.

Other modules and upper layers register them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from audit import log
from audit.agents import Principal
from audit.budgets import CALLS
from audit.masking import mask
from evidence import arguments, budgets, recording
from evidence.errors import Problem, unknown_tool

Handler = Callable[[Principal, dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class DeskTool:
    """A tool that hands in: `handler` gets arguments that fit `input_schema`, and answers JSON or raises Problem."""

    name: str
    purpose: str
    input_schema: dict[str, Any]
    scope: str  # what the token must carry: see audit.agents.SCOPES
    handler: Handler
    is_counted: bool = True  # whether it takes one call of the agent's budget
    is_read_only: bool = False  # whether it only tells something: see evidence.discovery


DESK: dict[str, DeskTool] = {}


def register(tool: DeskTool) -> None:
    """Offer a desk tool over MCP and REST; called once when the application starts."""
    DESK[tool.name] = tool


def offered(principal: Principal) -> list[DeskTool]:
    """The desk tools that the agent's token is good for."""
    return [tool for tool in DESK.values() if tool.scope in principal.scopes]


def call(principal: Principal, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Hand something in. Raises Problem: an unknown tool, arguments that do not fit, or the handler's refusal.

    A handler records what it refuses itself; the rest is recorded here.
    """
    about: log.About = {"tool": name}
    try:
        exact = arguments.exact(given)
        about["args"] = mask(exact)
        tool = _admit(principal, name, exact)
        answer = tool.handler(principal, exact)
        budgets.check_at_work(principal)
    except Problem as problem:
        if not problem.is_recorded:
            recording.refusal(principal, problem, about)
        raise
    return answer


def _admit(principal: Principal, name: str, given: dict[str, Any]) -> DeskTool:
    tool = DESK.get(name)
    if tool is None or tool.scope not in principal.scopes:
        raise unknown_tool()
    sentence = arguments.misfit(tool.input_schema, given)
    if sentence:
        raise Problem(422, "wrong_arguments", sentence)
    if tool.is_counted:
        budgets.take(principal, CALLS)
    return tool
