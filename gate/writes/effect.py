"""What a statement does to a target: every row before and after, and what else it touched."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from gate.writes import digests, older_servers, session, tables
from gate.writes.images import Image, images
from gate.writes.parameters import Parameter
from gate.writes.statement import Statement
from gate.writes.targets import WriteTarget

Row = dict[str, Any]  # {"key", "columns", "before", "after"}; images are column → text, columns in the table's order
Footprint = dict[str, list[int]]  # "shop.jobs" → rows inserted, updated, deleted

FOOTPRINT = """
select schemaname || '.' || relname, n_tup_ins, n_tup_upd, n_tup_del from pg_catalog.pg_stat_xact_all_tables
 where n_tup_ins + n_tup_upd + n_tup_del > 0 and schemaname !~ '^pg_(toast|temp)'
"""


@dataclass(frozen=True)
class Effect:
    """One run's rows, in a stable order, and its footprint."""

    rows: list[Row]
    footprint: Footprint
    own: list[int]  # the footprint of the written table alone, with its partitions

    names: list[str]  # of that table and its partitions

    def digest(self, volatile: Sequence[str], bound: Sequence[str] | None) -> str:
        """What binds an approval to this effect: all of it, or with `bound` only of these and of changed columns."""
        return digests.of_effect(self.rows, volatile, bound)

    @property
    def elsewhere(self) -> Footprint:
        """The footprint of other tables."""
        return {table: counts for table, counts in self.footprint.items() if table not in self.names}


def footprint(connection: psycopg.Connection[Any]) -> Footprint:
    """Rows written per table so far, by triggers and cascades too; a session's earlier transactions count as well."""
    return {table: list(counts) for table, *counts in connection.execute(FOOTPRINT).fetchall()}


def run(
    connection: psycopg.Connection[Any], target: WriteTarget, statement: Statement, parameters: Sequence[Parameter]
) -> Effect:  # fmt: skip
    """Run the statement in the open transaction and read its effect.

    Raises images.TooLarge, older_servers.Unpaired, session.Unreachable, psycopg.Error.
    """
    earlier = footprint(connection)
    rows = _changed_rows(connection, target, statement, parameters)
    # Deferred constraints and triggers act now, or their effect would be missing from what is shown.
    connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    touched = _since(earlier, footprint(connection))
    names = [name for name, _ in tables.parts(connection, statement)]
    return Effect(rows, touched, _own(names, touched), names)


def _own(names: Sequence[str], touched: Footprint) -> list[int]:
    return [sum(touched.get(name, [0, 0, 0])[place] for name in names) for place in range(3)]


def _since(earlier: Footprint, now: Footprint) -> Footprint:
    grown = {table: _minus(counts, earlier.get(table, [0, 0, 0])) for table, counts in now.items()}
    return {table: counts for table, counts in sorted(grown.items()) if any(counts)}


def _minus(now: Sequence[int], earlier: Sequence[int]) -> list[int]:
    return [n - e for n, e in zip(now, earlier, strict=True)]


def _changed_rows(
    connection: psycopg.Connection[Any], target: WriteTarget, statement: Statement, parameters: Sequence[Parameter]
) -> list[Row]:
    look = _both_returned if connection.info.server_version >= older_servers.KNOWS_BOTH else older_servers.changed_rows
    pairs = look(connection, target, statement, parameters, target.policy.row_cap)
    key = tables.key_columns(connection, statement)
    rows = (_row(key, *pair) for pair in pairs)
    return sorted(rows, key=_place)


def _place(row: Row) -> str:
    """By the key, else by what it was. What is inserted stays in its order: its key may be another in each run."""
    named = row["before"] and (row["key"] or row["before"])
    return digests.row_line(named, None, ()) if named else ""


def _both_returned(
    connection: psycopg.Connection[Any], target: WriteTarget, statement: Statement, parameters: Sequence[Parameter],
    most_rows: int,
) -> list[older_servers.Pair]:  # fmt: skip
    text = statement.text + _returning(statement.verb)
    found = images(connection, text, session.bound(parameters), most_rows)
    return [_split(statement.verb, image) for image in found]


def _returning(verb: str) -> str:
    # Names that a statement cannot know: an alias "old" of its own would make another table pass for the row before.
    old, new = f"gate_{secrets.token_hex(8)}", f"gate_{secrets.token_hex(8)}"
    shown = {"insert": f"{new}.*", "delete": f"{old}.*", "update": f"{old}.*, {new}.*"}[verb]
    return f" RETURNING WITH (OLD AS {old}, NEW AS {new}) {shown}"


def _split(verb: str, image: Image) -> older_servers.Pair:
    if verb == "insert":
        return None, dict(image)
    if verb == "delete":
        return dict(image), None
    half = len(image) // 2
    return dict(image[:half]), dict(image[half:])


def _row(key: Sequence[str], before: digests.Image, after: digests.Image) -> Row:
    image = before if before is not None else after
    assert image is not None  # one side of a change is always there
    # JSON objects do not keep the table's order of columns once they are stored.
    return {"key": {name: image[name] for name in key if name in image}, "columns": list(image),
            "before": before, "after": after}  # fmt: skip


def as_it_is(connection: psycopg.Connection[Any], statement: Statement, key: Mapping[str, str | None]) -> digests.Image:
    """The row with this key as it is now, or None. Raises TooLarge, psycopg.Error."""
    equals = (sql.SQL("{} = {}").format(sql.Identifier(name), sql.Literal(value)) for name, value in key.items())
    condition = sql.SQL(" AND ").join(equals)
    query = sql.SQL("SELECT * FROM {} WHERE {}").format(sql.Identifier(statement.schema, statement.name), condition)
    found = images(connection, query, (), most_rows=1)
    return dict(found[0]) if found else None
