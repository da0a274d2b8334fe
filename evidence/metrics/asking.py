"""What may be asked of a metric: its decompositions and its variables; and the golden values that it has to give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from evidence.metrics import saying
from evidence.metrics.exact import exact

# The decompositions that a measure has. The first of a metric's list must be of the first kind here.
TYPES = {
    "sum": ("additive", "partition"),
    "precedence": ("precedence", "partition"),
    "interval": ("time_cover",),
    "stages": ("telescoping",),
    "ratio": ("partition",),
    "ratio_change": ("rate_mix",),
}
CLOSED = ("additive", "precedence", "time_cover", "telescoping")  # their kinds are listed; another one is unknown
MODELS = ("truncated_attempts", "first_in_first_out", "swapped_rate", "enforced_key")
STATUSES = ("resolved", "partial", "unresolved")
MOST_VALUES = 1000


@dataclass(frozen=True)
class Decomposer:
    """A way to take the value apart."""

    name: str
    type: str
    key: str = "kind"  # the column that the components are named by
    kinds: tuple[str, ...] = ()  # of a closed decomposition, in their order: with precedence, the first one wins
    without_reason: tuple[str, ...] = ()  # kinds of time that nothing recorded accounts for


@dataclass(frozen=True)
class Variable:
    """One thing that a bounded counterfactual may set, to what, and by which model."""

    name: str
    values: frozenset[str]
    factual: str  # the column of the model's rows that says what it was
    model: str
    rows: str  # the SELECT whose rows the model works on
    tolerance: Fraction | None  # how far the model may be from the recorded world; None for a model that only recounts
    held_fixed: tuple[str, ...]
    not_modelled: tuple[str, ...]


@dataclass(frozen=True)
class Golden:
    """A value that a version has to give before it is put in force."""

    fixture: str
    decision_point: str
    scope: Mapping[str, Any]
    value: Fraction | None
    status: str


def decomposers(said: object, measure: str) -> tuple[Decomposer, ...]:
    """The decomposers of a body, each with a name of its own. Raises ValueError."""
    if not isinstance(said, list) or not said:
        raise ValueError("decomposers is a list of at least one.")
    found = tuple(_decomposer(one, measure) for one in said)
    if len({one.name for one in found}) != len(found):
        raise ValueError("Two decomposers have one name.")
    if found[0].type != TYPES[measure][0]:
        raise ValueError(f"The first decomposer of a metric whose measure is {measure} is {TYPES[measure][0]}.")
    return found


def _decomposer(body: object, measure: str) -> Decomposer:
    if not isinstance(body, Mapping):
        raise ValueError("A decomposer is a JSON object.")
    kind = saying.choice(body.get("type"), TYPES[measure], f"The type of a decomposer of {measure}")
    keys = {"name", "type"} | _own_keys(kind)
    said = saying.keys(body, keys, f"A decomposer that is {kind}")
    kinds = saying.names(said["kinds"], "kinds") if "kinds" in keys else ()
    idle = saying.names(said["without_reason"], "without_reason") if said.get("without_reason") else ()
    if set(idle) - set(kinds):
        raise ValueError("without_reason names some of kinds.")
    key = saying.name(said["key"], "key") if "key" in keys else "kind"
    return Decomposer(saying.name(said["name"], "The name of a decomposer"), kind, key, kinds, idle)


def _own_keys(kind: str) -> set[str]:
    if kind == "time_cover":
        return {"kinds", "without_reason"}
    return {"kinds"} if kind in CLOSED else {"key"} if kind == "partition" else set()


VARIABLE_KEYS = {"variable", "values", "factual", "model", "rows", "fidelity", "held_fixed", "not_modelled"}


def variables(said: object) -> tuple[Variable, ...]:
    """The variables of a body; there may be none. Raises ValueError."""
    if not isinstance(said, list):
        raise ValueError("supported_counterfactuals is a list; it may be empty.")
    found = tuple(_variable(one) for one in said)
    if len({one.name for one in found}) != len(found):
        raise ValueError("A variable stands in supported_counterfactuals twice.")
    return found


def _variable(body: object) -> Variable:
    said = saying.keys(body, VARIABLE_KEYS, "A supported counterfactual")
    values = said["values"]
    if not isinstance(values, list) or not 0 < len(values) <= MOST_VALUES or not all(map(_is_value, values)):
        raise ValueError(f"values lists 1 to {MOST_VALUES:,} texts: what the variable may be set to.")
    return Variable(
        name=saying.name(said["variable"], "variable"),
        values=frozenset(values),
        factual=saying.name(said["factual"], "factual"),
        model=saying.choice(said["model"], MODELS, "model"),
        rows=saying.statement(said["rows"], "rows"),
        tolerance=_tolerance(said["fidelity"]),
        held_fixed=saying.texts(said["held_fixed"], "held_fixed"),
        not_modelled=saying.texts(said["not_modelled"], "not_modelled"),
    )


def _is_value(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= saying.LONGEST_TEXT


def _tolerance(said: object) -> Fraction | None:
    if said == "identity":
        return None
    tolerance = saying.keys(said, {"tolerance"}, "fidelity")["tolerance"]
    if not isinstance(tolerance, str) or exact(tolerance) < 0:
        raise ValueError('fidelity is "identity", or a tolerance: a number from 0 as a text, in the metric\'s unit.')
    return exact(tolerance)


GOLDEN_KEYS = {"fixture", "decision_point", "scope", "value", "status"}


def goldens(said: object) -> tuple[Golden, ...]:
    """The golden values of a body. Raises ValueError when there is none."""
    if not isinstance(said, list) or not said:
        raise ValueError("golden has at least one value that this version gives.")
    return tuple(_golden(one) for one in said)


def _golden(body: object) -> Golden:
    said = saying.keys(body, GOLDEN_KEYS, "A golden value")
    status = saying.choice(said["status"], STATUSES, "The status of a golden value")
    value = None if said["value"] is None else _value(said["value"])
    if (value is None) != (status == "unresolved"):
        raise ValueError("A golden value is null when its status is unresolved, and a number otherwise.")
    if not isinstance(said["scope"], Mapping):
        raise ValueError("The scope of a golden value is an object.")
    fixture = saying.text(said["fixture"], "fixture")
    scope = MappingProxyType(dict(said["scope"]))
    return Golden(fixture, saying.text(said["decision_point"], "decision_point"), scope, value, status)


def _value(said: object) -> Fraction:
    """A number as a text; a ratio that has no end is written as 347/15. Raises ValueError."""
    parts = said.split("/") if isinstance(said, str) else []
    if not 1 <= len(parts) <= 2:
        raise ValueError("The value of a golden value is a number as a text, as 28.33 or 347/15, or null.")
    top, *bottom = map(exact, parts)
    if bottom and not bottom[0]:
        raise ValueError("The value of a golden value is not divided by nothing.")
    return top / bottom[0] if bottom else top
