"""Looking at a source's credential from both sides: the doctor reads the catalogs, and the reader tries to write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from audit.models import Definition
from evidence import credentials, facts, tries
from evidence.errors import Problem
from evidence.stating import LEFT_TO_LATER_LINES, Fact, Proven, Seen, Weight, listed, unreached

MOST_MENDED = 300  # objects that the statements of one fact name
SECONDS = 10  # for one query of the proof
SECRET_PARAMETERS = ("password", "passfile", "sslpassword", "oauth_client_secret")
Connection = psycopg.Connection[Any]


def prove(source: Definition) -> Proven:
    """Both sides. A side that cannot be seen is a fact that does not hold."""
    try:
        with session(source, "reader_env") as reader, session(source, "doctor_env") as doctor:
            return _examine(source, reader, doctor)
    except (psycopg.Error, Problem) as error:
        return unreached(error.sentence if isinstance(error, Problem) else _first_line(error))


def address(source: Definition) -> str:
    """The reader's credential without its secrets: which server, database and role it names. Raises Problem."""
    return _without_secrets(credentials.secret(source, "reader_env"))


@lru_cache(maxsize=64)
def _without_secrets(dsn: str) -> str:
    parameters = conninfo_to_dict(dsn)
    shown = {key: str(value) for key, value in parameters.items() if key not in SECRET_PARAMETERS}
    return make_conninfo("", **dict(sorted(shown.items())))


@contextmanager
def session(source: Definition, key: str) -> Iterator[Connection]:
    """A short session of the reader or the doctor. Raises Problem or psycopg.Error."""
    dsn = credentials.secret(source, key)
    with psycopg.connect(dsn, autocommit=True, connect_timeout=5, application_name="counterseal proof") as connection:
        connection.prepare_threshold = None
        connection.execute(f"set statement_timeout = '{SECONDS}s'")
        connection.execute("set lock_timeout = '2s'")
        # Names that are told are then whole, and an operator means PostgreSQL's own.
        connection.execute("set search_path = pg_catalog")
        yield connection


def _examine(source: Definition, reader: Connection, doctor: Connection) -> Proven:
    role = str(_value(reader, "select session_user"))
    is_standby = bool(_value(reader, "select pg_is_in_recovery()"))
    around = [_same_server(reader, doctor), _another_doctor(doctor, role), _standby(reader, is_standby)]
    is_superuser = reader.info.parameter_status("is_superuser") == "on"
    found = from_catalogs(doctor, role, source.body, is_standby, is_superuser)
    tried = _not_tried() if is_superuser else _from_tries(reader, is_standby, _left_out(found))
    return Proven(address(source), role, _server(doctor), [*around, *found, tried])


def _value(connection: Connection, query: str) -> Any:
    row = connection.execute(query).fetchone()
    return row[0] if row else None


def _first_line(error: psycopg.Error) -> str:
    # Only what the server said: a driver's message may hold parts of the connection string.
    return (error.diag.message_primary or "The connection failed.").splitlines()[0]


def _same_server(reader: Connection, doctor: Connection) -> Seen:
    query = "select pg_postmaster_start_time()::text || ' ' || oid from pg_database where datname = current_database()"
    same = _value(reader, query) == _value(doctor, query)
    return Seen(
        "same_server", "Reader and doctor look at the same database.", same,
        "both are" if same else "they are in different databases",
        "Let both credentials name the same server and database.",
    )  # fmt: skip


def _another_doctor(doctor: Connection, role: str) -> Seen:
    name = str(_value(doctor, "select session_user"))
    return Seen(
        "another_doctor", "The doctor is another role than the reader.", name != role, f"the doctor is {name}",
        "Give the doctor a credential of its own: manage.py reader_role prints one.",
    )  # fmt: skip


def _standby(reader: Connection, is_standby: bool) -> Seen:
    """A hot standby is recognized and said. It refuses every write for every role; what spies or waits it does not."""
    version = reader.info.parameter_status("server_version") or str(reader.info.server_version)
    seen = f"PostgreSQL {version}, {'a hot standby' if is_standby else 'no standby: it takes writes'}"
    return Seen("standby", "Which server it is.", True, seen, "", Weight.NOTE)


def _server(doctor: Connection) -> str:
    database = _value(doctor, "select oid from pg_database where datname = current_database()")
    try:
        system = _value(doctor, "select system_identifier from pg_control_system()")
    except errors.InsufficientPrivilege:
        system = "unknown"
    return f"{system}/{database}"


def from_catalogs(
    doctor: Connection, role: str, body: dict[str, Any], is_standby: bool = False, is_superuser: bool = False
) -> list[Seen]:
    """Every fact that the server's version knows. Of a superuser only the few that say something."""
    asked = facts.of_server(doctor.info.server_version)
    if is_superuser:
        asked = [fact for fact in asked if fact.name in facts.OF_SUPERUSERS]
    return [_look(doctor, fact, role, body, is_standby) for fact in asked]


def _contrary(doctor: Connection, fact: Fact, role: str, schema: str) -> list[Any]:
    try:
        return psycopg.RawCursor(doctor).execute(fact.contrary, fact.given(role, schema)).fetchall()
    except psycopg.Error as error:
        return [(f"could not be seen: {_first_line(error)}", None, None, None)]


def _look(doctor: Connection, fact: Fact, role: str, body: dict[str, Any], is_standby: bool) -> Seen:
    rows = _contrary(doctor, fact, role, body["schema"])
    holds = not rows or fact.weight is Weight.NOTE
    mend = "" if holds else _mend(rows) or fact.mend
    excused = "" if holds else _excuse(fact, body, is_standby)
    return Seen(fact.name, fact.sentence, holds, listed([row[0] for row in rows]), mend, fact.weight, excused)


def _excuse(fact: Fact, body: dict[str, Any], is_standby: bool) -> str:
    if is_standby and fact.on_standby:
        return "The standby refuses it"
    return LEFT_TO_LATER_LINES if fact.name in body.get("accepts", ()) else ""


def _mend(rows: Sequence[Any]) -> str:
    """The statements that mend it, each naming all objects that it can name; empty when a row brings none."""
    objects: dict[tuple[str, str], list[str]] = {}
    for _, before, named, behind in rows[:MOST_MENDED]:
        if before is None:
            continue
        listed = objects.setdefault((before, behind), [])
        if named not in listed:
            listed.append(named)
    return " ".join(f"{before} {', '.join(listed)} {behind};" for (before, behind), listed in objects.items())


def _left_out(found: list[Seen]) -> set[str]:
    """Facts whose contrary is known and excused: the reader need not try it."""
    return {seen.fact for seen in found if seen.excused}


def _from_tries(reader: Connection, is_standby: bool, left_out: set[str]) -> Seen:
    tried, came_through = tries.attempt(reader, is_standby, left_out)
    refused = f"{tried} statements {'refused by the standby or denied' if is_standby else 'denied'}"
    return Seen(
        "tries", TRIED, not came_through, listed(came_through) if came_through else refused,
        "Take from the reader's role what let these through.",
    )  # fmt: skip


TRIED = "Every write that the reader itself tries is denied."


def _not_tried() -> Seen:
    return Seen("tries", TRIED, False, "not tried: a superuser's would come through", "See the fact superuser.")
