"""Rows before and after on a server below PostgreSQL 18, whose RETURNING knows only one of the two.

Each row version names the transaction that ended it. While the writer's transaction is open, another session still
sees what it replaced, and finds it by that name: the rows as they were, and nothing of what the statement says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from gate.writes import replaced, session, tables
from gate.writes.images import Image, images
from gate.writes.parameters import Parameter
from gate.writes.statement import Statement
from gate.writes.targets import WriteTarget

KNOWS_BOTH = 180_000  # from this version on RETURNING shows both, under names of our choice

Pair = tuple[dict[str, str | None] | None, dict[str, str | None] | None]


class Unpaired(Exception):
    """It cannot be told which row became which; the sentence says why."""


def changed_rows(
    connection: psycopg.Connection[Any], target: WriteTarget, statement: Statement, parameters: Sequence[Parameter],
    most_rows: int,
) -> list[Pair]:  # fmt: skip
    """Run the statement in the open transaction; each row before and after.

    Raises Unpaired, images.TooLarge, session.Unreachable, psycopg.Error.
    """
    # No second table in a statement can have its table's name, so this shows no other table's rows.
    name = '"' + statement.alias.replace('"', '""') + '"'
    text = f"{statement.text} RETURNING {name}.*"
    returned = images(connection, text, session.bound(parameters), most_rows)
    if statement.verb == "insert":
        return [(None, dict(image)) for image in returned]
    if statement.verb == "delete":
        return [(dict(image), None) for image in returned]
    return _paired(connection, target, statement, returned)


def _paired(
    connection: psycopg.Connection[Any], target: WriteTarget, statement: Statement, after: list[Image]
) -> list[Pair]:  # fmt: skip
    if not after:
        return []
    key = tables.key_columns(connection, statement)
    _check_key(connection, statement, key)
    with replaced.observer(target) as second:
        found = replaced.before(second, replaced.xid(connection), statement.schema, statement.name, 10 * len(after))
    before = {_key(image, key): dict(image) for image in found}
    # Rows that are only locked carry the transaction's name as well; a key that is not in the answer is none of ours.
    pairs = [(before.get(_key(image, key)), dict(image)) for image in after]
    if any(one is None for one, _ in pairs):
        raise Unpaired(
            f"Not every row of {statement.table} as it was could be read: a trigger works in a block of its own, or"
            " another session holds a lock on the row. Preview it again."
        )
    return list(pairs)


def _check_key(connection: psycopg.Connection[Any], statement: Statement, key: list[str]) -> None:
    version = connection.info.server_version // 10_000
    if not key or statement.sets & set(key):
        raise Unpaired(
            f"PostgreSQL {version} does not tell which row became which: {statement.table} needs a primary key that"
            " the statement does not set. From 18 on it does."
        )


def _key(image: Image, key: Sequence[str]) -> tuple[str | None, ...]:
    values = dict(image)
    return tuple(values[name] for name in key)
