"""What a target's refusal means, in one sentence."""

from __future__ import annotations

import psycopg
from psycopg import errors


def of(error: psycopg.Error) -> str:
    """Why the target did not do it. It quotes the first line of PostgreSQL's message and no more: details hold data."""
    if isinstance(error, errors.LockNotAvailable):
        return "Another session holds a lock on these rows; it was waited for two seconds."
    if isinstance(error, errors.QueryCanceled):
        return "It ran for longer than ten seconds and was stopped."
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
