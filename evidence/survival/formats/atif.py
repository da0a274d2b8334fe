"""ATIF, the trajectory format of Harbor and Phoenix: steps of user, system and agent with calls and observations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected, Found, Skip
from evidence.survival.formats.contents import text_of

NAME = "atif"
SOURCES = {"user": "user", "system": "system", "agent": "assistant"}


def detect(document: Any) -> bool:
    """A schema version of its own, or steps that name a source of its three."""
    if not isinstance(document, Mapping) or not isinstance(document.get("steps"), list):
        return False
    if str(document.get("schema_version", "")).startswith("ATIF"):
        return True
    steps = [step for step in document["steps"] if isinstance(step, Mapping)]
    return bool(steps) and all(step.get("source") in SOURCES and "type" not in step for step in steps)


def read(document: Any, collected: Collected) -> None:
    """Each step is one record."""
    for number, step in enumerate(document["steps"]):
        collected.take(f"step {number}", _steps(step))
    for _ in _of_sub_agents(document):
        collected.count(0, "it belongs to a sub-agent")


def _of_sub_agents(document: Mapping[str, Any]) -> Iterator[Any]:
    """The steps of all that worked for this run: each of those is a run of its own."""
    for inner in document.get("subagent_trajectories") or ():
        if isinstance(inner, Mapping):
            yield from inner.get("steps") or ()
            yield from _of_sub_agents(inner)


def _steps(step: Any) -> Iterator[Found]:
    if not isinstance(step, Mapping):
        raise Skip("it is no object")
    role = SOURCES.get(str(step.get("source")))
    if role is None:
        raise Skip("its source is not known")
    calls = list(_calls(step))
    thought = step.get("reasoning_content")
    if isinstance(thought, str):
        yield Found("reasoning", thought)
    yield Found("reasoning" if role == "assistant" and calls else role, text_of(step.get("message")))
    yield from calls
    yield from _results(step)


def _calls(step: Mapping[str, Any]) -> Iterator[Found]:
    for call in step.get("tool_calls") or ():
        yield Found(
            "tool_call", text_of(call.get("arguments")), call.get("function_name"), None, call.get("tool_call_id")
        )


def _results(step: Mapping[str, Any]) -> Iterator[Found]:
    observation = step.get("observation")
    for result in (observation.get("results") or ()) if isinstance(observation, Mapping) else ():
        yield Found("tool_result", text_of(result.get("content")), None, None, result.get("source_call_id"))
