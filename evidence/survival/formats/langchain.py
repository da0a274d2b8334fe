"""LangChain and LangGraph: messages by type, dumps of them, and graph states that repeat the whole list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.survival.formats.collected import Collected, Found, Skip
from evidence.survival.formats.contents import documents_of, unpacked
from evidence.survival.formats.conversation import REPEATED, Record, fresh_of
from evidence.survival.formats.langchain_runs import is_run, spans_of_runs
from evidence.survival.formats.messages import ROLES, steps_of
from evidence.survival.formats.spans import read_spans

NAME = "langchain"
TYPES = tuple(name for name in ROLES if name not in ("user", "assistant", "model", "developer"))


def detect(document: Any) -> bool:
    """Messages that name a type instead of a role, dumps, states with a list of those, or runs."""
    return is_run(document) or any(_is_message(message) for run in _lists(document) for message in run)


def read(document: Any, collected: Collected) -> None:
    """Each message is one record, or each run. One that another state has already is skipped."""
    if is_run(document):
        read_spans(spans_of_runs(document), collected)
        return
    seen: set[str] = set()
    for record in fresh_of([_records(run, line) for line, run in enumerate(_lists(document))], least=1):
        if record.reason is not None:
            collected.count(0, record.reason)
        else:
            collected.take(record.place, _steps(record.message, seen))


def _records(run: list[Any], line: int) -> list[Record]:
    return [
        Record(f"list {line}, message {number}" if line else f"message {number}", one) for number, one in enumerate(run)
    ]


def _steps(message: Any, seen: set[str]) -> Iterator[Found]:
    inner = unpacked(message) if isinstance(message, Mapping) else message
    if isinstance(inner, Mapping):
        if "page_content" in inner:
            yield from documents_of(inner)
            return
        own = inner.get("id")
        if isinstance(own, str) and own:
            if own in seen:
                raise Skip(REPEATED)
            seen.add(own)
    yield from steps_of(message)


def _lists(document: Any) -> list[list[Any]]:
    """The messages of a list, or those of each state."""
    if not isinstance(document, list):
        return [_state_messages(document)] if isinstance(document, Mapping) else []
    states = [_state_messages(state) if isinstance(state, Mapping) else [] for state in document]
    if not any(states):
        return [document]
    # What is no state is a record all the same.
    return [messages or [state] for messages, state in zip(states, document, strict=True)]


def _state_messages(state: Mapping[str, Any]) -> list[Any]:
    """A state's own list, or those of the nodes which a streamed update names."""
    if isinstance(state.get("messages"), list):
        return list(state["messages"])
    nodes = [value for value in state.values() if isinstance(value, Mapping)]
    return [message for node in nodes if isinstance(node.get("messages"), list) for message in node["messages"]]


def _is_message(message: Any) -> bool:
    if not isinstance(message, Mapping):
        return False
    if "lc" in message:
        return True
    return message.get("type") in TYPES and "role" not in message and ("content" in message or "data" in message)
