"""Where writes go: a definition that two people put in force. Its credential is known to the writer alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from audit import twohands
from audit.models import Definition
from gate.writes import http_target, policy, target_admission
from gate.writes.errors import Unfit
from gate.writes.http_target import HttpAction
from gate.writes.policy import Policy
from gate.writes.statement import LEDGER_TABLE, PLAIN_NAME

NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,79}")
COMMON = frozenset({"kind", "credential_env", "environment", "policy"})
KEYS = {"postgresql": COMMON | {"ledger"}, "http": COMMON | {"action"}}  # by kind
MAY_HAVE = {
    "postgresql": frozenset({"first_look_source", target_admission.KEY}), "http": frozenset({target_admission.KEY}),
}  # fmt: skip


@dataclass(frozen=True)
class WriteTarget:
    """A database that approved writes go to, or an HTTP action that they are."""

    name: str
    version: int
    digest: str
    credential_env: str  # the name of the writer's environment variable, never the credential
    environment: str
    policy: Policy
    # The table whose row proves that an approval ran: it commits with the change, or neither does. None where there is
    # none, and on a target that is no database.
    ledger: str | None
    first_look_source: str | None = None  # whose read-only credential shows its rows before the writer's does
    action: HttpAction | None = None  # of a target of the kind http


def of(definition: Definition) -> WriteTarget:
    """The target of one version of a definition."""
    body = definition.body
    return WriteTarget(
        definition.name, definition.version, definition.digest, body["credential_env"], body["environment"],
        policy.of(body["policy"]), body.get("ledger"), body.get("first_look_source"),
        http_target.of(body["action"]) if "action" in body else None,
    )  # fmt: skip


def active(name: str) -> Definition:
    """The version in force. Raises Unfit when there is none."""
    definition = twohands.active("target", name) if NAME.fullmatch(name) else None
    if definition is None:
        raise Unfit("There is no target of this name in force.")
    return definition


def check_body(name: str, body: dict[str, Any]) -> None:
    """Raises ValueError with a sentence when a target's body cannot be used."""
    kind = body.get("kind")
    if not isinstance(kind, str) or kind not in KEYS:
        raise ValueError("A target's kind is postgresql or http; each has exactly these keys and some of its own: "
                         f"{', '.join(sorted(COMMON))}.")  # fmt: skip
    if set(body) - MAY_HAVE[kind] != KEYS[kind]:
        raise ValueError(f"A target of the kind {kind} has exactly these keys: {', '.join(sorted(KEYS[kind]))}.")
    _check_text(body["credential_env"], VARIABLE, "credential_env names an environment variable, like SHOP_WRITER_DSN.")
    _check_text(body["environment"], PLAIN_NAME, "environment is one word in lower case, like production.")
    if kind == "http":
        http_target.check(body["action"])
    else:
        _check_ledger(body["ledger"])
    if "first_look_source" in body:
        _check_text(body["first_look_source"], NAME, "first_look_source is the name of a source, like shop.")
    if target_admission.KEY in body:
        target_admission.check(kind, body[target_admission.KEY])
    policy.check(body["policy"])


def _check_ledger(ledger: Any) -> None:
    if ledger is None:
        return  # the transaction's number proves it then
    schema, _, table = str(ledger).partition(".")
    if table != LEDGER_TABLE or not PLAIN_NAME.fullmatch(schema):
        raise ValueError(f"ledger is a table named {LEDGER_TABLE} with its schema, like shop.{LEDGER_TABLE}, or null.")


def _check_text(value: Any, pattern: re.Pattern[str], sentence: str) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(sentence)


EXAMPLE = {
    "kind": "postgresql",
    "credential_env": "MYSHOP_WRITER_DSN",
    "environment": "production",
    "ledger": f"myshop.{LEDGER_TABLE}",
    "policy": {
        "approvers": {"on_call": 1},
        "method": "password",
        "expiry_seconds": 14400,
        "row_cap": 100,
        "binding": "strict",
        "proposers": ["agent", "on_call", "admin"],
        "risk": "normal",
        "break_glass": False,
    },
}
KIND = twohands.DefinitionKind(
    name="target",
    plural="targets",
    title="Targets",
    permission="gate.change_definition",
    check=check_body,
    example=EXAMPLE,
)
