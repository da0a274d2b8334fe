"""Formats that are a list of messages, or hold some at places of their own, once or line by line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from evidence.survival.formats.collected import Collected, Found
from evidence.survival.formats.messages import steps_of
from evidence.survival.formats.responses_items import ITEMS
from evidence.survival.formats.streamed import whole

REPEATED = "a list before has it"
# Where a file, a request, an answer or a line of a log keeps its messages, in the order in which they were said.
PLACES: Mapping[str, str] = {
    "system": "system", "instructions": "instructions", "messages": "message", "traj": "message",
    "conversation": "message", "data": "message", "input": "input", "choices": "choice", "output": "output",
}  # fmt: skip
WITHIN = ("requests", "request", "params", "body", "response", "result", "message", "payload", "item")
Steps = Callable[[Any], Iterable[Found]]


class Record(NamedTuple):
    """A message as it stands in a file, where, and why it is left out, if it is."""

    place: str
    message: Any
    reason: str | None = None


def read_messages(messages: Any, collected: Collected, place: str = "message") -> None:
    """Each message is one record."""
    for number, message in enumerate(messages):
        collected.take(f"{place} {number}", steps_of(message))


def records_of(document: Any) -> list[Record]:
    """Every message of a document: of its lists, and of the requests and answers that it holds.

    Requests that are logged one after the other repeat the conversation so far: what is said already is left out. A
    message that was streamed stands where its last part does.
    """
    return fresh_of(_runs(document), least=2)


def fresh_of(runs: Iterable[Sequence[Record]], least: int) -> list[Record]:
    """The messages of lists, without what those before said in the same order.

    A list that says no more than they do, and no less than `least` messages, is such a repetition; a shorter one is
    somebody who says the same again.
    """
    several = [run for run in runs if run]
    if len(several) < 2:
        return [record for run in several for record in run]
    told: list[str] = []
    return [record for run in several for record in _fresh(run, told, least)]


def read_records(records: Sequence[Record], collected: Collected, steps: Steps = steps_of) -> None:
    """Take each message, by what makes steps of one."""
    for record in records:
        if record.reason is not None:
            collected.count(0, record.reason)
        else:
            collected.take(record.place, steps(record.message))


def _runs(document: Any) -> Iterator[list[Record]]:
    """The lists of a document: its own, and one of each object in it that holds messages."""
    if isinstance(document, Mapping):
        yield list(_of_object(document, ""))
    run: list[Record] = []
    for number, one in enumerate(whole(document) if isinstance(document, list) else []):
        if _holds_messages(one.message):
            yield from (run, list(_of_object(one.message, f"line {number + 1}, ")))
            run = []
        else:
            run.append(Record(f"message {number}", *one))
    yield run


def _of_object(held: Mapping[str, Any], line: str) -> Iterator[Record]:
    for key, name in PLACES.items():
        value = held.get(key)
        if key in ("system", "instructions") and value:
            yield Record(f"{line}{name}", {"role": "system", "content": value})
        elif key == "input" and isinstance(value, str):
            yield Record(f"{line}input", {"role": "user", "content": value})
        elif isinstance(value, list):
            said = [one.get("message") if key == "choices" and isinstance(one, Mapping) else one for one in value]
            yield from (Record(f"{line}{name} {number}", *one) for number, one in enumerate(whole(said)))
    for key in WITHIN:
        inside = held.get(key)
        for one in inside if isinstance(inside, list) else [inside]:
            if _holds_messages(one):
                yield from _of_object(one, f"{line}{key}, ")
            elif isinstance(one, Mapping):
                yield Record(f"{line}{key}", one)


def _holds_messages(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether it is a request, an answer or a line around one, and no message itself."""
    if not isinstance(value, Mapping) or "role" in value or value.get("type") in ITEMS:
        return False
    if isinstance(value.get("input"), str) and "type" not in value:
        return True
    lists = any(isinstance(value.get(key), list) for key in PLACES)
    return lists or any(isinstance(value.get(key), Mapping) for key in WITHIN)


def _fresh(run: Sequence[Record], told: list[str], least: int) -> Iterator[Record]:
    """What a list says beyond what those before said in the same order."""
    keys = [_key(record.message) for record in run]
    again = 0
    while again < min(len(keys), len(told)) and keys[again] == told[again]:
        again += 1
    is_longer = again == len(told)  # the list goes on where those before ended
    again = again if is_longer or (again == len(keys) >= least) else 0
    yield from (Record(record.place, None, REPEATED) for record in run[:again])
    told += keys[again:]
    yield from run[again:]


def _key(message: Any) -> str:
    """What two records of one message have in common."""
    if not isinstance(message, Mapping):
        return json.dumps(message, default=str)
    said = {
        key: message.get(key) or None for key in ("role", "type", "content", "tool_calls", "tool_call_id", "call_id")
    }
    return json.dumps(said if any(said.values()) else message, sort_keys=True, default=str)


def list_at(document: Any, *keys: str) -> list[Any] | None:
    """The document itself when it is a list, or the first list under one of the keys."""
    if isinstance(document, list):
        return document
    if isinstance(document, Mapping):
        return next((document[key] for key in keys if isinstance(document.get(key), list)), None)
    return None


def any_has(records: list[Any] | None, key: str, *values: str) -> bool:
    """Whether any record has one of the values (or, without values, anything) under the key."""
    found = (record[key] for record in records or () if isinstance(record, Mapping) and key in record)
    return any(not values or (isinstance(value, str) and value in values) for value in found)
