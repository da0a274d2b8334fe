"""What a target's refusal means, in one sentence."""

from __future__ import annotations

import psycopg
from psycopg import errors

# What ends a statement though nothing is wrong with it, and what to do then. In none of them is anything written.
ENDED: dict[type[psycopg.Error], str] = {
    errors.LockNotAvailable: "Another session holds a lock on these rows; it was waited for two seconds. Propose it"
    " again when that session is done.",
    errors.DeadlockDetected: "It and another session waited for each other, and the target ended this one. Propose it"
    " again.",
    errors.SerializationFailure: "The rows changed while the write ran, so PostgreSQL rolled it back. Propose it again,"
    " and look at the new preview.",
    errors.QueryCanceled: "It ran for longer than ten seconds and was stopped. Propose a change of fewer rows, or one"
    " that finds its rows by an index.",
    errors.IdleInTransactionSessionTimeout: "The writer stood still in the middle of it, and the target ended its"
    " session. Propose it again.",
    errors.TransactionTimeout: "It took longer than thirty seconds in all, and the target ended its session. Propose a"
    " change of fewer rows.",
    errors.AdminShutdown: "The target ended the writer's session. Propose it again when the target is back.",
}


def of(error: psycopg.Error) -> str:
    """Why the target did not do it. It quotes the first line of PostgreSQL's message and no more: details hold data."""
    if type(error) in ENDED:
        return ENDED[type(error)]
    if isinstance(error, errors.InsufficientPrivilege):
        return f"The writer's role may not do this: {_message(error)}."
    if error.sqlstate is None and isinstance(error, psycopg.DataError):
        return "A row holds bytes that are not text, so it cannot be shown."
    if error.sqlstate is None:
        return "The connection to the target was lost."
    return f"The target refused it: {_message(error)}."


def _message(error: psycopg.Error) -> str:
    lines = (error.diag.message_primary or "no reason given").splitlines()
    return lines[0].rstrip(".")
