"""Which columns of its table a statement's condition holds to a value. Pure: the parsed statement alone is read.

The part that counts is what must hold of every row: the terms that AND joins. A value is what the proposal itself
says: a constant, a parameter, or the elements of a parameter, as an undo has its rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import postgast

from gate.writes.statement import Statement, messages

EQUAL, LISTED = "AEXPR_OP", "AEXPR_IN"
FRACTION = re.compile(r"\s*[-+]?[0-9_]*(\.|[0-9]e)[-+0-9_e]*\s*", re.IGNORECASE)
GIVES_ROWS = frozenset({"jsonb_array_elements"})  # of the functions that a statement may call


def held(statement: Statement) -> frozenset[str]:
    """The columns that the condition of an UPDATE or DELETE holds to a value; none for an INSERT."""
    return frozenset(column for column, _ in _terms(statement))


def values(statement: Statement, given: Iterable[str | None]) -> dict[str, list[str | None]]:
    """The columns that are held to values, with these as text; None for one that only the database can work out."""
    texts = list(given)
    found: dict[str, list[str | None]] = {}
    for column, value in _terms(statement):
        found.setdefault(column, []).extend(_texts(value, texts))
    return found


def names_its_rows(statement: Statement) -> bool:
    """Whether an INSERT says each of its rows itself, so that none comes from what happens to be in a table."""
    select = _node(statement).select_stmt.select_stmt
    return all(_is_given(one) for one in select.from_clause) and not _reads_tables(select)


def stated_rows(statement: Statement) -> int | None:
    """How many rows an INSERT of VALUES adds; None where only the database can count them."""
    select = _node(statement).select_stmt.select_stmt
    # One row of VALUES is read as a SELECT, where such a function makes many of it.
    return None if statement.functions & GIVES_ROWS else len(select.values_lists) or None


def _node(statement: Statement) -> Any:
    return getattr(postgast.parse(statement.text).stmts[0].stmt, f"{statement.verb}_stmt")


def _terms(statement: Statement) -> Iterator[tuple[str, Any]]:
    if statement.verb == "insert":
        return
    node = _node(statement)
    others = node.from_clause if statement.verb == "update" else node.using_clause
    if node.HasField("where_clause"):
        for term in _joined_by_and(node.where_clause):
            yield from _held_by(term, statement, list(others))


def _joined_by_and(node: Any) -> Iterator[Any]:
    is_and = node.WhichOneof("node") == "bool_expr" and _name("BoolExprType", node.bool_expr.boolop) == "AND_EXPR"
    if not is_and:
        yield node
        return
    for one in node.bool_expr.args:
        yield from _joined_by_and(one)


def _held_by(term: Any, statement: Statement, others: list[Any]) -> Iterator[tuple[str, Any]]:
    if term.WhichOneof("node") != "a_expr":
        return
    said = term.a_expr
    kind, operators = _name("A_Expr_Kind", said.kind), [part.string.sval for part in said.name]
    if kind not in (EQUAL, LISTED) or operators[-1] != "=":
        return
    sides = [(said.lexpr, said.rexpr)] if kind == LISTED else [(said.lexpr, said.rexpr), (said.rexpr, said.lexpr)]
    for column, value in sides:
        name = _own_column(column, statement, bool(others))
        if name is not None and _is_value(value, others):
            yield name, value


def _own_column(node: Any, statement: Statement, has_others: bool) -> str | None:
    """The column of the statement's own table that a name stands for; None for what may be another's."""
    if node.WhichOneof("node") != "column_ref":
        return None
    names = [part.string.sval for part in node.column_ref.fields if part.WhichOneof("node") == "string"]
    if len(names) != len(node.column_ref.fields):
        return None
    if len(names) == 1:
        return None if has_others else names[0]
    own = [[statement.alias]]
    if statement.alias == statement.name:  # under an alias the table's own name is another one's
        own.append([statement.schema, statement.name])
    return names[-1] if names[:-1] in own else None


def _is_value(node: Any, others: list[Any]) -> bool:
    given = {one.range_subselect.alias.aliasname for one in others if _is_given(one)}
    for part in messages(node):
        kind = type(part).DESCRIPTOR.name
        if kind in ("SubLink", "CollateClause"):  # under another collation than the key's, two keys may be equal
            return False
        if kind == "ColumnRef" and (len(part.fields) < 2 or part.fields[0].string.sval not in given):
            return False
    return True


def _is_given(item: Any) -> bool:
    """Whether an item of FROM holds nothing but what the proposal's own parameters say."""
    # A LATERAL one reads the tables beside it, though it names none.
    return item.WhichOneof("node") == "range_subselect" and not item.range_subselect.lateral and not _reads_tables(item)


def _reads_tables(node: Any) -> bool:
    return any(type(part).DESCRIPTOR.name == "RangeVar" for part in messages(node))


def _texts(node: Any, given: list[str | None]) -> Iterator[str | None]:
    """Each value that stands there, as text: nothing for a NULL, which no row equals; None for an expression."""
    match node.WhichOneof("node"):
        case "list":
            for one in node.list.items:
                yield from _texts(one, given)
        case "type_cast":
            yield from (_as_cast(text, node.type_cast) for text in _texts(node.type_cast.arg, given))
        case "param_ref":
            text = given[node.param_ref.number - 1]
            yield from () if text is None else (text,)
        case "a_const":
            yield from () if node.a_const.isnull else (_constant(node.a_const),)
        case _:
            yield None


def _as_cast(text: str | None, cast: Any) -> str | None:
    """The same text, where no cast cuts or rounds it."""
    is_cut = bool(cast.type_name.typmods) or (text is not None and FRACTION.fullmatch(text) is not None)
    return None if is_cut else text


def _constant(constant: Any) -> str | None:
    match constant.WhichOneof("val"):
        case "ival":
            return str(constant.ival.ival)
        case "sval":
            return str(constant.sval.sval)
        case "fval":
            return str(constant.fval.fval)
    return None


def _name(enum: str, value: int) -> str:
    return str(getattr(postgast.pg_query_pb2, enum).Name(value))
