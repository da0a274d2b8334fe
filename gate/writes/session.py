"""A session on a target, with everything pinned that could make the same statement mean or show something else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.adapt import Dumper

from gate.writes.parameters import TYPES, Parameter
from gate.writes.targets import WriteTarget

OLDEST_VERSION = 130_000  # knows the transaction's number in the form that stays valid
CONNECT_SECONDS = 5

PINNED = {
    "search_path": "pg_catalog, pg_temp",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "row_security": "on",
    "synchronous_commit": "on",
    "lock_timeout": "2s",
    "statement_timeout": "10s",
    "idle_in_transaction_session_timeout": "15s",
    "transaction_timeout": "30s",
}
KNOWN_FROM = {"transaction_timeout": 170_000}


class Unreachable(Exception):
    """The target could not be reached, so nothing was asked of it."""


class _Bound:
    """A value that is sent as the text it is, under one type."""

    def __init__(self, value: str | None) -> None:
        self.value = value


class _BoundDumper(Dumper):
    def dump(self, obj: _Bound) -> Buffer | None:
        return None if obj.value is None else obj.value.encode()


# One class per type: psycopg chooses the OID by the class of the value.
BOUND: dict[str, type[_Bound]] = {name: type(f"_Bound_{name}", (_Bound,), {}) for name in TYPES}
DUMPERS = {name: type(f"_Dump_{name}", (_BoundDumper,), {"oid": kind.oid}) for name, kind in TYPES.items()}


@contextmanager
def opened(target: WriteTarget) -> Iterator[psycopg.Connection[Any]]:
    """A fresh session of the writer on the target, closed at the end. Raises Unreachable."""
    dsn = os.environ.get(target.credential_env)
    if not dsn:
        raise Unreachable(f"The writer has no credential for {target.name}: set {target.credential_env}.")
    try:
        connection = psycopg.connect(
            dsn, autocommit=True, connect_timeout=CONNECT_SECONDS, client_encoding="utf8",
            application_name="counterseal writer", prepare_threshold=None,
        )  # fmt: skip
    except psycopg.Error as error:
        raise Unreachable(f"{target.name} could not be reached; ask whoever runs it, then try again.") from error
    for name, bound in BOUND.items():
        connection.adapters.register_dumper(bound, DUMPERS[name])
    try:
        yield connection
    finally:
        connection.close()


def begin(connection: psycopg.Connection[Any]) -> None:
    """Open a repeatable-read transaction under the pinned settings, whatever the role's own settings are."""
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE")
    # One statement, and no table: the transaction's snapshot must not be older than what is asked of it next.
    known = (name for name in PINNED if connection.info.server_version >= KNOWN_FROM.get(name, 0))
    pins = (sql.SQL("SET LOCAL {} = {}").format(sql.Identifier(name), _setting(name, PINNED[name])) for name in known)
    connection.execute(sql.SQL("; ").join(pins))


def _setting(name: str, value: str) -> sql.Composable:
    if name == "search_path":
        return sql.SQL(", ").join(sql.Identifier(part) for part in value.split(", "))
    return sql.Literal(value)


def bound(parameters: Sequence[Parameter]) -> list[_Bound]:
    """The parameters as they are sent: each as its text, under its own type."""
    return [BOUND[one.t](one.v) for one in parameters]
