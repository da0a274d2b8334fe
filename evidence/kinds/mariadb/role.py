"""The strongest reader for one MariaDB or MySQL server: the statements that make it."""

from __future__ import annotations

from collections.abc import Iterator

import pymysql

from audit.models import Definition
from evidence.errors import Problem
from evidence.kinds.mariadb import address, examining, facts, grants, session
from evidence.kinds.mariadb.session import Bounded

MISSING = frozenset((1141, 1133, 3523))  # SHOW GRANTS FOR an account that is not there
HOSTS = "SELECT DISTINCT host FROM mysql.user WHERE user = {}"


def script(source: Definition) -> list[str]:
    """The whole script, in comments and statements. Raises Problem for what the doctor may not see."""
    at, doctors = address.of(source, "reader_env"), address.of(source, "doctor_env")
    try:
        with session.opened(doctors, examining.SECONDS, examining.PROGRAM) as doctor:
            return list(_lines(source, at, doctor))
    except pymysql.MySQLError as error:
        sentence = f"The doctor of {source.name} does not see the server: {session.said(error)}."
        raise Problem(503, "unseen", sentence) from error


def _lines(source: Definition, at: address.Address, doctor: Bounded) -> Iterator[str]:
    schema, version = source.body["schema"], session.rows(doctor, "SELECT VERSION()")[0][0]
    yield f"-- The strongest reader of {source.name}: account {at.user}, schema {schema}, server {version}."
    yield "-- Read it, then run it there as an account that may create others."
    yield "\n-- Tier 1: the account itself\n-- Needs: CREATE USER and GRANT OPTION. Nobody else is affected."
    for host in _hosts(doctor, at.user):
        account = grants.account(f"{at.user}@{host}")
        yield from _account(doctor, account, schema)
    yield "\n-- Tier 2: what every account has\n-- Needs: whoever may change the schema mysql. Grant it back by name."
    yield from _statements(examining.everyone(doctor)) or ["-- Nothing is left to do."]
    yield "\n-- The views: let them read as an account that nobody signs in with, and that holds nothing but SELECT."
    for one in examining.definers(doctor, schema):
        yield f"-- {one.seen}"
    yield "\n-- The doctor: it reads what proves the reader."
    yield from _doctor(doctor, schema)
    yield "-- The reader has no password yet: ALTER USER … IDENTIFIED BY …, or better REQUIRE X509."
    yield "-- No privilege stops an account from changing its own password; sign-in by certificate or socket does."


def _hosts(doctor: Bounded, user: str) -> list[str]:
    found = [str(host) for (host,) in session.rows(doctor, HOSTS.format(examining.text(user)))]
    return found or ["%"]


def _account(doctor: Bounded, account: str, schema: str) -> Iterator[str]:
    try:
        held = grants.held(examining.lines(doctor, account))
    except pymysql.MySQLError as error:
        if session.code_of(error) not in MISSING:
            raise
        held = grants.held([])
        yield f"CREATE USER {account} ACCOUNT LOCK; -- unlock it when it has a password"
    for _, found in facts.of_grants(held, account, schema):
        yield from _statements(found)
    yield f"ALTER USER {account} WITH MAX_USER_CONNECTIONS 20;"
    yield f"GRANT SELECT ON {grants.quoted(grants.pattern(schema))}.* TO {account};"


def _statements(found: list[facts.Contrary]) -> list[str]:
    return list(dict.fromkeys(one.mend or f"-- By hand: {one.seen}" for one in found))


def _doctor(doctor: Bounded, schema: str) -> Iterator[str]:
    account = grants.account(str(session.rows(doctor, "SELECT CURRENT_USER()")[0][0]))
    yield f"GRANT SELECT ON `mysql`.* TO {account};"
    yield f"GRANT SELECT, SHOW VIEW ON {grants.quoted(grants.pattern(schema))}.* TO {account};"
    yield "-- And SELECT, SHOW VIEW where the tables and views are that the exposed views read."
