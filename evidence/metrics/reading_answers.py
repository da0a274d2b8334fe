"""Answers as pages show them: numbers, marks and sentences of what the tools answer in numbers and codes. Pure.

It reads the result object of an answer, be it of a question that a person asked or of a call on record, and makes
nothing up: an answer of another shape raises ValueError and is shown as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cached_property
from typing import Any

from evidence.metrics import amounts, saying, waterfall, wording
from evidence.metrics.amounts import Amount
from evidence.metrics.status import Status

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_COMPONENTS = 200
PARTS = {"": "{name}", "other": "without a key", "interaction": "interaction"}


@dataclass(frozen=True)
class Reason:
    """Why an answer is not resolved: its code, the sentence, and its parameters."""

    code: str
    sentence: str
    details: str


@dataclass(frozen=True)
class Standing:
    """How far a value can be relied on."""

    status: Status
    reasons: Sequence[Reason]

    @property
    def css(self) -> str:
        return wording.MARKS[self.status][0]

    @property
    def glyph(self) -> str:
        return wording.MARKS[self.status][1]

    @property
    def word(self) -> str:
        return str(self.status)

    @property
    def meaning(self) -> str:
        return wording.MEANINGS[self.status]


@dataclass(frozen=True)
class Component:
    """A row of the table behind the waterfall."""

    name: str
    amount: Amount
    share: str


@dataclass(frozen=True)
class Provenance:
    """Where an answer is from."""

    run: str
    decision_point: datetime
    metric_id: str
    version: int
    digest: str
    valuation: str | None
    valuation_digest: str | None
    entries: Sequence[str]

    @property
    def valuation_name(self) -> str:
        return (self.valuation or "").partition("@")[0]

    @property
    def valuation_version(self) -> str:
        return (self.valuation or "").partition("@")[2]


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
            self.standing = _standing(result)
            self._parts = [(_name(one), _known(one)) for one in result["components"]]
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
            self.standing = _standing(result)
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


@dataclass(frozen=True)
class Item:
    """One line of a trace."""

    kind: str  # "event", "gap" or "cut"
    at: datetime | None = None
    seconds: str = ""  # where it is no moment of the calendar
    recorded_at: datetime | None = None
    what: str = ""
    actor: str | None = None
    row: str = ""
    is_new_day: bool = False
    is_at_same_time: bool = False
    since: int = 0
    until: int = 0
    rows: int = 0


class Traced:
    """An answer of trace_entity or trace_event."""

    kind = "traced"

    def __init__(self, result: Mapping[str, Any]) -> None:
        """Reads all of it at once. Raises ValueError for what is no such answer."""
        try:
            self.standing = _standing(result)
            self.items = _items(result["items"])
            self.provenance = provenance(result)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("This is no answer of a trace.") from error


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


def provenance(result: Mapping[str, Any]) -> Provenance:
    """Where an answer is from. Raises ValueError, KeyError and TypeError."""
    said = result["provenance"]
    if not saying.NAME.fullmatch(said["metric_id"]):
        raise ValueError("The provenance names no metric.")
    return Provenance(
        said["run"], datetime.fromisoformat(said["decision_point"]), said["metric_id"], said["formula_version"],
        said["formula_digest"], said["valuation"], said["valuation_digest"], tuple(said["entries"]),
    )  # fmt: skip


def _standing(result: Mapping[str, Any]) -> Standing:
    reasons = [
        Reason(one["code"], wording.sentence(one["code"]), wording.details(one["parameters"]))
        for one in result["reasons"]
    ]
    return Standing(Status(result["mechanism_status"]), reasons)


def _name(component: Mapping[str, Any]) -> str:
    part = component["part"]
    return PARTS.get(part, f"{{name}}, {part}").replace("{name}", component["name"])


def _known(component: Mapping[str, Any]) -> Amount:
    found = amounts.of(component, "value")
    if found is None:
        raise ValueError("A component has a value, or it is none.")
    return found


def _span(said: Mapping[str, Any] | None) -> tuple[Amount | None, Amount | None] | None:
    return None if said is None else (amounts.of(said, "low"), amounts.of(said, "high"))


def _fidelity(said: Mapping[str, Any] | None) -> tuple[Amount | None, Amount | None]:
    return (None, None) if said is None else (amounts.of(said, "off"), amounts.of(said, "tolerance"))


def _items(said: Sequence[Mapping[str, Any]]) -> list[Item]:
    items: list[Item] = []
    last: Fraction | None = None
    day = None
    for one in said:
        if one["item"] == "gap":
            items.append(Item("gap", since=one["since"], until=one["until"]))
        elif one["item"] == "cut":
            items.append(Item("cut", rows=one["rows"]))
        else:
            number = _seconds(one, "at")
            at = moment(number)
            items.append(_event(one, number, at, is_same=number == last, is_new=at is None or at.date() != day))
            last, day = number, at.date() if at else None
    return items


def _event(said: Mapping[str, Any], number: Fraction, at: datetime | None, *, is_same: bool, is_new: bool) -> Item:
    return Item(
        "event", at, "" if at else f"{amounts.made(number).text} s", moment(_seconds(said, "recorded_at")),
        said["what"], said["actor"], f"{said['relation']} {said['id']}", is_new, is_same,
    )  # fmt: skip


def _seconds(said: Mapping[str, Any], key: str) -> Fraction:
    found = amounts.of(said, key)
    if found is None:
        raise ValueError("An event has a time, or it is none.")
    return found.number


def moment(seconds: Fraction) -> datetime | None:
    """The moment that is so many seconds after 1970; None for one that no calendar here has."""
    try:
        return EPOCH + timedelta(microseconds=round(seconds * 1_000_000))
    except OverflowError:
        return None
