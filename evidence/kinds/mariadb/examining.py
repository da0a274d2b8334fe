"""Looking at a MariaDB or MySQL credential from both sides: the doctor reads its grants, the reader tries to write."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pymysql

from audit.models import Definition
from evidence.errors import Problem, Refused
from evidence.kinds.mariadb import address, facts, grammar, grants, session, tries
from evidence.kinds.mariadb.facts import Claim, Contrary
from evidence.kinds.mariadb.session import Bounded
from evidence.stating import Proven, Seen, Weight, listed, unreached

SECONDS = 15.0  # for one answer of the proof
PROGRAM = "counterseal proof"
PUBLIC_SINCE = (10, 11)  # the first MariaDB in which everyone can be granted something
# Engines whose tables lie on another server, or in files that a server finds by their names.
FOREIGN = ("CONNECT", "FEDERATED", "SPHINX", "SPIDER")
# Roles of MariaDB stand among the accounts, with no host.
ACCOUNTS = "SELECT CONCAT(user, '@', host), max_user_connections FROM mysql.user WHERE host <> '' AND user = {}"
VIEWS = "SELECT table_schema, table_name, view_definition, definer, security_type FROM information_schema.views"
LOADED = "SELECT name FROM mysql.func"
TABLES = "SELECT table_schema, table_name, COALESCE(engine, '') FROM information_schema.tables"


def prove(source: Definition) -> Proven:
    """Both sides. A side that cannot be seen is a fact that does not hold."""
    try:
        at, doctors = address.of(source, "reader_env"), address.of(source, "doctor_env")
        with session.opened(at, SECONDS, PROGRAM) as reader, session.opened(doctors, SECONDS, PROGRAM) as doctor:
            return _examine(source, at, reader, doctor)
    except Problem as problem:
        return unreached(problem.sentence)
    except pymysql.MySQLError as error:
        return unreached(f"{session.said(error)}.")
    except OSError:
        return unreached("The connection failed.")


def _examine(source: Definition, at: address.Address, reader: Bounded, doctor: Bounded) -> Proven:
    who = _value(reader, "SELECT CURRENT_USER()")
    refuses_writes = _value(reader, "SELECT @@global.read_only") == "1"
    found = [
        _same_server(reader, doctor),
        _another_doctor(doctor, who),
        _server(reader, refuses_writes),
        _exposed(at, source.body),
        *of_account(doctor, who, source.body),
        facts.seen(facts.SIGN_IN, _sign_in(reader), source.body),
        facts.seen(facts.TRANSPORT, [Contrary(_transport(at, reader))], source.body),
        _tried(reader, source.body["schema"], refuses_writes),
    ]
    place = _value(reader, "SELECT CONCAT(@@hostname, ':', @@port)")
    return Proven(at.shown, who, f"{place}/{source.body['schema']}", found)


def _value(connection: Bounded, statement: str) -> str:
    found = session.rows(connection, statement)
    return (found[0][0] or "") if found else ""


def _same_server(reader: Bounded, doctor: Bounded) -> Seen:
    """A lock that the reader holds is the reader's for the doctor too, where both are on one server."""
    name = f"counterseal-{secrets.token_hex(16)}"
    held = _value(reader, f"SELECT GET_LOCK('{name}', 0)") == "1"
    same = held and _value(doctor, f"SELECT IS_USED_LOCK('{name}')") == _value(reader, "SELECT CONNECTION_ID()")
    session.rows(reader, f"SELECT RELEASE_LOCK('{name}')")
    return Seen(
        "same_server", "Reader and doctor look at the same server.", same,
        "both are" if same else "they are on different servers", "Let both credentials name the same server.",
    )  # fmt: skip


def _another_doctor(doctor: Bounded, who: str) -> Seen:
    name = _value(doctor, "SELECT CURRENT_USER()")
    return Seen(
        "another_doctor", "The doctor is another account than the reader.", name != who, f"the doctor is {name}",
        "Give the doctor an account of its own: manage.py reader_role prints one.",
    )  # fmt: skip


def _server(reader: Bounded, refuses_writes: bool) -> Seen:
    state = "read_only is on: it takes no writes" if refuses_writes else "it takes writes"
    return Seen("server", "Which server it is.", True, f"{_value(reader, 'SELECT VERSION()')}, {state}", "",
                Weight.NOTE)  # fmt: skip


