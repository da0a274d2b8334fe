"""The probes of a statement for a database: from the statement itself, the target's definition, and a source's view."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from audit.models import Definition
from gate.writes import first_look, target_admission, targets
from gate.writes.models import WriteRequest
from gate.writes.parameters import Parameter
from gate.writes.probes import catalog, counting, keys
from gate.writes.probes.catalog import Table
from gate.writes.probes.fact import Fact, Probe, yes_no
from gate.writes.screening import screened
from gate.writes.statement import Statement
from gate.writes.target_admission import Said

STATEMENT, CATALOG, LABELS, LOOK = "statement", "target's catalog", "target's labels", "read-only count"


@dataclass
class Seen:
    """One write, and what was read for it: each part once, and only when a probe asks."""

    write: WriteRequest

    @cached_property
    def said(self) -> Said:
        return target_admission.of(self.write.target.body)

    @cached_property
    def screened(self) -> tuple[Statement, list[Parameter]]:
        return screened(self.write)

    @property
    def statement(self) -> Statement:
        return self.screened[0]

    @cached_property
    def source(self) -> Definition:
        return first_look.source_of(targets.of(self.write.target))

    @cached_property
    def table(self) -> Table:
        return catalog.of(self.source, self.statement)


def probes(write: WriteRequest) -> dict[str, Probe]:
    """By the question that each answers."""
    seen = Seen(write)
    return {
        "rows_touched": lambda: _rows(seen), "tables_touched": lambda: _tables(seen), "keyed": lambda: _keyed(seen),
        "reversible": lambda: _reversible(seen), "user_data": lambda: _user_data(seen),
    }  # fmt: skip


def held_values(write: WriteRequest) -> dict[str, list[str | None]]:
    """The columns whose values the statement itself names: whom it is about. Raises Unfit."""
    statement, given = screened(write)
    return keys.values(statement, [one.v for one in given])


def _rows(seen: Seen) -> Fact:
    statement, given = seen.screened
    if statement.verb == "insert" and (stated := keys.stated_rows(statement)) is not None:
        return Fact(counting.in_words(stated), _counted(stated), STATEMENT)
    number = counting.count(seen.write, seen.source, statement, given)
    return Fact(counting.in_words(number), _counted(number), LOOK)


def _counted(number: int) -> str:
    if number > counting.FEW:
        return f"more than {counting.FEW:,} rows"
    return "1 row" if number == 1 else f"{number:,} rows"


def _tables(seen: Seen) -> Fact:
    others = _reached(seen.table)
    if not others:
        return Fact("one", seen.write.table, CATALOG)
    return Fact("more", f"{seen.write.table}, and what {', '.join(others)} may touch", CATALOG)


def _reached(table: Table) -> list[str]:
    """What carries a change on to other tables."""
    triggers = [f"the trigger {name}" for name in table.firing]
    return [*triggers, *(f"the reference from {name}" for name in table.cascades)]


def _keyed(seen: Seen) -> Fact:
    statement = seen.statement
    if statement.verb == "insert":
        is_stated = keys.names_its_rows(statement)
        said = "each row stands in the statement" if is_stated else "the rows come out of other tables"
        return yes_no(is_stated, said, STATEMENT)
    held = keys.held(statement)
    named = next((key for key in seen.table.keys if key <= held), None)
    if named is not None:
        return yes_no(True, f"the key {', '.join(sorted(named))}", STATEMENT)
    said = f"no whole key, but {', '.join(sorted(held))}" if held else "no column is held to a value"
    return yes_no(False, said, STATEMENT)


def _reversible(seen: Seen) -> Fact:
    """Strict where gate.writes.undo looks at what a run showed: here nothing has run yet."""
    table, statement = seen.table, seen.statement
    late = sorted(statement.late.union(table.drawn if statement.verb == "insert" else ()))
    if not table.primary_key:
        return yes_no(False, "the table has no primary key, so a row cannot be found again", CATALOG)
    if table.triggers:
        return yes_no(False, f"the trigger {table.triggers[0]} would act again", CATALOG)
    if table.cascades:
        return yes_no(False, f"rows of {table.cascades[0]} change with it and would not come back", CATALOG)
    if late:
        return yes_no(False, f"{', '.join(late)} would get another value", STATEMENT)
    return yes_no(True, "exactly, from the rows as they were", CATALOG)


def _user_data(seen: Seen) -> Fact:
    """What is not labeled counts as user data: a column, a trigger, and every row of a table that changes with it."""
    said, named = seen.said, seen.write.table
    if found := [one for one in sorted(seen.statement.sets) if _is_user_data(said, named, "columns", one)]:
        return yes_no(True, f"{', '.join(found)} of {named}", LABELS)
    table = seen.table
    columns = table.columns if seen.statement.verb == "delete" else table.generated
    written = [one for one in columns if _is_user_data(said, named, "columns", one)]
    found = [f"{', '.join(written)} of {named}"] if written else []
    found += [f"what {one} does" for one in table.firing if _is_user_data(said, named, "triggers", one)]
    found += [f"rows of {one}" for one in table.cascades]
    if found:
        return yes_no(True, ", ".join(found), LABELS)
    return yes_no(False, "every column that is written is labeled otherwise", LABELS)


def _is_user_data(said: Said, table: str, what: str, name: str) -> bool:
    return said.label(table, what, name) == target_admission.USER_DATA
