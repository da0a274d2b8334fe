"""How a target proves that a write ran once: by its ledger, or by the number of the transaction."""

from __future__ import annotations

from typing import Any

import psycopg

from gate.writes import ledger, xid
from gate.writes.targets import WriteTarget

LEDGER, XID, READ_BACK = "ledger", "xid", "read-back"


class Unusable(Exception):
    """The target could not prove that a write ran once; the sentence says what is missing."""


def of(target: WriteTarget) -> str:
    """Which proof a target gives, in the word that page, log and receipt use."""
    if target.action is not None:
        return READ_BACK
    return XID if target.ledger is None else LEDGER


def check(connection: psycopg.Connection[Any], target: WriteTarget) -> None:
    """Raises Unusable, so that it is known before people approve; or psycopg.Error."""
    try:
        if target.ledger is None:
            xid.check(connection, target.name)
        else:
            ledger.check(connection, target)
    except (ledger.Unusable, xid.Unusable) as reason:
        raise Unusable(str(reason)) from reason
