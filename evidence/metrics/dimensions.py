"""What an expression of a formula is a number of, as far as its columns say: to find sums of unlike things. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.metrics.references import DERIVED, column_of, leftmost
from evidence.metrics.statements import nodes
from evidence.metrics.units import UNITS

SAME = frozenset({"sum", "min", "max", "abs"})  # what gives a number of what it takes
INSTANT, SECOND = "instant", "s"


class Dimensions:
    """The dimension of expressions over these fields, by the names that a statement gives to relations."""

    def __init__(self, fields: Mapping[str, str], known: Mapping[str, str]) -> None:
        self.fields, self.known = fields, known

    def of(self, node: Any) -> str | None:
        """A unit's dimension or `instant`; None where it cannot be told."""
        kind = node.WhichOneof("node")
        if kind == "column_ref":
            return self._of_column(node)
        if kind == "func_call":
            return self._of_call(node.func_call)
        if kind == "coalesce_expr":
            return self._first(node.coalesce_expr.args)
        if kind == "min_max_expr":
            return self._first(node.min_max_expr.args)
        if kind == "type_cast":
            return self.of(node.type_cast.arg)
        if kind == "case_expr":
            return self._first([*(when.case_when.result for when in node.case_expr.args), node.case_expr.defresult])
        return self._of_expression(node.a_expr) if kind == "a_expr" else None

    def field_of(self, node: Any) -> str | None:
        """The source field that an expression is, under any casts; None for anything else."""
        if node.WhichOneof("node") == "type_cast":
            return self.field_of(node.type_cast.arg)
        if node.WhichOneof("node") != "column_ref":
            return None
        return self.field_of_reference(node.column_ref)

    def field_of_reference(self, reference: Any) -> str | None:
        """The same of a column that is named."""
        names = [part.string.sval for part in reference.fields]
        relation = self.known.get(names[0], DERIVED)
        return None if relation == DERIVED else f"{relation}.{names[-1]}"

    def dimension_of(self, field: str) -> str | None:
        """What a field is a number of, or `instant`; None for one that is no number."""
        said = self.fields.get(field)
        return INSTANT if said == INSTANT else UNITS[said].dimension if said in UNITS else None

    def unlike(self, tree: Any) -> Iterator[str]:
        """Sums and differences of two dimensions, and the larger of two: errors + seconds."""
        for node in nodes(tree):
            if type(node).__name__ == "MinMaxExpr":
                found = sorted({one for one in map(self.of, node.args) if one})
                yield from [" beside ".join(found)] if len(found) > 1 else []
            if type(node).__name__ == "A_Expr" and [part.string.sval for part in node.name] in (["+"], ["-"]):
                left, right = self.of(node.lexpr), self.of(node.rexpr)
                if left and right and left != right and left != INSTANT:
                    yield f"{left} {node.name[0].string.sval} {right}"

    def unit_of(self, node: Any) -> str | None:
        """A unit of an expression's dimension, or `instant`; None where it cannot be told."""
        found = self.of(node)
        return (
            found if found == INSTANT else next((name for name, one in UNITS.items() if one.dimension == found), None)
        )

    def _of_column(self, node: Any) -> str | None:
        return self.dimension_of(self.field_of(node) or "")

    def _of_call(self, call: Any) -> str | None:
        name = call.funcname[-1].string.sval
        if name == "extract":
            return UNITS[SECOND].dimension
        return self.of(call.args[0]) if name in SAME and call.args else None

    def _of_expression(self, expression: Any) -> str | None:
        if [part.string.sval for part in expression.name] not in (["+"], ["-"]):
            return None
        left, right = self.of(expression.lexpr), self.of(expression.rexpr)
        return UNITS[SECOND].dimension if (left, right) == (INSTANT, INSTANT) else left or right

    def _first(self, arguments: Any) -> str | None:
        return next((found for found in map(self.of, arguments) if found), None)


def with_parts(tree: Any, fields: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """The fields, and those of the parts that the statement makes itself: what each of their columns is a number of."""
    found = dict(fields)
    # A part may read another, whichever stands first.
    for name, column, value in [*parts(tree), *parts(tree)]:
        if unit := Dimensions(found, known).unit_of(value):
            found[f"{name}.{column}"] = unit
    return found


def parts(tree: Any) -> Iterator[tuple[str, str, Any]]:
    """The columns of WITH and of SELECTs in FROM: the name of the part, that of the column, and what it is."""
    for node in nodes(tree):
        kind = type(node).__name__
        if kind not in ("CommonTableExpr", "RangeSubselect"):
            continue
        name, select = (node.ctename, node.ctequery) if kind == "CommonTableExpr" else (
            node.alias.aliasname, node.subquery
        )  # fmt: skip
        for target in leftmost(select.select_stmt).target_list:
            yield name, column_of(target.res_target), target.res_target.val
