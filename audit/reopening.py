"""Reopening the log: an operator says why sealing goes on in another cluster, or with a key in place of a lost one."""

from __future__ import annotations

from django.db import connection, transaction

from audit import log, notes
from audit.kinds import Kind
from audit.models import Checkpoint
from audit.seal import EPOCH


class CannotReopen(Exception):
    """The sentence that says why an operator may not allow this, or need not."""


@transaction.atomic
def reopen(*, reason: str, by: str, new_key: notes.PublicKey | None) -> log.Recorded:
    """Let sealing go on in this cluster, or with a new key, and record who said so and why. Runs as the owner.

    Raises CannotReopen.
    """
    number, then, now = _epoch()
    if then == now and new_key is None:
        raise CannotReopen("The log stands in the cluster that it was written in; there is nothing to reopen.")
    _check_name(new_key)
    if then != now:
        number += 1
        with connection.cursor() as cursor:
            cursor.execute("insert into audit_epoch (number, system_identifier) values (%s, %s)", [number, now])
            cursor.execute(f"alter table audit_entry alter column epoch set default {number:d}")
    about = {"reason": reason, "by": by, "epoch": number, "system_identifier": str(now)}
    if new_key is not None:
        about["public_key"] = str(new_key)
    summary = f"Reopened by {by}: {reason}"
    return log.record_with(Kind.LOG_REOPENED, log.Actor.process(), subject="log", summary=summary, args=about)


def _check_name(new_key: notes.PublicKey | None) -> None:
    """A key's name is the origin of the log that it signs, and a log has one origin for all time."""
    newest = Checkpoint.objects.order_by("-size").values_list("note", flat=True).first()
    origin = newest.partition("\n")[0] if newest else None
    if new_key is not None and origin not in (None, new_key.name):
        raise CannotReopen(f"The log is called {origin}, and this key is of {new_key.name}; make one of that name.")


def _epoch() -> tuple[int, int, int]:
    """The newest epoch's number, the cluster that it was begun in, and the cluster that this is."""
    with connection.cursor() as cursor:
        cursor.execute(EPOCH)
        number, then, now = cursor.fetchone()
    return number, then, now
