"""The PreToolUse hook of Claude Code (2.1): its call as answers to a policy's questions, and a verdict as its answer.

The payload: https://code.claude.com/docs/en/hooks. An allow is answered with nothing, so that the client's own
prompt stays.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EVENT = "PreToolUse"
# The policy that judges each tool. A tool that is not here is judged by none, so a person is asked.
POLICIES: Mapping[str, str] = {
    "Bash": "shell-commands",
    "Edit": "file-edits",
    "MultiEdit": "file-edits",
    "NotebookEdit": "file-edits",
    "Write": "file-edits",
}
# What of a tool's input is recorded: what it names, and not the text that it writes.
NAMING = ("command", "file_path", "notebook_path")
DECISIONS = {"ask": "ask", "block": "deny"}
OBSERVED = "counterseal"  # what our hook command adds to the payload
ECHO = "Counterseal-Action"  # the header that says which action an answer is about: our command takes no other


@dataclass(frozen=True)
class ToolCall:
    """A call that a client is about to run, with what was observed of it there."""

    tool: str
    policy: str | None  # None when no policy is for the tool
    session: str
    tool_use: str
    cwd: str
    named: dict[str, str]
    executed: str  # the digest of what is about to run
    judged: Any  # the digest of what the answers are about, as the client says; None when it observed nothing
    answers: dict[str, Any]
    unknown: str  # why nothing was observed


def call_of(payload: Mapping[str, Any]) -> ToolCall:
    """The call that a payload describes. Total: what is not there is empty."""
    observed = payload.get(OBSERVED)
    found: Mapping[str, Any] = observed if isinstance(observed, dict) else {}
    given = payload.get("tool_input")
    tool = _text(payload.get("tool_name"))
    is_call = payload.get("hook_event_name") == EVENT
    return ToolCall(
        tool=tool, policy=POLICIES.get(tool) if is_call else None, session=_text(payload.get("session_id")),
        tool_use=_text(payload.get("tool_use_id")), cwd=_text(payload.get("cwd")),
        named={key: _text(given.get(key)) for key in NAMING if key in given} if isinstance(given, dict) else {},
        executed=action_of(payload), judged=found.get("action"), answers=_answers(found.get("answers")),
        unknown=_text(found.get("unknown")),
    )  # fmt: skip


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def action_of(payload: Mapping[str, Any]) -> str:
    """The digest of what is about to run: the hook command computes the same, over the same three parts."""
    about = {name: payload.get(name) for name in ("cwd", "tool_input", "tool_name")}
    text = json.dumps(about, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _answers(facts: Any) -> dict[str, Any]:
    """Facts as answers: each is a client probe's, whatever it says of itself, and one that failed is no fact."""
    if not isinstance(facts, dict):
        return {}
    return {name: _answer(fact) for name, fact in facts.items()}


def _answer(fact: Any) -> dict[str, Any]:
    if isinstance(fact, dict):
        return {"abstain": True, "why": _text(fact.get("unknown"))}
    return {"value": fact, "by": "probe"}


def answer(verdict: str, reason: str) -> dict[str, Any] | None:
    """What the client reads, or None for the empty answer of an allow."""
    if verdict == "allow":
        return None
    said = {
        "hookEventName": EVENT, "permissionDecision": DECISIONS[verdict], "permissionDecisionReason": reason,
    }  # fmt: skip
    return {"hookSpecificOutput": said}
