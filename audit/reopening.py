"""Reopening the log: an operator says why sealing goes on in another cluster, or with a key in place of a lost one."""

from __future__ import annotations

from django.db import connection, transaction

from audit import log, notes
from audit.kinds import Kind
from audit.seal import EPOCH


class NothingToReopen(Exception):
    """The sentence that says why there is nothing that an operator would have to allow."""


@transaction.atomic
def reopen(*, reason: str, by: str, new_key: notes.PublicKey | None) -> log.Recorded:
    """Let sealing go on in this cluster, or with a new key, and record who said so and why. Runs as the owner.

    Raises NothingToReopen.
    """
    number, then, now = _epoch()
    if then == now and new_key is None:
        raise NothingToReopen("The log stands in the cluster that it was written in; there is nothing to reopen.")
    if then != now:
        number += 1
        with connection.cursor() as cursor:
            cursor.execute("insert into audit_epoch (number, system_identifier) values (%s, %s)", [number, now])
    about = {"reason": reason, "by": by, "epoch": number, "system_identifier": str(now)}
    if new_key is not None:
        about["public_key"] = str(new_key)
    summary = f"Reopened by {by}: {reason}"
    return log.record_with(Kind.LOG_REOPENED, log.Actor.process(), subject="log", summary=summary, args=about)


def _epoch() -> tuple[int, int, int]:
    """The newest epoch's number, the cluster that it was begun in, and the cluster that this is."""
    with connection.cursor() as cursor:
        cursor.execute(EPOCH)
        number, then, now = cursor.fetchone()
    return number, then, now
