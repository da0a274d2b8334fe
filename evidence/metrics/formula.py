"""The formula as data: one SELECT over exposed views, its only parameters the decision point and the scope.

What counts as a read at all is `evidence.grammar`'s. Beyond that a formula has to give the same answer whenever it is
asked about the same moment, so functions, operators and types are closed lists: what is not known to be stable is
refused, and so is what rounds, for a number that is taken apart has to add up. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import postgast

from evidence.metrics import references
from evidence.metrics.references import DERIVED, TIMES, aliases
from evidence.metrics.statements import alone, nodes, numbered, tree_of

pb = postgast.pg_query_pb2  # the names of the grammar's closed sets
FUNCTIONS = frozenset({"sum", "count", "min", "max", "bool_or", "bool_and", "extract", "abs", "lower", "upper"})
OPERATORS = frozenset({"+", "-", "*", "=", "<>", "!=", "<", "<=", ">", ">=", "->>"})
TYPES = frozenset({"int2", "int4", "int8", "numeric", "text", "timestamptz", "timestamp", "date", "interval", "bool"})
# Kinds of expression that compare, and no others: BETWEEN, IN, IS DISTINCT FROM, NULLIF.
EXPRESSIONS = frozenset({
    pb.AEXPR_OP, pb.AEXPR_IN, pb.AEXPR_DISTINCT, pb.AEXPR_NOT_DISTINCT, pb.AEXPR_NULLIF, pb.AEXPR_BETWEEN,
    pb.AEXPR_NOT_BETWEEN,
})  # fmt: skip
NODES = frozenset({
    "A_Const", "A_Expr", "Alias", "BoolExpr", "Boolean", "BooleanTest", "CTE", "CaseExpr", "CaseWhen", "CoalesceExpr",
    "ColumnRef", "CommonTableExpr", "Float", "FuncCall", "Integer", "JoinExpr", "List", "MinMaxExpr", "NullTest",
    "ParamRef", "ParseResult", "RangeSubselect", "RangeVar", "RawStmt", "ResTarget", "SelectStmt", "SortBy", "String",
    "SubLink", "TypeCast", "TypeName", "WindowDef", "WithClause",
})  # fmt: skip
# Texts that PostgreSQL reads as the moment of the call when a time is wanted (documentation, 8.5.1.4).
MOMENTS = frozenset({"now", "today", "tomorrow", "yesterday", "infinity", "allballs"})
FRAMED = 1  # of a window's options: it says a frame (FRAMEOPTION_NONDEFAULT in PostgreSQL's parsenodes.h)
LETTERS = re.compile("[a-z]+")  # it passes over anything else between words: ',now'


@dataclass(frozen=True)
class Formula:
    """A statement that was checked, and what it reads."""

    sql: str  # with $1 for the decision point and $2 for the scope
    columns: tuple[str, ...]
    fields: frozenset[str]  # "relation.column"
    scope: frozenset[str]
    moments: frozenset[str]  # the keys of the scope that are read as moments
    tree: Any

    @property
    def relations(self) -> frozenset[str]:
        """The relations of the source, without what their views' names begin with."""
        return frozenset(aliases(self.tree).values()) - {DERIVED}


@lru_cache(maxsize=256)
def parse(text: str) -> Formula:
    """The checked formula. Raises ValueError, with one sentence, for what a formula may not be."""
    sql = numbered(text)
    tree = tree_of(sql)
    for node in nodes(tree):
        _check(node)
    known = aliases(tree)
    return Formula(
        alone(sql, tree), references.answered(tree), references.fields(tree, known), references.scope(tree),
        references.moments(tree), tree,
    )  # fmt: skip


def _check(node: Any) -> None:
    """Raise ValueError for a node that is on none of the lists."""
    kind = type(node).__name__
    if kind not in NODES:
        raise ValueError(f"A formula may not hold a {kind}: its answer might not be the same each time.")
    checker = _CHECKS.get(kind)
    if checker is not None:
        checker(node)


def _check_function(call: Any) -> None:
    name = call.funcname[-1].string.sval
    schemas = {part.string.sval for part in call.funcname[:-1]}
    if name not in FUNCTIONS or schemas - {"pg_catalog"}:
        raise ValueError(f"A formula may not call {name}; it may call {', '.join(sorted(FUNCTIONS))}.")


def _check_expression(expression: Any) -> None:
    names = [part.string.sval for part in expression.name]
    is_operator = len(names) == 1 and names[0] in OPERATORS
    if expression.kind not in EXPRESSIONS or (expression.kind == pb.AEXPR_OP and not is_operator):
        raise ValueError(
            f"A formula may not use {' '.join(names)}; it may use {' '.join(sorted(OPERATORS))}. A ratio gives its "
            "numerator and its denominator."
        )


def _check_type(name: Any) -> None:
    names = [part.string.sval for part in name.names if part.string.sval != "pg_catalog"]
    if len(names) != 1 or names[0] not in TYPES or name.array_bounds or name.setof:
        raise ValueError(f"A formula may not cast to {'.'.join(names)}; it may cast to {', '.join(sorted(TYPES))}.")


def _check_cast(cast: Any) -> None:
    """A text of the source may be 'now', and then it would be a moment only once it is read."""
    names = (type(node).__name__ for node in nodes(cast.arg))
    if cast.type_name.names[-1].string.sval in TIMES and "ColumnRef" in names:
        raise ValueError(
            "A formula does not read a column of the source as a moment, for its text may say now; the view gives the "
            "moment itself."
        )


def _check_constant(constant: Any) -> None:
    if constant.HasField("sval") and MOMENTS & set(LETTERS.findall(constant.sval.sval.casefold())):
        raise ValueError(f"'{constant.sval.sval}' may be the moment of the call; use :decision_point.")


def _check_select(select: Any) -> None:
    if select.values_lists:
        raise ValueError("A formula reads rows and brings none of its own: it has no VALUES.")
    if select.with_clause.recursive:
        raise ValueError("A formula is not recursive.")
    if select.locking_clause or select.HasField("into_clause"):
        raise ValueError("A formula only reads.")


def _check_join(join: Any) -> None:
    if join.is_natural or join.using_clause or join.HasField("alias"):
        raise ValueError("A formula joins with ON, so that each column says its relation.")


def _check_relation(relation: Any) -> None:
    if relation.alias.colnames:
        raise ValueError("A formula does not rename the columns of a relation.")


def _check_window(window: Any) -> None:
    if window.frame_options & FRAMED:
        raise ValueError("A formula's window has no frame: the rows of a source have no order of their own.")


_CHECKS = {
    "A_Const": _check_constant,
    "A_Expr": _check_expression,
    "FuncCall": _check_function,
    "JoinExpr": _check_join,
    "RangeVar": _check_relation,
    "RangeSubselect": _check_relation,
    "SelectStmt": _check_select,
    "TypeCast": _check_cast,
    "TypeName": _check_type,
    "WindowDef": _check_window,
}
