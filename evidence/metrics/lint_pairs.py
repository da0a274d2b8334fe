"""What a formula's comparisons tell of policy: who outranks whom, and what the caller holds against what. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evidence.metrics.dimensions import INSTANT, Dimensions, parts
from evidence.metrics.flaws import AGENT_PARAMETER, RANKING
from evidence.metrics.references import TIMES
from evidence.metrics.statements import PARAMETERS, nodes

Found = Iterator[tuple[str, str]]  # a code, and what was found
ORDERING = frozenset({"<", "<=", ">", ">=", "BETWEEN", "NOT BETWEEN"})
COMPARING = ORDERING | {"=", "<>", "!=", "IN"}
EXTREME = "the row that has the largest or smallest value"


def flaws(tree: Any, dimensions: Dimensions) -> Found:
    """The flaws of a statement's comparisons."""
    largest = set(_extremes(tree, dimensions))
    for node in nodes(tree):
        kind = type(node).__name__
        if kind == "MinMaxExpr" or (kind == "A_Expr" and operator(node) in ORDERING):
            yield from ((RANKING, f"{field} beside that of another row") for field in _of_two_rows(node, dimensions))
        if kind == "A_Expr" and operator(node) in COMPARING:
            yield from _of_caller(node, dimensions)
            if any(dimensions.field_of(side) in largest for side in (node.lexpr, node.rexpr)):
                yield RANKING, EXTREME


def operator(expression: Any) -> str:
    """The name of an expression's operator."""
    return str(expression.name[-1].string.sval) if expression.name else ""


def _of_two_rows(compared: Any, dimensions: Dimensions) -> Iterator[str]:
    """Quantities that two names for rows give. Moments may follow each other, and a key may be another's."""
    read: dict[str, set[str]] = {}
    for node in nodes(compared):
        if type(node).__name__ == "ColumnRef":
            field = dimensions.field_of_reference(node)
            if field is not None and dimensions.dimension_of(field) not in (None, INSTANT):
                read.setdefault(field, set()).add(node.fields[0].string.sval)
    yield from (field for field, names in read.items() if len(names) > 1)


def _extremes(tree: Any, dimensions: Dimensions) -> Iterator[str]:
    """The columns of parts that are the largest or smallest quantity."""
    for name, column, value in parts(tree):
        called = value.func_call.funcname[-1].string.sval if value.HasField("func_call") else ""
        if called in ("max", "min") and dimensions.of(value) not in (None, INSTANT):
            yield f"{name}.{column}"


def _of_caller(expression: Any, dimensions: Dimensions) -> Found:
    """A number or a choice of the caller's: what is counted would depend on it, and not only where."""
    for side, other in ((expression.lexpr, expression.rexpr), (expression.rexpr, expression.lexpr)):
        if not is_scope(side):
            continue
        if dimensions.of(other) not in (None, INSTANT):
            yield AGENT_PARAMETER, f":scope with {operator(expression)}"
        if not any(type(node).__name__ == "ColumnRef" for node in nodes(other)):
            yield AGENT_PARAMETER, ":scope beside what is no column"


def is_scope(side: Any) -> bool:
    """Whether a side is a text or a number of the caller's. The ends of a window are moments."""
    while side.HasField("type_cast"):
        if side.type_cast.type_name.names[-1].string.sval in TIMES:
            return False
        side = side.type_cast.arg
    return bool(operator(side.a_expr) == "->>" and side.a_expr.lexpr.param_ref.number == PARAMETERS["scope"])
