"""What may be asked of a table about a subject, so that the answer is about the subject and nothing less."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from gate.triage.grammars import zoned_times
from gate.triage.grammars.sql_select import Condition
from gate.triage.readers.document import Unreadable
from gate.triage.readers.pg_select import STATEMENT, PgSelect
from gate.triage.rules import claims
from gate.triage.rules.language import Case, Judgment

ARGUMENTS = frozenset((*STATEMENT, "params", "limit"))
# What a column is called that holds a name of the claim's: (columns, names of the claim).
Keys = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


def asked_of(rows: PgSelect, holds_them: Callable[[str], bool]) -> Judgment:
    """One of the tables that hold such rows was asked, here and by nothing besides its statement."""
    only = claims.asks_only(rows, ARGUMENTS)
    if only.holds is not True:
        return only
    relation = rows.asked().relation
    return Judgment(holds_them(relation) is True, relation, f"`{relation}` is not a table that tells this.")


def narrowed_by(rows: PgSelect, case: Case, keys: Keys, times: frozenset[str]) -> Judgment:
    """The WHERE names the subject, and nothing else but, where `times` allows it, a time from which on to look."""
    scope = claims.is_in_scope(case)
    if scope.holds is not True:
        return scope
    named, known = 0, columns_of(keys)
    for condition in rows.asked().where:
        if condition.comparison == ">=" and condition.column in frozenset(times):
            continue
        if (condition.comparison, condition.column in frozenset(known)) != ("=", True):
            return Judgment(False, condition.column, f"the rows are narrowed by `{condition.column}`.")
        value, wanted = rows.asked_value(condition), claims.identifier(case, known[condition.column])
        if not is_same(value, wanted):
            return Judgment(False, f"{value}", f"another one than `{wanted}` was asked for.")
        named += 1
    return Judgment(named > 0, f"{named} names", "the rows were not asked for by what the claim is about.")


def looked_from(rows: PgSelect, times: frozenset[str]) -> tuple[datetime, ...]:
    """The times from which on rows were asked for. Raises Unreadable for one without its zone."""
    return tuple(_time(rows, term) for term in rows.asked().where if term.column in frozenset(times))


def _time(rows: PgSelect, condition: Condition) -> datetime:
    value = rows.asked_value(condition)
    if not isinstance(value, str):
        raise Unreadable("", f"`{condition.column}` is compared with a number.", f"{value}")
    return zoned_times.parse(value)


def check_rows_are_as_asked(rows: PgSelect) -> None:
    """Raises Unreadable where a row has another value than its column was asked to have."""
    for condition in rows.asked().where:
        if condition.comparison != "=":
            continue
        for index in range(rows.listed()):
            held = held_by(rows, index, (condition.column,))
            if held != [] and not is_same(rows.identifier(index, condition.column), rows.asked_value(condition)):
                why = f"row {index + 1} has another `{condition.column}` than was asked for."
                raise Unreadable(f"/rows/{index}/{condition.column}", why, "another row")


def is_named(rows: PgSelect, index: int, case: Case, keys: Keys) -> bool:
    """Whether a row is the subject's: each of its names stands in the row, or was what the row was asked by."""
    asked = frozenset(condition.column for condition in rows.asked().where)
    for columns, names in keys:
        if not claims.is_said(case, names):
            continue
        held = held_by(rows, index, columns)
        for column in held:
            if not is_same(rows.like(claims.identifier(case, names), index, column), claims.identifier(case, names)):
                return False
        if len(held) < 1 and len(asked & frozenset(columns)) < 1:
            raise Unreadable("/rows", f"no row says which {names[0]} it is about.", "no name")
    return True


def tells(rows: PgSelect, columns: tuple[str, ...]) -> bool:
    """Whether the question selects any of these columns, or asks by one."""
    asked = [*rows.asked().columns, *(condition.column for condition in rows.asked().where)]
    return len(frozenset(asked) & frozenset(columns)) > 0


def held_by(rows: PgSelect, index: int, columns: tuple[str, ...]) -> list[str]:
    """Which of these columns were selected, so that the row must have them. Raises Unreadable where * gave none."""
    if rows.asked().columns != ("*",):
        return [column for column in columns if column in frozenset(rows.asked().columns)]
    held = [column for column in columns if rows.has_column(index, column)]
    if len(held) < 1:
        raise Unreadable("/rows", f"the row has none of {', '.join(columns)}.", "not in the result")
    return held


def columns_of(keys: Keys) -> Mapping[str, tuple[str, ...]]:
    """Each column, with the names of the claim that it holds."""
    return {column: names for columns, names in keys for column in columns}


def is_same(value: str | int, wanted: str | int) -> bool:
    """The same value of the same type: "7" is not 7, and PostgreSQL would not say so either."""
    return (isinstance(value, str), value) == (isinstance(wanted, str), wanted)
