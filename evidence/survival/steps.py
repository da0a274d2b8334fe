"""A trace as the compatible measure accepts it: checked step by step, the first fault wins.

The words of an error are part of what callers of EvidenceFlow 0.1.0 rely on, so they are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

EVIDENCE = ("tool_result", "retrieval")
SINKS = ("assistant", "reasoning")
TYPES = frozenset(("user", "tool_call", "system", *EVIDENCE, *SINKS))


@dataclass(frozen=True)
class Step:
    """One step. `source`, `tool` and `evidence_id` are kept of evidence alone."""

    position: int
    step_id: str
    type: str
    content: str
    tool: str | None = None
    source: str | None = None
    evidence_id: str | None = None


@dataclass
class StepReader:
    """Reads a trace once, in order, and knows which ids it has met."""

    steps: list[Step] = field(default_factory=list)
    _ids: set[str] = field(default_factory=set)
    _sources: int = 0

    def add(self, step: object) -> Step:
        """Check a step and keep it. Raises TypeError or ValueError, which name the step and what is wrong with it."""
        position = len(self.steps)
        if not isinstance(step, Mapping):
            raise TypeError(f"step {position} must be a mapping")
        step = dict(step)
        kind = _type(step, position)
        checked = Step(position, self._id(step, position), kind, _content(step, kind, position))
        if kind in EVIDENCE:
            checked = self._evidence(step, checked)
            self._sources += 1
        # Only now, so that a step which was refused leaves no trace.
        self._ids.add(checked.step_id)
        self.steps.append(checked)
        return checked

    def leave_out_last(self) -> None:
        """Forget the last step, for a reason of the caller's."""
        last = self.steps.pop()
        self._ids.discard(last.step_id)
        self._sources -= last.type in EVIDENCE

    def _id(self, step: Mapping[str, Any], position: int) -> str:
        given = _named(step, "id", position)
        step_id = f"step-{position}" if given is None else given
        if step_id in self._ids:
            raise ValueError(f"duplicate step id: {step_id!r}")
        return step_id

    def _evidence(self, step: Mapping[str, Any], checked: Step) -> Step:
        tool, source, evidence_id = (_named(step, key, checked.position) for key in ("tool", "source", "evidence_id"))
        # An id that was given advances the count as well.
        evidence_id = f"evidence-{self._sources}" if evidence_id is None else evidence_id
        return Step(checked.position, checked.step_id, checked.type, checked.content, tool, source, evidence_id)


def read_steps(trace: object) -> list[Step]:
    """Every step of a trace. Raises TypeError and ValueError; what the caller's iterator raises passes through."""
    if isinstance(trace, str | bytes) or not isinstance(trace, Iterable):
        raise TypeError("trace must be a non-string iterable of mappings")
    reader = StepReader()
    for step in trace:
        reader.add(step)
    _check_evidence_ids(reader.steps)
    return reader.steps


def _type(step: Mapping[str, Any], position: int) -> str:
    kind = step.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        raise ValueError(f"step {position} has unsupported type {kind!r}")
    return kind


def _content(step: Mapping[str, Any], kind: str, position: int) -> str:
    if kind == "tool_call":
        # Its content may be anything, and none of it counts.
        if not isinstance(step.get("tool", ""), str):
            raise TypeError(f"step {position} tool must be a string")
        return ""
    content = step.get("content")
    if not isinstance(content, str):
        raise TypeError(f"step {position} content must be a string")
    return content


def _named(step: Mapping[str, Any], key: str, position: int) -> str | None:
    if key not in step:
        return None
    value = step[key]
    if not isinstance(value, str) or not value:
        raise ValueError(f"step {position} {key} must be a non-empty string")
    return value


def _check_evidence_ids(steps: Iterable[Step]) -> None:
    """Last of all, so that a bad step anywhere is named before two evidence ids that are alike."""
    seen: set[str] = set()
    for step in steps:
        if step.evidence_id is None:
            continue
        if step.evidence_id in seen:
            raise ValueError(f"duplicate evidence id: {step.evidence_id!r}")
        seen.add(step.evidence_id)
