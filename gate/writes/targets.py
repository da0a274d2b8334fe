"""Where writes go: a definition that two people put in force. Its credential is known to the writer alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from audit import twohands
from audit.models import Definition
from gate.writes.errors import Unfit
from gate.writes.statement import LEDGER_TABLE, PLAIN_NAME

NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,79}")
MOST_ROWS = 1_000
LONGEST_EXPIRY = 7 * 24 * 3600

KEYS = frozenset({
    "kind", "credential_env", "environment", "row_cap", "expiry_seconds", "approvals", "allow_password", "ledger",
})  # fmt: skip


@dataclass(frozen=True)
class WriteTarget:
    """A database that approved writes go to."""

    name: str
    version: int
    digest: str
    credential_env: str  # the name of the writer's environment variable, never the credential
    environment: str
    row_cap: int
    expiry_seconds: int
    allow_password: bool
    ledger_schema: str

    @property
    def ledger(self) -> str:
        """The table whose row proves that an approval ran: it commits with the change, or neither does."""
        return f"{self.ledger_schema}.{LEDGER_TABLE}"


def of(definition: Definition) -> WriteTarget:
    """The target of one version of a definition."""
    body = definition.body
    return WriteTarget(
        definition.name, definition.version, definition.digest, body["credential_env"], body["environment"],
        body["row_cap"], body["expiry_seconds"], body["allow_password"], body["ledger"].split(".")[0],
    )  # fmt: skip


def active(name: str) -> Definition:
    """The version in force. Raises Unfit when there is none."""
    definition = twohands.active("target", name) if NAME.fullmatch(name) else None
    if definition is None:
        raise Unfit("There is no target of this name in force.")
    return definition


def check_body(name: str, body: dict[str, Any]) -> None:
    """Raises ValueError with a sentence when a target's body cannot be used."""
    if set(body) != KEYS:
        raise ValueError(f"A target has exactly these keys: {', '.join(sorted(KEYS))}.")
    if body["kind"] != "postgresql":
        raise ValueError("The only kind of target is postgresql.")
    _check_text(body["credential_env"], VARIABLE, "credential_env names an environment variable, like SHOP_WRITER_DSN.")
    _check_text(body["environment"], PLAIN_NAME, "environment is one word in lower case, like production.")
    schema, _, table = str(body["ledger"]).partition(".")
    if table != LEDGER_TABLE or not PLAIN_NAME.fullmatch(schema):
        raise ValueError(f"ledger is a table named {LEDGER_TABLE} with its schema, like shop.{LEDGER_TABLE}.")
    _check_number(body["row_cap"], "row_cap", MOST_ROWS)
    _check_number(body["expiry_seconds"], "expiry_seconds", LONGEST_EXPIRY)
    if body["approvals"] != 1 or isinstance(body["approvals"], bool):
        raise ValueError("approvals is 1: one person approves, and it is never the proposer.")
    # Nobody could approve a write of a target that refuses the only method there is.
    if body["allow_password"] is not True:
        raise ValueError("allow_password is true: a fresh password is how a person approves.")


def _check_text(value: Any, pattern: re.Pattern[str], sentence: str) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(sentence)


def _check_number(value: Any, key: str, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ValueError(f"{key} is a whole number from 1 to {most:,}.")


EXAMPLE = {
    "kind": "postgresql",
    "credential_env": "MYSHOP_WRITER_DSN",
    "environment": "production",
    "ledger": f"myshop.{LEDGER_TABLE}",
    "row_cap": 100,
    "expiry_seconds": 14400,
    "approvals": 1,
    "allow_password": True,
}
KIND = twohands.DefinitionKind(
    name="target",
    plural="targets",
    title="Targets",
    permission="gate.change_definition",
    check=check_body,
    example=EXAMPLE,
)
