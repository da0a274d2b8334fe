"""All that a metric's definition has to hold before a person may put it in force, but for its golden values. Pure.

In this order, so that the first sentence is the one that helps most: whether it is a policy, the body's parts, what its
statements may do and see, and whether they read and answer what the body says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evidence.metrics import columns, formula, lint, trace, visibility
from evidence.metrics.definition import MetricVersion
from evidence.metrics.formula import Formula
from evidence.metrics.simulations import MODELS


def check(metric_id: str, body: Mapping[str, Any]) -> None:
    """Raise ValueError, with one sentence, for a body that is no metric or is more than one."""
    lint.check(metric_id, body)
    version = MetricVersion.of(metric_id, 1, "", body)
    statements = [_checked(version, "formula", version.formula)]
    _check_answer("formula", statements[0], *_of_formula(version))
    if version.trace_hook is not None:
        statements.append(_checked(version, "trace_hook", version.trace_hook))
        _check_answer("trace_hook", statements[-1], trace.NEEDED, columns.TICKS | {columns.ENTITY})
    for variable in version.supported_counterfactuals:
        statements.append(_checked(version, variable.name, variable.rows))
        needed = MODELS[variable.model].needed | {variable.factual}
        _check_answer(variable.name, statements[-1], needed, MODELS[variable.model].possible)
    _check_all_is_read(version, statements)


def _checked(version: MetricVersion, place: str, text: str) -> Formula:
    try:
        found = formula.parse(text)
        visibility.check(found)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error
    for field in sorted(found.fields - set(version.source_fields)):
        raise ValueError(f"{place} reads {field}, which source_fields does not name.")
    for key in sorted(found.scope - set(version.scope)):
        raise ValueError(f"{place} reads {key} of the scope, which has no such key.")
    for key in sorted(found.moments):
        if version.scope[key] != "instant":
            raise ValueError(f"{place} reads {key} of the scope as a moment, so its kind is instant.")
    return found


def _of_formula(version: MetricVersion) -> tuple[frozenset[str], frozenset[str]]:
    keys = frozenset(one.key for one in version.decomposers if one.type == "partition")
    return columns.NEEDED[version.measure] | keys, columns.FLAGS | columns.TICKS | {columns.ENTITY}


def _check_answer(place: str, found: Formula, needed: frozenset[str], possible: frozenset[str]) -> None:
    if len(set(found.columns)) != len(found.columns):
        raise ValueError(f"{place} answers two columns of one name.")
    for name in sorted(needed - set(found.columns)):
        raise ValueError(f"{place} answers no column {name}, which it needs.")
    for name in sorted(set(found.columns) - needed - possible):
        raise ValueError(f"{place} answers a column {name}, which has no meaning.")
    if columns.TICKS & set(found.columns) and not set(found.columns) >= columns.TICKS:
        raise ValueError(f"{place} answers all of {', '.join(sorted(columns.TICKS))}, or none of them.")


def _check_all_is_read(version: MetricVersion, statements: Sequence[Formula]) -> None:
    """What an answer shows as its sources are those that were read, and no more."""
    read = frozenset().union(*(statement.fields for statement in statements))
    for field in sorted(set(version.source_fields) - read):
        raise ValueError(f"source_fields names {field}, which nothing reads.")
    if not any(statement.scope for statement in statements):
        raise ValueError("Nothing reads the scope, so every answer would be of everything.")
