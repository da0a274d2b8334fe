"""Checkpoints leave the building: to a file, to a webhook, to a witness. Nobody inside can take them back there.

A process of its own does it: it holds no key and reads no entry, and however slow the network is, sealing goes on.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import psycopg
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from audit import notes, seal
from audit.listening import Listening
from audit.models import Checkpoint, Witnessed
from audit.publishing_targets import Contradicted, NotArrived, Target
from audit.troubles import Troubles, unreachable

log = logging.getLogger(__name__)

SECONDS_TO_RETRY = 30.0  # without a new checkpoint; a new one is tried at once
SENT, FAILED, REFUSED = "sent", "failed", "refused"


class Publisher:
    """One publisher at work, until it is told to stop."""

    def __init__(self, targets: list[Target], stop: threading.Event) -> None:
        self.targets, self.stop = targets, stop
        self.listening = Listening(seal.CHANNEL)
        self.tried: dict[str, tuple[int, float]] = {}
        self.troubles = Troubles(log, over="Checkpoints arrive again ({}).")

    def run(self) -> None:
        """Go on until told to stop. What cannot be reached is said once, and tried again."""
        while not self.stop.is_set():
            self.round()
            self.listening.wait()
        self.listening.end()

    def round(self) -> None:
        """Send to each target what it has not got yet."""
        try:
            self.listening.begin()
            last = Checkpoint.objects.order_by("-size").first()
            for target in self.targets if last else []:
                assert last is not None  # there are no targets to go through without one
                self._bring(target, last)
            self.troubles.say("", of="database")
        except (DatabaseError, psycopg.Error) as error:
            self.troubles.say(unreachable(error), of="database")
            self.listening.end()
            connection.close()

    def _bring(self, target: Target, last: Checkpoint) -> None:
        known = Witnessed.objects.filter(target=target.name).first()
        if (known and known.state == SENT and _is_of(known.note, last)) or self._was_tried(target, last):
            return
        self.tried[target.name] = (last.size, time.monotonic())
        try:
            note = target.send(last, known.size if known else 0)
        except Contradicted as refusal:
            self._keep(target, state=REFUSED, sentence=str(refusal))
        except NotArrived as problem:
            self._keep(target, state=FAILED, sentence=str(problem))
        else:
            self._keep(target, state=SENT, sentence="", size=last.size, note=note, at=timezone.now())

    def _was_tried(self, target: Target, last: Checkpoint) -> bool:
        size, when = self.tried.get(target.name, (-1, 0.0))
        return size == last.size and time.monotonic() - when < SECONDS_TO_RETRY

    def _keep(self, target: Target, **said: Any) -> None:
        row = {**said, "tried_at": timezone.now()}
        new = {"size": 0, "note": "", "at": None, **row}
        if not Witnessed.objects.filter(target=target.name).update(**row):
            Witnessed.objects.create(target=target.name, **new)
        self.troubles.say(said["sentence"], of=target.name)


def _is_of(note: str, last: Checkpoint) -> bool:
    """Whether a note is the checkpoint's. Not its size alone: a log that was forked may have grown back to that."""
    return notes.text_of(note) == notes.text_of(last.note)
