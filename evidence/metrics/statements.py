"""The text of a statement and its tree, with the parameters that it names. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import postgast

from evidence import grammar
from evidence.errors import Refused

pb = postgast.pg_query_pb2  # the names of the grammar's closed sets
PARAMETERS = {"decision_point": 1, "scope": 2}  # :name, and the $n that it is sent as
LONGEST_VALUE = 1  # of the cursor that is made only to be checked
COMMENTS = (pb.SQL_COMMENT, pb.C_COMMENT)


def tree_of(sql: str) -> Any:
    """The tree of a statement that is a read. Raises ValueError with the sentence of the guarded read."""
    try:
        grammar.check(sql, LONGEST_VALUE)
    except Refused as refused:
        raise ValueError(refused.sentence) from refused
    return postgast.parse(sql)


def nodes(tree: Any) -> Iterator[Any]:
    """Every node of a tree."""
    return (node for _, node in postgast.walk(tree))


def numbered(text: str) -> str:
    """The text with $1 and $2 for its named parameters, found by PostgreSQL's own scanner: never in a literal."""
    try:
        tokens = list(postgast.scan(text).tokens)
    except (postgast.PgQueryError, UnicodeEncodeError) as error:
        raise ValueError("PostgreSQL's grammar does not take the statement.") from error
    raw, parts, at = text.encode(), [], 0
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.token == pb.PARAM:
            raise ValueError("A formula names its parameters: :decision_point and :scope.")
        if token.token in COMMENTS:
            raise ValueError("A formula holds no comment; say it in the title or the limitations.")
        if token.token == ord(":"):
            parts += [raw[at : token.start], _number(raw, token, following)]
            at = following.end
    return b"".join([*parts, raw[at:]]).decode()


def _number(raw: bytes, colon: Any, following: Any) -> bytes:
    is_name = following is not None and following.start == colon.end
    name = raw[following.start : following.end].decode() if is_name else ""
    if name not in PARAMETERS:
        raise ValueError("A formula has the parameters :decision_point and :scope, and no other.")
    return b"$%d" % PARAMETERS[name]


def alone(sql: str, tree: Any) -> str:
    """The statement without a semicolon behind it, so that it may stand in another one."""
    raw = tree.stmts[0]
    end = raw.stmt_location + raw.stmt_len if raw.stmt_len else None
    return sql.encode()[:end].decode()
