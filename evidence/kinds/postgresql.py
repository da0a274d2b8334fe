"""PostgreSQL as a kind of source; what it does stands in evidence.reader, evidence.examining, evidence.reader_role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from audit.models import Definition
from evidence import credentials, examining, facts, grammar, layers, reader, reader_role
from evidence.bounds import Limits
from evidence.errors import Problem
from evidence.kinds import saying, sql_tools
from evidence.kinds.fields import ENVIRONMENT, QUERY, SCHEMA, Field, Sort, accepts
from evidence.kinds.fields import credentials as credentials_of
from evidence.kinds.kind import Found
from evidence.reader_role import Tier
from evidence.stating import Proven

if TYPE_CHECKING:
    from evidence.contracts import Contract

KEYS = {"kind", "reader_env", "doctor_env", "environment", "schema"}
# accepts: names of facts that a server does not let be mended, and that later lines close: the source is served without
# them. query: whether agents may write SELECTs of their own over the exposed schema.
OPTIONAL = {"accepts", "query"}


class PostgreSQL:
    """PostgreSQL 13 or newer, a hot standby or not."""

    name = "postgresql"
    title = "PostgreSQL 13 or newer, a hot standby or not"
    fields = (
        ENVIRONMENT, *credentials_of("DSN"), SCHEMA, QUERY,
        Field("replica_lag_seconds", "Seconds that a standby may be behind", "Empty: a hot standby may lack nothing.",
              Sort.NUMBER),
        accepts(facts.ACCEPTABLE),
    )  # fmt: skip
    attacks = layers.ATTACKS
    codes: Mapping[str, str] = {}  # it refuses where others warn; what a limit cut says so by itself
    source_example: Mapping[str, Any] = {
        "kind": "postgresql",
        "reader_env": "MYSHOP_READER_DSN",
        "doctor_env": "MYSHOP_DOCTOR_DSN",
        "environment": "production",
        "schema": "myshop_read",
    }
    tool_example: Mapping[str, Any] = {
        "sql": "select job_id, state from myshop_read.jobs where job_id = $1::bigint",
        "parameters": ["job_id"],
        "shape": "row",
    }

    def check_source(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body describes a PostgreSQL source."""
        saying.check_keys(body, KEYS, OPTIONAL)
        credentials.check_two(body)
        saying.check_environment(body)
        saying.check_schema(body)
        saying.check_query(body)
        saying.check_accepts(body, facts.ACCEPTABLE)

    def check_tool(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body holds one SELECT whose $1, $2, … are its parameters."""
        sql_tools.check(name, body, lambda text: grammar.check(text, 1).placeholders, "goes up to ${}")

    def credentials(self, source: Definition) -> tuple[str, ...]:
        """The reader's and the doctor's variables."""
        return source.body["reader_env"], source.body["doctor_env"]

    def address(self, source: Definition) -> str:
        """The reader's connection string without its secrets. Raises Problem when it is unset."""
        return examining.address(source)

    def prove(self, source: Definition) -> Proven:
        """Both sides of the proof: see evidence.examining."""
        return examining.prove(source)

    def read(self, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits) -> Found:
        """One guarded read: see evidence.reader. Raises Refused, or Problem for a credential that is not set."""
        dsn = credentials.secret(source, "reader_env")
        if contract.is_query:
            found = reader.read(dsn, given["sql"], limits=limits, schema=source.body["schema"])
        else:
            values = [given.get(name) for name in contract.parameters]
            found = reader.read(dsn, contract.sql, values, limits=limits)
        return sql_tools.shaped(contract, found.columns, found.rows, found.truncated)

    def strongest_reader(self, source: Definition) -> list[str]:
        """The whole script, in comments and statements. Raises Problem for what the doctor may not see."""
        try:
            return list(_script(source))
        except psycopg.Error as error:
            # Only what the server said: a driver's message may hold parts of the connection string.
            said = error.diag.message_primary or "the connection failed"
            raise Problem(503, "unseen", f"The doctor of {source.name} does not see the server: {said}.") from error


def _script(source: Definition) -> Iterator[str]:
    role = _role(source)
    with examining.session(source, "doctor_env") as doctor:
        yield f"-- The strongest reader of {source.name}: role {role}, database {doctor.info.dbname}, PostgreSQL"
        yield f"-- {doctor.info.parameter_status('server_version')}. Read it, then run it there."
        for tier in reader_role.tiers(doctor, role, source.body["schema"]):
            yield from _of(tier, doctor)
    yield f"-- The role has no password yet. In psql: \\password {role}"
    yield "-- Limit it to this tool's host in pg_hba.conf, and keep it from the server's other databases there."
    yield "-- No privilege stops a role from changing its own password; sign-in by certificate does."


def _role(source: Definition) -> str:
    """The role that the reader's credential names. Raises Problem when it names none or is unset."""
    found = conninfo_to_dict(credentials.secret(source, "reader_env")).get("user")
    if not found:
        raise Problem(503, "source_unset", f"The credential in {source.body['reader_env']} names no user.")
    return str(found)


def _of(tier: Tier, doctor: psycopg.Connection[Any]) -> Iterator[str]:
    yield f"\n-- {tier.title}\n-- Needs: {tier.needs}"
    if not tier.statements:
        yield "-- Nothing is left to do."
        return
    # Whole or not at all, and in no other database: what half of a tier has closed looks as if all were.
    yield "BEGIN;"
    yield _only_in(doctor.info.dbname, doctor)
    yield from tier.statements
    yield "COMMIT;"


def _only_in(database: str, doctor: psycopg.Connection[Any]) -> str:
    """A statement that fails in every other database, and needs no language for that."""
    text = sql.SQL("SELECT 1 / (pg_catalog.current_database() = {})::int AS {};")
    return text.format(sql.Literal(database), sql.Identifier(f"only in {database}")).as_string(doctor)
