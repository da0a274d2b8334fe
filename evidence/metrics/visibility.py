"""What was known at the decision point: each relation of a formula is bound by when its rows were recorded.

The time of an event is not enough. A refund that fails later has an early event and a late recording, and an answer as
of then must not hold it. So each relation is bound in the SELECT that reads it, by a condition that every row of it has
to pass: `j.recorded_at <= :decision_point`, in WHERE, or in the ON of a join that drops the rows which do not. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import postgast

from evidence.metrics.formula import Formula
from evidence.metrics.references import DERIVED, EXPOSED, aliases, named_as
from evidence.metrics.statements import PARAMETERS, nodes

pb = postgast.pg_query_pb2  # the names of the grammar's closed sets
RECORDED_AT = "recorded_at"
# Columns that a later change overwrites: what they hold now was not known then.
OVERWRITTEN = frozenset(
    {"updated_at", "modified_at", "changed_at", "last_modified", "last_seen", "xmin", "xmax", "cmin", "cmax", "ctid"}
)


def check(formula: Formula) -> None:
    """Raise ValueError for the first relation that is not bound, or column that tells of what came later."""
    for field in sorted(formula.fields):
        if field.partition(".")[2] in OVERWRITTEN:
            raise ValueError(f"{field} is overwritten by what comes later; read the history that is only added to.")
    for relation in unbound(formula):
        raise ValueError(
            f"{EXPOSED}{relation} is not bound by the decision point: add its {RECORDED_AT} <= :decision_point to the "
            "WHERE of the SELECT that reads it, or to the ON of its join."
        )


def unbound(formula: Formula) -> Iterator[str]:
    """The relations that some SELECT reads beyond the decision point."""
    known = aliases(formula.tree)
    for node in nodes(formula.tree):
        if type(node).__name__ == "SelectStmt":
            bound = set(_bound_by(node.where_clause))
            for item in node.from_clause:
                yield from (known[name] for name in _left_open(item, bound, known))


def _left_open(item: Any, bound: set[str], known: dict[str, str]) -> Iterator[str]:
    """The names of source relations below an item of FROM that no condition on the way binds."""
    if item.HasField("join_expr"):
        join = item.join_expr
        left, right = _binds(join)
        yield from _left_open(join.larg, bound | left, known)
        yield from _left_open(join.rarg, bound | right, known)
    elif item.HasField("range_var"):
        name = named_as(item.range_var)
        if known[name] != DERIVED and name not in bound:
            yield name


def _binds(join: Any) -> tuple[set[str], set[str]]:
    """The names that a join's ON binds on its left and on its right: never on a side whose rows it keeps anyway."""
    bound = set(_bound_by(join.quals))
    left = bound if join.jointype in (pb.JOIN_INNER, pb.JOIN_RIGHT) else set()
    right = bound if join.jointype in (pb.JOIN_INNER, pb.JOIN_LEFT) else set()
    return left, right


def _bound_by(condition: Any) -> Iterator[str]:
    """The names that a condition binds: one of the terms that all have to hold is the bound itself."""
    if condition.HasField("bool_expr") and condition.bool_expr.boolop == pb.AND_EXPR:
        for term in condition.bool_expr.args:
            yield from _bound_by(term)
    elif condition.HasField("a_expr"):
        yield from _bound_name(condition.a_expr)


def _bound_name(expression: Any) -> Iterator[str]:
    fields = [part.string.sval for part in expression.lexpr.column_ref.fields]
    is_bound = [part.string.sval for part in expression.name] == ["<="] and _is_decision_point(expression.rexpr)
    if is_bound and len(fields) == 2 and fields[1] == RECORDED_AT:
        yield fields[0]


def _is_decision_point(node: Any) -> bool:
    """The parameter itself, cast to a moment or not; anything that is made of it may be later."""
    if node.HasField("type_cast"):
        names = [part.string.sval for part in node.type_cast.type_name.names]
        return names[-1:] == ["timestamptz"] and _is_decision_point(node.type_cast.arg)
    return bool(node.HasField("param_ref") and node.param_ref.number == PARAMETERS["decision_point"])
