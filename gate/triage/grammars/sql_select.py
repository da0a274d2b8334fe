"""A SELECT of one closed shape, taken apart by PostgreSQL's own grammar. What it could mean besides is refused.

    SELECT column, … | count(*), max(column) FROM relation WHERE column = literal AND column >= 'time' LIMIT n

A filter inside an aggregate, a subquery, a cast, an alias that renames a column, an expression in a column's place:
each can make an answer say what the rows do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import postgast
from google.protobuf.message import DecodeError

from gate.triage.readers.document import Unreadable, shown

LONGEST = 2_000  # characters; a question of this shape is short
DEEPEST = 8
AGGREGATES = frozenset(("max", "min"))
COMPARISONS = frozenset(("=", ">="))
SCHEMAS = frozenset(("", "public"))  # another schema may hold an archive, or a copy
# Of a SELECT's parts, those that this shape has; any other one that is set is refused.
PARTS = frozenset(("target_list", "from_clause", "where_clause", "sort_clause", "limit_count", "limit_option", "op"))


class _Outside(Exception):
    """What the statement has that the shape has not."""


@dataclass(frozen=True)
class Condition:
    """One term of the WHERE: a column, = or >=, and a literal, or the number of a parameter ($1 is 1)."""

    column: str
    comparison: str
    value: str | int | None
    parameter: int | None


@dataclass(frozen=True)
class Aggregate:
    """count(*), max(column) or min(column), and the name that its value has in the row."""

    function: str
    column: str  # "*" for count
    name: str


@dataclass(frozen=True)
class Select:
    """What was asked of one relation. `columns` is ("*",) for all of them."""

    relation: str
    columns: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    where: tuple[Condition, ...]
    limit: int | None


def parse(text: str) -> Select:
    """The question that a statement asks. Raises Unreadable, saying what is outside the shape."""
    try:
        return _parsed(text)
    except _Outside as outside:
        raise Unreadable("", f"the statement {outside}, so what its answer means is not read.", shown(text)) from None


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Select:
    select = _tree(text)
    set_parts = frozenset(field.name for field, _ in select.ListFields())
    if not set_parts <= PARTS or select.op != postgast.pg_query_pb2.SETOP_NONE:
        raise _Outside("holds more than SELECT, FROM, WHERE, ORDER BY and LIMIT")
    relation, qualifiers = _relation(select)
    for term in select.sort_clause:
        _column(term.sort_by.node, qualifiers)
    columns, aggregates = _targets(select, qualifiers)
    where = tuple(_conditions(select.where_clause, qualifiers)) if select.HasField("where_clause") else ()
    return Select(relation, columns, aggregates, where, _limit(select))


def _tree(text: str) -> Any:
    if len(text) > LONGEST or "\0" in text or max(text.count("("), text.count("[")) > DEEPEST:
        raise _Outside("is too long or too deeply nested")
    try:
        statements = postgast.parse(text).stmts
    except (postgast.PgQueryError, DecodeError, UnicodeEncodeError):
        raise _Outside("is not PostgreSQL's SQL") from None
    if len(statements) != 1 or not statements[0].stmt.HasField("select_stmt"):
        raise _Outside("is not exactly one SELECT")
    return statements[0].stmt.select_stmt


def _relation(select: Any) -> tuple[str, frozenset[str]]:
    """The one relation, and the names by which its columns may be called."""
    if len(select.from_clause) != 1 or not select.from_clause[0].HasField("range_var"):
        raise _Outside("does not read exactly one relation")
    source = select.from_clause[0].range_var
    if source.catalogname or source.schemaname not in SCHEMAS or not source.inh:
        raise _Outside("reads another database or schema, or a part of a relation")
    if len(source.alias.colnames) > 0:
        raise _Outside("renames the columns of its relation")
    return source.relname, frozenset((source.alias.aliasname or source.relname,))


def _column(node: Any, qualifiers: frozenset[str]) -> str:
    """The name of a plain column, "*" for all."""
    if not node.HasField("column_ref"):
        raise _Outside("has an expression where a column belongs")
    *before, last = node.column_ref.fields
    if len(before) > 1 or not all(field.string.sval in qualifiers for field in before):
        raise _Outside("names a column of something else")
    return "*" if last.HasField("a_star") else str(last.string.sval)


def _targets(select: Any, qualifiers: frozenset[str]) -> tuple[tuple[str, ...], tuple[Aggregate, ...]]:
    targets = [target.res_target for target in select.target_list]
    columns = tuple(_plain(target, qualifiers) for target in targets if not target.val.HasField("func_call"))
    aggregates = tuple(_aggregate(target, qualifiers) for target in targets if target.val.HasField("func_call"))
    if (columns == ()) == (aggregates == ()):
        raise _Outside("selects neither columns alone nor aggregates alone")
    names = [*columns, *(aggregate.name for aggregate in aggregates)]
    if len(frozenset(names)) != len(names) or ("*" in names and len(names) > 1):
        raise _Outside("gives one name to two values")
    return columns, aggregates


def _plain(target: Any, qualifiers: frozenset[str]) -> str:
    column = _column(target.val, qualifiers)
    if target.name not in ("", column):
        raise _Outside("gives a column another name")
    return column


def _aggregate(target: Any, qualifiers: frozenset[str]) -> Aggregate:
    call = target.val.func_call
    name = call.funcname[-1].string.sval
    is_plain = len(call.funcname) == 1 and not (
        call.HasField("agg_filter") or call.HasField("over") or call.agg_distinct or call.agg_order
        or call.agg_within_group or call.func_variadic
    )  # fmt: skip
    if not is_plain:
        raise _Outside("counts a part of the rows")
    if name == "count" and call.agg_star:
        return Aggregate("count", "*", target.name or "count")
    if name == "count" and len(call.args) == 1 and call.args[0].a_const.HasField("ival"):
        return Aggregate("count", "*", target.name or "count")  # count(1) counts rows too
    if name in AGGREGATES and len(call.args) == 1:
        return Aggregate(name, _column(call.args[0], qualifiers), target.name or name)
    raise _Outside(f"calls {name}()")


def _conditions(node: Any, qualifiers: frozenset[str]) -> Iterator[Condition]:
    if node.HasField("bool_expr"):
        if node.bool_expr.boolop != postgast.pg_query_pb2.AND_EXPR:
            raise _Outside("has OR or NOT in its WHERE")
        for term in node.bool_expr.args:
            yield from _conditions(term, qualifiers)
        return
    yield _condition(node, qualifiers)


def _condition(node: Any, qualifiers: frozenset[str]) -> Condition:
    term = node.a_expr
    if not node.HasField("a_expr") or term.kind != postgast.pg_query_pb2.AEXPR_OP or len(term.name) != 1:
        raise _Outside("has something else than comparisons in its WHERE")
    comparison, left, right = term.name[0].string.sval, term.lexpr, term.rexpr
    if comparison == "=" and right.HasField("column_ref"):
        left, right = right, left
    if comparison not in COMPARISONS:
        raise _Outside(f"compares with {comparison}")
    if right.HasField("param_ref"):
        return Condition(_column(left, qualifiers), comparison, None, int(right.param_ref.number))
    return Condition(_column(left, qualifiers), comparison, _literal(right, comparison), None)


def _literal(node: Any, comparison: str) -> str | int:
    if node.HasField("type_cast") and comparison == ">=" and _is_time(node.type_cast.type_name):
        node = node.type_cast.arg
    constant = node.a_const
    if not node.HasField("a_const") or constant.isnull:
        raise _Outside("compares with something else than a literal")
    if constant.HasField("sval"):
        return str(constant.sval.sval)
    if constant.HasField("ival"):
        return int(constant.ival.ival)
    raise _Outside("compares with something else than a text or a whole number")


def _is_time(type_name: Any) -> bool:
    """Whether a cast is to a time with its zone: that reads the literal as the column would."""
    is_exact = not type_name.array_bounds and not type_name.typmods
    return is_exact and type_name.names[-1].string.sval == "timestamptz"


def _limit(select: Any) -> int | None:
    if not select.HasField("limit_count"):
        return None
    constant = select.limit_count.a_const
    if select.limit_option != postgast.pg_query_pb2.LIMIT_OPTION_COUNT or not constant.HasField("ival"):
        raise _Outside("has a LIMIT that is not a number")
    if constant.ival.ival < 1:
        raise _Outside("lets no row through by its LIMIT")
    return int(constant.ival.ival)
