"""What an expression of a formula is a number of, as far as its columns say: to find sums of unlike things. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.metrics.formula import DERIVED, nodes
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
        return self._of_expression(node.a_expr) if kind == "a_expr" else None

    def field_of(self, node: Any) -> str | None:
        """The source field that an expression is, under any casts; None for anything else."""
        if node.WhichOneof("node") == "type_cast":
            return self.field_of(node.type_cast.arg)
        if node.WhichOneof("node") != "column_ref":
            return None
        parts = [part.string.sval for part in node.column_ref.fields]
        relation = self.known.get(parts[0], DERIVED)
        return None if relation == DERIVED else f"{relation}.{parts[-1]}"

    def unlike(self, tree: Any) -> Iterator[str]:
        """Sums and differences of two dimensions, and comparisons: errors + seconds."""
        for node in nodes(tree):
            if type(node).__name__ == "A_Expr" and [part.string.sval for part in node.name] in (["+"], ["-"]):
                left, right = self.of(node.lexpr), self.of(node.rexpr)
                if left and right and left != right and left != INSTANT:
                    yield f"{left} {node.name[0].string.sval} {right}"

    def _of_column(self, node: Any) -> str | None:
        said = self.fields.get(self.field_of(node) or "")
        return INSTANT if said == INSTANT else UNITS[said].dimension if said in UNITS else None

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
