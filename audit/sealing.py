"""The sealer's working day: a round each second, what stops it said once and shown, outages waited out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import psycopg
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from audit import seal
from audit.models import SealState
from audit.models.times import readable
from audit.notes import SigningKey
from audit.troubles import Troubles, unreachable

log = logging.getLogger(__name__)

SECONDS_BETWEEN_ROUNDS = 1.0
SEALED_WITHIN = timedelta(seconds=10)  # an entry that is older and has no leaf waits for something, or was passed over
SEALING, HELD = "sealing", "held"


class Sealing:
    """One running sealer, until it is told to stop."""

    def __init__(self, keys: list[SigningKey], stop: threading.Event) -> None:
        self.keys = keys
        self.stop = stop
        self.sealer: seal.Sealer | None = None
        self.troubles = Troubles(log, over="Sealing goes on.")

    def run(self) -> None:
        """Go on until told to stop. Whatever keeps it from sealing is said, and tried again."""
        while not self.stop.is_set():
            if self.round() < seal.MOST_IN_A_ROUND:
                self.stop.wait(SECONDS_BETWEEN_ROUNDS)

    def round(self) -> int:
        """Seal what may be sealed now, and say how it went; how many leaves."""
        try:
            sealed = self._started().round()
            self._say(*self._held())
        except seal.CannotSeal as stopped:
            self.sealer = None
            self._say(stopped.state, str(stopped))
        except (DatabaseError, psycopg.Error) as error:
            # The session may be gone, and with it the lock: begin again from what is stored.
            self.sealer = None
            connection.close()
            self.troubles.say(unreachable(error))
        else:
            return sealed
        return 0

    def _started(self) -> seal.Sealer:
        if self.sealer is None:
            sealer = seal.Sealer(self.keys)
            sealer.start()
            self.sealer = sealer
        return self.sealer

    def _held(self) -> tuple[str, str]:
        since = self.sealer.held_since() if self.sealer else None
        if since is None:
            return SEALING, ""
        waiting = (timezone.now() - since).total_seconds()
        return HELD, f"Entries have waited {waiting:.0f} s to be sealed. {who_holds()}"

    def _say(self, state: str, sentence: str) -> None:
        SealState.objects.bulk_create(
            [SealState(id=1, state=state, sentence=sentence, at=timezone.now())],
            update_conflicts=True, unique_fields=["id"], update_fields=["state", "sentence", "at"],
        )  # fmt: skip
        self.troubles.say(sentence)


def who_holds() -> str:
    """A sentence that names the transaction that everything newer waits for."""
    with connection.cursor() as cursor:
        cursor.execute("select pid, role, database, application, since, state from audit_horizon()")
        row = cursor.fetchone()
    if row is None:
        return "A transaction is open that the owner may not see; grant it pg_read_all_stats to have it named here."
    pid, role, database, application, since, state = row
    who = f"session {pid} of {role} ({application or 'no name'})" if pid else f"the {application} of {role}"
    # No time is known of a session whose transaction began or ended while we looked, or that may not be seen.
    when = f" since {since:%H:%M:%S} UTC" if since else ""
    return f"In the database {database}, {who} has had a transaction open{when} ({state or 'state unknown'})."


@dataclass(frozen=True)
class Status:
    """What the seal strip of each page says."""

    state: str
    sentence: str
    size: int  # leaves under the last checkpoint
    sealed_at: datetime | None

    @property
    def is_well(self) -> bool:
        """Whether the sealer is at work and nothing keeps it from sealing."""
        return self.state == SEALING


SILENT_AFTER = 15.0  # seconds without a round, after which the sealer is taken for dead
# Without a checkpoint there is no time, and `readable` would make a year of that.
STATUS = f"""
select said.state, said.sentence, said.at, last.size, case when last.size is not null then {readable("last.at")} end
from (select 1) one
left join audit_sealstate said on true
left join (select size, at from audit_checkpoint order by size desc limit 1) last on true
"""


def status() -> Status:
    """How far the log is sealed and how the sealer does, in one query."""
    with connection.cursor() as cursor:
        cursor.execute(STATUS)
        return status_of(cursor.fetchone())


def status_of(row: Sequence[Any]) -> Status:
    """The status of a row of STATUS."""
    state, sentence, said_at, size, sealed_at = row
    if state is None:
        state, sentence = "never", "The sealer has never run; start manage.py seal."
    elif (silent := (timezone.now() - said_at).total_seconds()) > SILENT_AFTER:
        state, sentence = "silent", f"The sealer was last seen {silent:.0f} s ago."
    return Status(state, sentence, size or 0, sealed_at)