def _exposed(at: address.Address, body: Mapping[str, Any]) -> Seen:
    """A name without a schema is looked up where the session is, so that must be the exposed one."""
    same = at.schema == body["schema"]
    return Seen(
        "schema", "The reader's address names the exposed schema.", same, at.schema,
        f"Let the address end with /{body['schema']}.",
    )  # fmt: skip


def of_account(doctor: Bounded, who: str, body: Mapping[str, Any]) -> Iterator[Seen]:
    """Every fact about the account that the doctor can tell."""
    schema, user = body["schema"], who.rpartition("@")[0]
    try:
        accounts = _accounts(doctor, user)
        held = {account: grants.held(lines(doctor, account)) for account, _ in accounts}
        nobody = [account for account, _ in _accounts(doctor, "")]
    except pymysql.MySQLError as error:
        yield _unseen(facts.UNREAD, error, body)
        return
    strange = [Contrary(f"{one} lets anyone in", f"DROP USER {one};") for one in nobody]
    if grants.account(who) not in held:
        strange.append(Contrary(f"the doctor sees no account {who}"))
    yield facts.seen(facts.ACCOUNT, strange, body)
    judged = [facts.of_grants(found, account, schema) for account, found in held.items()]
    for same in zip(*judged, strict=True):
        yield facts.seen(same[0][0], [contrary for _, found in same for contrary in found], body)
    yield from _around(doctor, accounts, body)


def _accounts(doctor: Bounded, user: str) -> list[tuple[str, bool]]:
    """Every account of this name, and whether its sessions are limited: which one it is depends on the client's host.

    Another process reads from another host than the one that proves, so what holds must hold for all of them.
    """
    for_all = _value(doctor, "SELECT @@global.max_user_connections") != "0"
    found = session.rows(doctor, ACCOUNTS.format(text(user)))
    return [(grants.account(str(name)), for_all or most != "0") for name, most in found]


def _around(doctor: Bounded, accounts: Sequence[tuple[str, bool]], body: Mapping[str, Any]) -> Iterator[Seen]:
    schema = body["schema"]
    without = [Contrary(f"no limit of {one}", f"ALTER USER {one} WITH MAX_USER_CONNECTIONS 20;")
               for one, is_limited in accounts if not is_limited]  # fmt: skip
    yield facts.seen(facts.LIMIT, without, body)
    looks: tuple[tuple[Claim, Callable[[], list[Contrary]]], ...] = (
        (facts.EVERYONE, lambda: everyone(doctor)),
        (facts.VIEWS, lambda: _calling_views(doctor, schema)),
        (facts.TABLES_ELSEWHERE, lambda: _foreign(doctor, schema)),
        (facts.DEFINERS, lambda: definers(doctor, schema)),
    )
    for claim, look in looks:
        try:
            yield facts.seen(claim, look(), body)
        except pymysql.MySQLError as error:
            yield _unseen(claim, error, body)


def _unseen(claim: Claim, error: pymysql.MySQLError, body: Mapping[str, Any]) -> Seen:
    return facts.seen(claim, [Contrary(f"could not be seen: {session.said(error)}")], body)


def lines(doctor: Bounded, whose: str) -> list[str]:
    """The grants of an account or role, as the server writes them. Raises pymysql.MySQLError."""
    return [str(line) for (line,) in session.rows(doctor, f"SHOW GRANTS FOR {whose}")]


def everyone(doctor: Bounded) -> list[Contrary]:
    """What accounts have without being named: by PUBLIC, by nobody's rows in mysql.db, by roles that are mandatory."""
    found = [Contrary(f"everyone may use {place}", "DELETE FROM mysql.db WHERE User = ''; FLUSH PRIVILEGES;")
             for (place,) in session.rows(doctor, "SELECT db FROM mysql.db WHERE user = ''")]  # fmt: skip
    version = _value(doctor, "SELECT VERSION()")
    if "mariadb" not in version.lower():
        roles = _value(doctor, "SELECT @@global.mandatory_roles")
        mend = "SET PERSIST mandatory_roles = '';"
        return [*found, *([Contrary(f"everyone has the roles {roles}", mend)] if roles else [])]
    if _numbers(version) < PUBLIC_SINCE:
        return found
    held = grants.held(lines(doctor, "PUBLIC"))
    given = [facts.taken(grant, "PUBLIC", set()) for grant in held.grants if grant.names != {grants.NOTHING}]
    return [*found, *given, *(Contrary(f"everyone has {text}") for text in (*held.roles, *held.proxies, *held.unread))]


