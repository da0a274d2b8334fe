"""What each argument of a write rests on: what was read on its incident before it was proposed, or the incident itself.

An argument that was read nowhere is a red flag at the gate, and no refusal: a person may know what no tool returned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import postgast

from audit import reading
from audit.kinds import Kind
from audit.models import Entry
from evidence.exact_json import dumps
from evidence.survival.fields import LIMITATION
from evidence.survival.grounding import QUESTION, TOO_SHORT, UNSUPPORTED, ground_values
from evidence.survival.known import Source
from gate.triage import survival_grounds
from gate.triage.survival_grounds import Mark
from gate.writes import targets
from gate.writes.models import WriteRequest

MOST_CHARACTERS = 2_000_000  # of results, the newest first
MOST_LITERALS = 100
CONSTANTS = frozenset({"SCONST", "ICONST", "FCONST"})
# As on a draft, but for what the question is here, and for a value that is too short to be looked for.
MARKS = {
    **survival_grounds.MARKS,
    QUESTION: Mark("○", "", "from the incident"),
    TOO_SHORT: Mark("–", "", "too short to tell"),
}


@dataclass(frozen=True)
class Argument:
    """One argument: a parameter's value, or one that is written into the statement."""

    name: str
    value: str
    found: Mapping[str, Any]
    entries: Sequence[Entry]

    @property
    def status(self) -> str:
        return str(self.found["status"])

    @property
    def mark(self) -> Mark:
        """How it is shown."""
        return MARKS[self.status]

    @property
    def part(self) -> str:
        """The part of the value that decided, where it is not the whole."""
        text = str(self.found["text"])
        return "" if text.strip() == self.value.strip() else text


class Marks:
    """The arguments of one write, each with what it rests on."""

    limitation = LIMITATION

    def __init__(self, write: WriteRequest) -> None:
        self.write = write

    @property
    def has_evidence(self) -> bool:
        """Whether there is anything to hold the arguments against: a write without an incident has nothing."""
        return self.write.incident_id is not None

    @cached_property
    def parameters(self) -> Sequence[Argument]:
        """One for each parameter, in their order."""
        return self._all[: len(self._given)]

    @cached_property
    def literals(self) -> Sequence[Argument]:
        """Those that are written into the statement."""
        return self._all[len(self._given) :]

    @property
    def bare(self) -> Sequence[Argument]:
        """Those that were read nowhere."""
        return [one for one in self._all if one.status == UNSUPPORTED]

    @cached_property
    def left_out(self) -> int:
        """How many results were not looked at: they are redacted, cut or damaged, or there is too much."""
        return len(self._entries) - len(self._sources)

    @cached_property
    def _given(self) -> Sequence[tuple[str, str]]:
        return [(f"${number}", one["v"] or "") for number, one in enumerate(self.write.parameters, 1)]

    @cached_property
    def _all(self) -> Sequence[Argument]:
        if not self.has_evidence:
            return []
        named = [*self._given, *_literals(self.write)[:MOST_LITERALS]]
        question = [Source("incident", _about(self.write.incident))]
        found = ground_values([value for _, value in named], self._sources, question)
        by_ref = {entry.ref: entry for entry in self._entries}
        return [
            Argument(name, value, one, [by_ref[told["ref"]] for told in one["rests_on"] if told["ref"] in by_ref])
            for (name, value), one in zip(named, found, strict=True)
        ]

    @cached_property
    def _entries(self) -> Sequence[Entry]:
        """What was read on the incident until its newest edition was proposed, the newest first."""
        edited = self.write.editions.order_by("-number").values_list("edited_at", flat=True).first()
        until = edited or self.write.proposed_at
        found = Entry.objects.filter(
            kind=Kind.CALL_FINISHED, incident_id=self.write.incident_id, status="ok", at__lte=until
        )
        return list(found.order_by("-seq"))

    @cached_property
    def _sources(self) -> Sequence[Source]:
        contents = reading.contents_of(self._entries)
        left, found = MOST_CHARACTERS, []
        for entry in self._entries:
            content = contents[entry.pk]
            text = dumps(content.result) if content.is_readable else ""
            left -= len(text)
            if content.is_readable and left >= 0:
                found.append(Source(entry.ref, text))
        return found


def _about(incident: Any) -> str:
    told = {"title": incident.title, "subject": incident.subject, "facts": incident.facts, "members": incident.members}
    return dumps({**told, "guidance": incident.guidance})


def _literals(write: WriteRequest) -> list[tuple[str, str]]:
    """The values that stand in the statement itself, or in the body of a request."""
    if targets.of(write.target).action is not None:
        return _fields(json.loads(write.statement.partition("\n")[2] or "{}"), "")
    raw = write.statement.encode()
    found = []
    for token in postgast.scan(write.statement).tokens:
        if postgast.pg_query_pb2.Token.Name(token.token) in CONSTANTS:
            text = raw[token.start : token.end].decode()
            found.append(("in the statement", text.strip("'").replace("''", "'")))
    return found


def _fields(value: Any, name: str) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [pair for key, inner in value.items() for pair in _fields(inner, f"{name}.{key}".lstrip("."))]
    if isinstance(value, list):
        return [pair for inner in value for pair in _fields(inner, name)]
    return [(name, value if isinstance(value, str) else json.dumps(value))]
