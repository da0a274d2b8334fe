"""What counts as a read, checked with PostgreSQL's own grammar before any database sees it.

The text is parsed twice: as it was given, and inside the cursor that will run it. The two trees must be equal, so
text that closes the cursor's parenthesis to break out of it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import postgast
from google.protobuf.message import DecodeError

from evidence import naming
from evidence.errors import Refused
from evidence.forbidden import is_forbidden_function, is_forbidden_relation
from evidence.naming import Named

LONGEST_STATEMENT = 20_000  # characters
DEEPEST_BRACKETS = 100
CURSOR = "counterseal_read"
# A column of the same name would hide the row from row_to_json; a long alias makes that no accident.
ROW = "counterseal_row"
TAIL = f"\n) AS {ROW}"
SHAPE_HEAD = "SELECT * FROM (\n"
SHAPE_TAIL = f"{TAIL} LIMIT 0"
WRITING = ("InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt")


@dataclass(frozen=True)
class Checked:
    """A read in the two forms that are run: one that only tells its columns, and the cursor that fetches it."""

    shape: str
    cursor: str
    placeholders: int  # the highest $n
    named: Named


@lru_cache(maxsize=512)
def check(text: str, longest_value: int) -> Checked:
    """The checked read; each row comes as JSON text of at most `longest_value` characters. Raises Refused."""
    _check_size(text)
    statement = _only_select(text)
    head = _cursor_head(longest_value)
    cursor, shape = f"{head}{statement}{TAIL}", f"{SHAPE_HEAD}{statement}{SHAPE_TAIL}"
    _check_embedding(cursor, head, TAIL, statement)
    _check_embedding(shape, SHAPE_HEAD, SHAPE_TAIL, statement)
    tree = _parse(statement)
    return Checked(shape, cursor, _check_nodes(tree), naming.named(tree))


def _cursor_head(longest_value: int) -> str:
    value = f"pg_catalog.left(pg_catalog.row_to_json({ROW})::pg_catalog.text, {longest_value:d})"
    return f"DECLARE {CURSOR} NO SCROLL CURSOR WITHOUT HOLD FOR SELECT {value} FROM (\n"


def _check_size(text: str) -> None:
    if len(text) > LONGEST_STATEMENT:
        raise Refused("too_long", f"The statement is longer than {LONGEST_STATEMENT:,} characters; shorten it.")
    if "\0" in text or not _is_unicode(text):
        raise Refused("not_text", "The statement holds a character that PostgreSQL's text cannot.")
    if _depth(text) > DEEPEST_BRACKETS:
        raise _too_nested()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _depth(text: str) -> int:
    """How deeply brackets may nest at most. Those in literals count too: a few too many do no harm here."""
    deepest = now = 0
    for character in text:
        if character in "([":
            now += 1
            deepest = max(deepest, now)
        elif character in ")]":
            now = max(now - 1, 0)
    return deepest


def _too_nested() -> Refused:
    return Refused("too_nested", "The statement is nested too deeply; split it.")


def _parse(text: str) -> Any:
    """The tree of the text. Raises Refused for what is not PostgreSQL's SQL or nests too deeply for a message."""
    try:
        return postgast.parse(text)
    except postgast.PgQueryError as error:
        raise Refused("syntax", f"PostgreSQL's grammar does not take the statement: {error}.") from error
    except DecodeError as error:
        raise _too_nested() from error


def _only_select(text: str) -> str:
    """The text of the one SELECT, without what follows it. Raises Refused when there is anything else."""
    statements = _parse(text).stmts
    if len(statements) != 1:
        raise Refused("not_one_statement", f"A read is exactly one statement; this text holds {len(statements)}.")
    raw = statements[0]
    if not raw.stmt.HasField("select_stmt"):
        raise Refused("not_a_read", "Only a SELECT is a read.")
    encoded = text.encode()
    end = raw.stmt_location + raw.stmt_len if raw.stmt_len else len(encoded)
    return encoded[raw.stmt_location : end].decode()


def _check_embedding(whole: str, head: str, tail: str, statement: str) -> None:
    """Raise Refused unless the inner tree is the statement's and the tree around it is the frame's."""
    # Spaces in place of the head give both trees the same byte positions, so equality needs no exceptions.
    alone = _parse(" " * len(head.encode()) + statement).stmts[0].stmt.select_stmt
    outer, inner = _split(_parse(whole))
    frame, _ = _split(_parse(f"{head}SELECT 1{tail}"))
    if inner != alone or _without_positions_behind(outer) != _without_positions_behind(frame):
        raise Refused("breaks_out", "The statement would end the query that limits it.")


def _split(tree: Any) -> tuple[Any, Any]:
    """The tree around the subquery, and the subquery's own. Raises Refused when there is no such place."""
    if len(tree.stmts) != 1:
        raise Refused("breaks_out", "The statement would end the query that limits it.")
    statement = tree.stmts[0].stmt
    select = statement.declare_cursor_stmt.query.select_stmt if statement.HasField("declare_cursor_stmt") else (
        statement.select_stmt
    )  # fmt: skip
    if len(select.from_clause) != 1 or not select.from_clause[0].HasField("range_subselect"):
        raise Refused("breaks_out", "The statement would end the query that limits it.")
    place = select.from_clause[0].range_subselect.subquery
    inner = type(place.select_stmt)()
    inner.CopyFrom(place.select_stmt)
    place.Clear()
    return tree, inner


def _without_positions_behind(tree: Any) -> Any:
    """The frame's own LIMIT stands behind the statement, so its position differs and says nothing."""
    select = tree.stmts[0].stmt.select_stmt
    if select.HasField("limit_count"):
        select.limit_count.a_const.location = 0
    return tree


def _check_nodes(tree: Any) -> int:
    """The highest placeholder. Raises Refused for writing, locking, INTO and forbidden names, wherever they stand."""
    highest = 0
    for node in _nodes(tree):
        kind = type(node).__name__
        if kind in WRITING:
            raise Refused("not_a_read", "The statement holds one that writes.")
        if kind == "SelectStmt":
            _check_select(node)
        elif kind == "FuncCall":
            _check_function(node)
        elif kind == "RangeVar":
            _check_relation(node)
        elif kind == "ParamRef":
            highest = max(highest, node.number)
    return highest


def _nodes(tree: Any) -> Iterator[Any]:
    return (node for _, node in postgast.walk(tree))


def _check_select(select: Any) -> None:
    if select.HasField("into_clause"):
        raise Refused("not_a_read", "SELECT INTO makes a table.")
    if select.locking_clause:
        raise Refused("not_a_read", "FOR UPDATE and FOR SHARE lock rows.")


def _check_function(call: Any) -> None:
    name = call.funcname[-1].string.sval
    if is_forbidden_function(name):
        raise Refused("forbidden_name", f"The function {name} reaches beyond a read.")


def _check_relation(relation: Any) -> None:
    if is_forbidden_relation(relation.schemaname, relation.relname):
        raise Refused("forbidden_name", f"The catalog {relation.relname} tells of other roles, sessions or sources.")