def _numbers(version: str) -> tuple[int, int]:
    parts = version.split(".")
    return int(parts[0]), int(parts[1])


def text(value: str) -> str:
    """A text as a literal that needs no quoting, compared sign by sign."""
    return f"_utf8mb4 X'{value.encode().hex()}' COLLATE utf8mb4_bin"


@dataclass(frozen=True)
class _Made:
    """What the doctor sees of the server's views, tables and loaded functions."""

    views: Mapping[tuple[str, str], str | None]
    tables: set[tuple[str, str]]
    loaded: frozenset[str]


def _calling_views(doctor: Bounded, schema: str) -> list[Contrary]:
    """Exposed views that call what may write, in themselves or in a view that they read."""
    made = _Made(
        {(str(row[0]), str(row[1])): row[2] for row in session.rows(doctor, VIEWS)},
        {(str(where), str(name)) for where, name, _ in session.rows(doctor, TABLES)},
        frozenset(str(name).lower() for (name,) in session.rows(doctor, LOADED)),
    )
    mine = sorted(place for place in made.views if place[0] == schema)
    return [Contrary(f"{'.'.join(place)}: {why}") for place in mine if (why := _why_not(place, made, set()))]


def _why_not(place: tuple[str, str], made: _Made, met: set[tuple[str, str]]) -> str:
    """Why the view is not known to call nothing; empty when it is."""
    if place in met:
        return ""
    met.add(place)
    definition = made.views[place]
    if not definition:
        return "the doctor does not see what it is made of"
    try:
        called, read = sorted(grammar.calls(definition, made.loaded)), grammar.tables_of(definition)
    except Refused:
        return "what it is made of is not understood"
    if called:
        return f"it calls {listed(called)}"
    hidden = sorted(read - made.tables)
    if hidden:
        return f"the doctor does not see {'.'.join(hidden[0])}"
    below = (_why_not(one, made, met) for one in sorted(read & set(made.views)))
    return next((why for why in below if why), "")


def _foreign(doctor: Bounded, schema: str) -> list[Contrary]:
    found = session.rows(doctor, TABLES)
    return [Contrary(f"{name} is of the engine {engine}") for where, name, engine in found
            if where == schema and str(engine).upper() in FOREIGN]  # fmt: skip


def definers(doctor: Bounded, schema: str) -> list[Contrary]:
    """The exposed views that read with the rights of whoever defined them. Raises pymysql.MySQLError."""
    found = [row for row in session.rows(doctor, VIEWS) if row[0] == schema and row[4] == "DEFINER"]
    return [Contrary(f"{name} as {definer}") for _, name, _, definer, _ in found]


def _sign_in(reader: Bounded) -> Sequence[Contrary]:
    found = _value(reader, "SELECT @@global.init_connect")
    return [Contrary(found)] if found else []


def _transport(at: address.Address, reader: Bounded) -> str:
    if at.option("unix_socket"):
        return "a socket of this machine"
    cipher = session.rows(reader, "SHOW SESSION STATUS LIKE 'Ssl_cipher'")
    if not (cipher and cipher[0][1]):
        return "TCP without encryption"
    verified = "the server's certificate is verified" if at.option("ssl_ca") else "whose certificate nobody verifies"
    return f"TLS, {verified}"


def _tried(reader: Bounded, schema: str, refuses_writes: bool) -> Seen:
    tried, came_through = tries.attempt(reader, schema, refuses_writes)
    by = "denied, or refused by a server that takes no writes" if refuses_writes else "denied"
    return Seen(
        "tries", "Every write that the reader itself tries is denied.", not came_through,
        listed(came_through) if came_through else f"{tried} statements {by}",
        "" if not came_through else "Take from the reader's account what let these through.",
    )  # fmt: skip
