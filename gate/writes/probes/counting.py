"""How many rows a statement names, counted by a source's read-only credential: nothing is run, nothing locked.

Where a statement joins other tables, each pairing counts: that is never fewer than the rows that change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import postgast

from audit.models import Definition
from evidence import reader
from gate.writes import first_look
from gate.writes.models import WriteRequest
from gate.writes.parameters import Parameter
from gate.writes.probes.fact import Unknown
from gate.writes.statement import Statement, messages

FEW = 100  # more are many; how many more, no policy asks
FRAME = f"SELECT count(*) AS rows FROM (SELECT 1 FROM x WHERE true LIMIT {FEW + 1}) AS found"


def count(write: WriteRequest, source: Definition, statement: Statement, given: Sequence[Parameter]) -> int:
    """The number of rows, as far as one above FEW. Raises Unknown, Unfit, Refused or Problem.

    Only for what the database has to count: `keys.stated_rows` counts what an INSERT states itself.
    """
    text, used = as_count(statement, given, shown_in=source.body["schema"])
    found = first_look.read(write, source, text, [one.v for one in used], reader.Limits(rows=1))
    if not found.rows or found.truncated:
        raise Unknown("The source did not count the rows.")
    return int(found.rows[0]["rows"])


def in_words(number: int) -> str:
    """The number as policies name it."""
    if number > FEW:
        return "many"
    return {0: "none", 1: "one"}.get(number, "few")


def as_count(
    statement: Statement, given: Sequence[Parameter], *, shown_in: str
) -> tuple[str, list[Parameter]]:  # fmt: skip
    """The SELECT that counts, and the parameters that it needs of those given."""
    node = getattr(postgast.parse(statement.text).stmts[0].stmt, f"{statement.verb}_stmt")
    tree = postgast.parse(FRAME)
    inner = tree.stmts[0].stmt.select_stmt.from_clause[0].range_subselect.subquery.select_stmt
    if statement.verb == "insert":
        inner.CopyFrom(node.select_stmt.select_stmt)
        _select_one_row(inner)
        first_look.read_in(tree, statement.schema, shown_in)
        return _finished(tree, given)
    first_look.fill_rows(inner, node)
    first_look.read_in(tree, statement.schema, shown_in)
    return _finished(tree, given)


def _select_one_row(select: Any) -> None:
    """One row of VALUES as the SELECT that PostgreSQL makes of it: a function may give many rows there."""
    if len(select.values_lists) == 1:
        for value in select.values_lists[0].list.items:
            select.target_list.add().res_target.val.CopyFrom(value)
        del select.values_lists[:]


def _finished(tree: Any, given: Sequence[Parameter]) -> tuple[str, list[Parameter]]:
    """The text, with its parameters numbered anew: PostgreSQL takes none that a statement does not use."""
    used = _parameters(tree)
    numbers = sorted({one.number for one in used})
    for one in used:
        one.number = numbers.index(one.number) + 1
    kept = [given[number - 1] for number in numbers]
    first_look.cast_parameters(tree, kept)
    return str(postgast.deparse(tree)), kept


def _parameters(tree: Any) -> list[Any]:
    return [one for one in messages(tree) if type(one).DESCRIPTOR.name == "ParamRef"]
