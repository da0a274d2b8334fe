"""Answers about metrics as agents read them: numbers, units, codes and ids, and no sentence that anybody made up. Pure.

Numbers are Decimals, written exactly by the JSON that the tools answer in. Where one had to be cut, `exact` beside it
is the fraction that it is the beginning of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from evidence.metrics.counterfactual import Compared
from evidence.metrics.decomposers.parts import Component, Many
from evidence.metrics.exact import shown, shown_all
from evidence.metrics.explaining import Explanation
from evidence.metrics.medians import Median
from evidence.metrics.status import Reason, Standing
from evidence.metrics.trace import Cut, Event, Gap, Item, Trace


@dataclass(frozen=True)
class Provenance:
    """Where an answer is from: what it can be held against later."""

    run: str  # of the read: the call's id
    decision_point: str
    metric_id: str
    formula_version: int
    formula_digest: str
    valuation: str | None  # "prices@3"
    valuation_digest: str | None
    entries: tuple[str, ...]  # ids of the audit entries of the reads
    rows: int = 0  # that were read


def explained(found: Explanation, provenance: Provenance) -> dict[str, Any]:
    """The answer of explain_metric."""
    return {
        "metric_id": found.version.metric_id,
        **_standing(found.standing),
        "unit": found.version.unit.name,
        "decomposition_type": found.decomposition_type,
        "components": _components(found.components),
        **_number("residual", found.residual if found.standing.value is not None else None),
        **({"medians": [_median(one) for one in found.medians]} if found.medians else {}),
        "limitations": list(found.version.limitations),
        "provenance": _provenance(provenance),
    }


def compared(found: Compared, unit: str, provenance: Provenance) -> dict[str, Any]:
    """The answer of compare_bounded_counterfactual."""
    return {
        "variable": found.variable,
        "set_to": found.value,
        **_number("factual", found.factual),
        **_standing(found.standing),
        **_number("delta", found.delta),
        "unit": unit,
        "bounds": _span(found.bounds),
        "interval": _span(found.interval),
        "held_fixed": list(found.held_fixed),
        "not_modelled": list(found.not_modelled),
        "fidelity": None
        if found.fidelity is None
        else {**_number("off", found.fidelity.off), **_number("tolerance", found.fidelity.tolerance)},
        "provenance": _provenance(provenance),
    }


def traced(found: Trace, provenance: Provenance) -> dict[str, Any]:
    """The answer of trace_entity and trace_event. What stands side by side happened at the same time, no more."""
    return {
        "items": [_item(one) for one in found.items],
        "mechanism_status": str(found.status),
        "reasons": _reasons(found.reasons),
        "provenance": _provenance(provenance),
    }


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        **_number("value", standing.value),
        "mechanism_status": str(standing.status),
        "reasons": _reasons(standing.reasons),
    }


def _number(name: str, number: Fraction | None) -> dict[str, Any]:
    """A number under its name, null where it is not known; with the fraction where it has no end."""
    if number is None:
        return {name: None}
    out = shown(number)
    return {name: out.value} if out.fraction is None else {name: out.value, f"{name}_exact": out.fraction}


def _span(span: tuple[Fraction, Fraction] | None) -> dict[str, Any] | None:
    return None if span is None else {**_number("low", span[0]), **_number("high", span[1])}


def _components(found: Sequence[Component]) -> list[dict[str, Any]]:
    values = shown_all(found.numerators, found.denominator) if isinstance(found, Many) else None
    if values is None or not isinstance(found, Many):
        return [_component(one) for one in found]
    return [
        {"name": name, "part": part, "value": value} for (name, part), value in zip(found.names, values, strict=True)
    ]


def _component(one: Component) -> dict[str, Any]:
    return {"name": one.name, "part": one.part, **_number("value", one.amount)}


def _median(one: Median) -> dict[str, Any]:
    return {
        "of": one.of,
        "entities": one.entities,
        "still_open": one.still_open,
        **_number("median", one.median),
        **_number("low", one.low),
        **_number("high", one.high),
    }


def _reasons(reasons: Sequence[Reason]) -> list[dict[str, Any]]:
    return [{"code": str(reason.code), "parameters": dict(reason.parameters)} for reason in reasons]


def _provenance(provenance: Provenance) -> dict[str, Any]:
    return {**asdict(provenance), "entries": list(provenance.entries)}


def _item(item: Item) -> dict[str, Any]:
    if isinstance(item, Gap):
        return {"item": "gap", "since": item.since, "until": item.until}
    if isinstance(item, Cut):
        return {"item": "cut", "rows": item.rows, **_number("until", item.until)}
    return _event(item)


def _event(event: Event) -> dict[str, Any]:
    return {
        "item": "event",
        **_number("at", event.at),
        **_number("recorded_at", event.recorded_at),
        "what": event.what,
        "actor": event.actor,
        "relation": event.relation,
        "id": event.id,
    }
