"""Answers as pages show them: numbers, marks and sentences of what the tools answer in numbers and codes. Pure.

It reads the result object of an answer, be it of a question that a person asked or of a call on record, and makes
nothing up: an answer of another shape raises ValueError and is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evidence.metrics import amounts, waterfall, wording
from evidence.metrics.amounts import Amount
from evidence.metrics.reading_parts import provenance, standing
from evidence.metrics.reading_traces import Traced

MOST_COMPONENTS = 200
PARTS = {"other": "without a key", "interaction": "interaction"}


@dataclass(frozen=True)
class Component:
    """A row of the table behind the waterfall."""

    name: str
    amount: Amount
    share: str


@dataclass(frozen=True)
class Median:
    """A row of the table of medians; None where half is not over yet."""

    of: str
    entities: int
    still_open: int
    median: Amount | None
    low: Amount | None
    high: Amount | None


class Explained:
    """An answer of explain_metric."""

    kind = "explained"

    def __init__(self, result: Mapping[str, Any]) -> None:
        """Reads all of it at once. Raises ValueError for what is no such answer."""
        try:
            self.metric_id: str = result["metric_id"]
            self.value = amounts.of(result, "value")
            self.residual = amounts.of(result, "residual")
            self.unit = wording.unit_words(result["unit"])
            self.decomposition: str = str(result["decomposition_type"]).replace("_", " ")
            self.standing = standing(result)
            self._parts = [(_name(one), _known(one)) for one in result["components"]]
            self.medians = [_median(one) for one in result.get("medians", [])]
            self.limitations: Sequence[str] = result["limitations"]
            self.provenance = provenance(result)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("This is no answer of explain_metric.") from error

    @cached_property
    def components(self) -> Sequence[Component]:
        """The parts with their shares of the sum; as many as a page takes."""
        numbers = [amount.number for _, amount in self._parts]
        return [
            Component(name, amount, amounts.share(amount.number, numbers))
            for name, amount in self._parts[:MOST_COMPONENTS]
        ]

    @property
    def unshown(self) -> int:
        return len(self._parts) - len(self.components)

    @property
    def has_shares(self) -> bool:
        return any(one.share for one in self.components)

    @property
    def plot(self) -> waterfall.Plot | None:
        """The waterfall; none where the value is not known, for there is nothing that parts would be parts of."""
        if self.value is None or not self._parts:
            return None
        left = [("left over", self.residual)] if self.residual is not None and self.residual.number else []
        return waterfall.plot(self.metric_id, [*self._parts, *left], self.value, self.unit)

    @property
    def sums(self) -> str:
        """Whether it adds up, in words."""
        if self.value is None:
            return "not known"
        if not self._parts:
            return "no component was recorded"
        if self.residual is not None and self.residual.number:
            return f"{self.residual.text} {self.unit} left over"
        return "adds up exactly, nothing left over"


class Compared:
    """An answer of compare_bounded_counterfactual."""

    kind = "compared"

    def __init__(self, result: Mapping[str, Any]) -> None:
        """Reads all of it at once. Raises ValueError for what is no such answer."""
        try:
            self.variable: str = result["variable"]
            self.set_to: str = result["set_to"]
            self.factual, self.value = amounts.of(result, "factual"), amounts.of(result, "value")
            self.delta = amounts.of(result, "delta")
            self.unit = wording.unit_words(result["unit"])
            self.standing = standing(result)
            self.bounds, self.interval = _span(result["bounds"]), _span(result["interval"])
            self.held_fixed: Sequence[str] = result["held_fixed"]
            self.not_modelled: Sequence[str] = result["not_modelled"]
            self.off, self.tolerance = _fidelity(result["fidelity"])
            self.provenance = provenance(result)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("This is no answer of compare_bounded_counterfactual.") from error

    @property
    def against(self) -> str:
        """How it is beside what was recorded; empty where that is not known."""
        if self.delta is None:
            return ""
        if not self.delta.number:
            return "the same as recorded"
        word = "more" if self.delta.number > 0 else "less"
        return f"{self.delta.text.lstrip('−')} {word} than recorded"

    @property
    def is_faithful(self) -> bool | None:
        """Whether the model gave back what was; None where it was not run."""
        return None if self.off is None else self.off.number <= (self.tolerance.number if self.tolerance else 0)


Shown = Explained | Compared | Traced
# What each tool answers with.
OF_TOOLS: Mapping[str, type[Explained] | type[Compared] | type[Traced]] = {
    "explain_metric": Explained,
    "compare_bounded_counterfactual": Compared,
    "trace_entity": Traced,
    "trace_event": Traced,
}


def of_tool(tool: str, result: Any) -> Shown | None:
    """The answer of a tool as it is shown; None for another tool, and for a result that is not its answer."""
    shape = OF_TOOLS.get(tool)
    try:
        return shape(result) if shape is not None else None
    except ValueError:
        return None


def _name(component: Mapping[str, Any]) -> str:
    name, part = str(component["name"]), component["part"]
    return PARTS.get(part, f"{name}, {part}") if part else name


def _known(component: Mapping[str, Any]) -> Amount:
    found = amounts.of(component, "value")
    if found is None:
        raise ValueError("A component has a value, or it is none.")
    return found


def _median(said: Mapping[str, Any]) -> Median:
    times = (amounts.of(said, key) for key in ("median", "low", "high"))
    return Median(said["of"] or "", said["entities"], said["still_open"], *times)


def _span(said: Mapping[str, Any] | None) -> tuple[Amount | None, Amount | None] | None:
    return None if said is None else (amounts.of(said, "low"), amounts.of(said, "high"))


def _fidelity(said: Mapping[str, Any] | None) -> tuple[Amount | None, Amount | None]:
    return (None, None) if said is None else (amounts.of(said, "off"), amounts.of(said, "tolerance"))
