"""The compatible measure: the report of EvidenceFlow 0.1.0, by an algorithm that grows with the text alone.

It measures lexical overlap. A unit of evidence survives when a later assistant or reasoning step repeats enough of its
words; what the words meant, and whether anyone relied on them, it cannot know.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evidence.survival.holding import Holding, numbers_in
from evidence.survival.repeated import contains, repeated_groups, threshold
from evidence.survival.steps import EVIDENCE, SINKS, Step, read_steps
from evidence.survival.words import Unit, informative, units_of, words_of


@dataclass
class Item:
    """One evidence step, its units, and what became of them."""

    step: Step
    units: list[Unit]
    reused: int = 0
    final: int = 0
    sinks: int = 0  # one bit per later step that repeats any unit


def analyze(trace: object) -> dict[str, Any]:
    """What of the evidence in a trace is repeated later, step by step, by tool and by source.

    `trace` is any iterable of mappings with a `type` each. Raises TypeError or ValueError for the first step that is
    not as it must be.
    """
    steps = read_steps(trace)
    items = [Item(step, list(units_of(step.content))) for step in steps if step.type in EVIDENCE]
    sinks = [step for step in steps if step.type in SINKS]
    _follow(items, sinks, _last_answer(sinks))
    return report_of(steps, items, sinks, repeated_groups([item.units for item in items]))


class Sinks:
    """The later texts, and which of them match a unit."""

    def __init__(self, texts: Sequence[str], wanted: frozenset[str]) -> None:
        self._words = [words_of(text) for text in texts]
        self._holding = Holding([informative(words) for words in self._words], wanted)
        self._known: dict[frozenset[str], int] = {}

    def matching(self, unit: Unit) -> int:
        """One bit per text in which enough of the unit stands."""
        if len(unit.informative) == 1:
            return self._repeating(unit)
        known = self._known.get(unit.informative)
        if known is None:
            known = self._holding.at_least(unit.informative, threshold(unit.informative))
            self._known[unit.informative] = known
        return known

    def _repeating(self, unit: Unit) -> int:
        (word,) = unit.informative
        found = 0
        for number in self._holding.with_word(word):
            if contains(" ".join(self._words[number]), unit.phrase):
                found |= 1 << number
        return found


def _follow(items: Sequence[Item], sinks: Sequence[Step], final: int) -> None:
    wanted = frozenset().union(*(unit.informative for item in items for unit in item.units))
    later = Sinks([sink.content for sink in sinks], wanted)
    positions = [sink.position for sink in sinks]
    for item in items:
        first = bisect_right(positions, item.step.position)
        for unit in item.units:
            found = later.matching(unit) >> first << first
            item.reused += found > 0
            item.final += (found & final) > 0
            item.sinks |= found


def _last_answer(sinks: Sequence[Step]) -> int:
    """The bit of the last assistant step, empty or not; none without one."""
    answers = [number for number, sink in enumerate(sinks) if sink.type == "assistant"]
    return 1 << answers[-1] if answers else 0


def report_of(
    steps: Sequence[Step], items: Sequence[Item], sinks: Sequence[Step], groups: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """The report of a trace that was followed to its end."""
    units, reused, final = _sums(items)
    records = [_record(item, sinks) for item in items]
    unused = [_unused(record) for record in records if not record["reused_units"]]
    return {
        "steps": len(steps),
        "evidence_sources": len(items),
        "tool_results": sum(step.type == "tool_result" for step in steps),
        "retrieval_steps": sum(step.type == "retrieval" for step in steps),
        "evidence_units": units,
        "reused_units": reused,
        "final_reused_units": final,
        "overall_survival_ratio": _share(reused, units),
        "final_answer_survival_ratio": _share(final, units),
        "apparently_unused_sources": len(unused),
        "evidence": records,
        "tools": _aggregates(items, "tool"),
        "sources": _aggregates(items, "source"),
        "unused_evidence": unused,
        "repeated_evidence_groups": [[records[number]["evidence_id"] for number in group] for group in groups],
    }


def _record(item: Item, sinks: Sequence[Step]) -> dict[str, Any]:
    reused_at = [sinks[number] for number in numbers_in(item.sinks)]
    last = reused_at[-1] if reused_at else None
    return {
        "evidence_id": item.step.evidence_id,
        "step_id": item.step.step_id,
        "source_type": item.step.type,
        "tool": item.step.tool,
        "source": item.step.source,
        "evidence_units": len(item.units),
        "reused_units": item.reused,
        "final_reused_units": item.final,
        "survival_ratio": _share(item.reused, len(item.units)),
        "final_answer_survival_ratio": _share(item.final, len(item.units)),
        "reused_at": [sink.step_id for sink in reused_at],
        "reuse_count": len(reused_at),
        "last_reuse_step": last.step_id if last else None,
        "steps_until_last_reuse": last.position - item.step.position if last else None,
    }


def _unused(record: dict[str, Any]) -> dict[str, Any]:
    return {key: record[key] for key in ("evidence_id", "step_id", "tool", "source", "evidence_units")}


def _aggregates(items: Sequence[Item], key: str) -> dict[str, dict[str, Any]]:
    """Figures by tool or by source, in the order in which they come first. Evidence that names none is left out."""
    by_name: dict[str, list[Item]] = {}
    for item in items:
        name = getattr(item.step, key)
        if name is not None:
            by_name.setdefault(name, []).append(item)
    return {name: _aggregate(members) for name, members in by_name.items()}


def _aggregate(items: Sequence[Item]) -> dict[str, Any]:
    units, reused, final = _sums(items)
    return {
        "evidence_sources": len(items),
        "evidence_units": units,
        "reused_units": reused,
        "final_reused_units": final,
        "survival_ratio": _share(reused, units),
        "final_answer_survival_ratio": _share(final, units),
    }


def _sums(items: Sequence[Item]) -> tuple[int, int, int]:
    units = sum(len(item.units) for item in items)
    return units, sum(item.reused for item in items), sum(item.final for item in items)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
