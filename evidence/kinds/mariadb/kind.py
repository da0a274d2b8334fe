"""MariaDB and MySQL as a kind of source: what a body says, and where the rest stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from audit.models import Definition
from evidence import credentials
from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds import saying, sql_tools
from evidence.kinds.fields import ENVIRONMENT, QUERY, SCHEMA, Field, Sort, accepts
from evidence.kinds.fields import credentials as credentials_of
from evidence.kinds.kind import Found
from evidence.kinds.mariadb import address, completeness, examining, facts, grammar, layers, reader, role
from evidence.kinds.mariadb.reader import Given, Rows
from evidence.stating import Proven

if TYPE_CHECKING:
    from evidence.contracts import Contract

KEYS = {"kind", "reader_env", "doctor_env", "environment", "schema"}
# accepts, query: as for PostgreSQL. datetimes: "utc" where every DATETIME of the schema is in UTC.
OPTIONAL = {"accepts", "query", "datetimes"}


class MariaDB:
    """MariaDB 10.6 or newer, MySQL 8.0 or newer."""

    name = "mariadb"
    title = "MariaDB 10.6 or newer, MySQL 8.0 or newer"
    fields = (
        ENVIRONMENT, *credentials_of("DSN"), SCHEMA, QUERY,
        Field("datetimes", "DATETIME without an offset", sort=Sort.CHOICE,
              choices=(("", "is of no zone that is known"), ("utc", "is in UTC, all of them"))),
        accepts(facts.ACCEPTABLE),
    )  # fmt: skip
    attacks = layers.ATTACKS
    codes: Mapping[str, str] = completeness.CODES
    source_example: Mapping[str, Any] = {
        "kind": "mariadb",
        "reader_env": "MYSHOP_READER_DSN",
        "doctor_env": "MYSHOP_DOCTOR_DSN",
        "environment": "production",
        "schema": "myshop_read",
    }
    tool_example: Mapping[str, Any] = {
        "sql": "select job_id, state from jobs where job_id = ?",
        "parameters": ["job_id"],
        "shape": "row",
    }

    def check_source(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body describes a MariaDB or MySQL source."""
        saying.check_keys(body, KEYS, OPTIONAL)
        credentials.check_two(body)
        saying.check_environment(body)
        saying.check_schema(body)
        saying.check_query(body)
        saying.check_accepts(body, facts.ACCEPTABLE)
        if body.get("datetimes", "utc") != "utc":
            raise ValueError('datetimes is "utc" where every DATETIME is in UTC, or left out.')

    def check_tool(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body holds one SELECT whose `?` are its parameters, in order."""
        sql_tools.check(name, body, _placeholders, "has {} times ?")

    def credentials(self, source: Definition) -> tuple[str, ...]:
        """The reader's and the doctor's variables."""
        return source.body["reader_env"], source.body["doctor_env"]

    def address(self, source: Definition) -> str:
        """The reader's address without its password. Raises Problem when it is unset or is none."""
        return address.of(source, "reader_env").shown

    def prove(self, source: Definition) -> Proven:
        """Both sides of the proof: see examining."""
        return examining.prove(source)

    def read(self, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits) -> Found:
        """One guarded read: see reader. Raises Refused, or Problem for a credential that is not set."""
        at, is_utc = address.of(source, "reader_env"), source.body.get("datetimes") == "utc"
        if at.schema != source.body["schema"]:
            raise Refused("wrong_schema", "The reader's address names another schema than the source exposes.")
        if contract.is_query:
            return _shaped(contract, reader.read(at, given["sql"], limits=limits, is_utc=is_utc))
        values = [Given(given.get(name), _format(contract, name)) for name in contract.parameters]
        return _shaped(contract, reader.read(at, contract.sql, values, limits=limits, is_utc=is_utc))

    def strongest_reader(self, source: Definition) -> list[str]:
        """The whole script, in comments and statements. Raises Problem for what the doctor may not see."""
        return role.script(source)


def _placeholders(text: str) -> int:
    """How many `?` the statement has. Raises Refused for what is no read; its tables are looked at when it is run."""
    return grammar.check(text, None).placeholders


def _format(contract: Contract, name: str) -> str:
    """The format that the input schema gives a property, itself or in one of its choices."""
    stated = contract.input_schema["properties"][name]
    if not isinstance(stated, dict):
        return ""
    choices = [stated, *stated.get("anyOf", ()), *stated.get("oneOf", ())]
    return next((choice["format"] for choice in choices if isinstance(choice, dict) and "format" in choice), "")


def _shaped(contract: Contract, found: Rows) -> Found:
    rows = [reader.document(row) for row in found.rows] if contract.shape == "object" else found.rows
    shaped = sql_tools.shaped(contract, found.columns, rows, found.truncated)
    return replace(shaped, incomplete=found.incomplete)
