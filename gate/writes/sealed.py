"""Whether an entry is sealed: in the tree, under a checkpoint that the log's key has signed."""

from __future__ import annotations

import time

from django.conf import settings
from django.db import connection

from audit import receipts
from audit.models import Entry
from audit.receipts import Receipt

LONGEST_WAIT = 10.0  # seconds; the sealer signs each second
BETWEEN_LOOKS = 0.2


class Unproven(Exception):
    """Nothing proves that the log holds this entry; the sentence says why."""


class NotYet(Exception):
    """It is not sealed yet. The job stays open and runs again."""


def check(entry: Entry) -> None:
    """Raises Unproven when an entry cannot be shown to be sealed, NotYet when it may be soon."""
    if not settings.LOG_PUBLIC_KEYS:
        raise Unproven("This writer was told of no key of the log; set COUNTERSEAL_LOG_PUBLIC_KEYS.")
    receipt = Receipt(entry.seq, entry.pk, bytes(entry.digest).hex())
    checked = receipts.recheck([receipt])[receipt]
    if checked.fault:
        raise Unproven(checked.fault)
    if not checked.is_sealed:
        raise NotYet(checked.waits or f"{entry.ref} is sealed with the next checkpoint, in about a second.")


def wait(entry: Entry) -> None:
    """Wait until an entry is sealed. Raises NotYet after ten seconds; what is wrong with it, `check` says later."""
    until = time.monotonic() + LONGEST_WAIT
    while True:
        try:
            return check(entry)
        except Unproven:
            return None
        except NotYet:
            # In a transaction it would never come: its own horizon holds the sealer.
            if connection.in_atomic_block or time.monotonic() > until:
                raise
            time.sleep(BETWEEN_LOOKS)
