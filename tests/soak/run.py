"""One soak: writers, a sealer, blows at random, and what has to hold when all is quiet."""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import connection

from audit import notes, streams, verifying
from audit.models import Checkpoint
from audit.sealing import Sealing
from audit.verify import note, receipts
from audit.verify.run import Outside
from gate.config import fingerprint
from tests.soak.server import Server
from tests.soak.writer import write

FORKED = multiprocessing.get_context("fork")
KEY = notes.SigningKey("soak.example/log", bytes(range(32)))
ONE_OF_EACH = ("a writer", "the sealer", "the server", "all writers")
BLOWS = ("a writer", "a writer", "all writers", "the sealer", "the server")
SETTLES_IN = 60.0  # seconds
UNSEALED = "select count(*) from audit_entry e where not exists (select from audit_leaf l where l.entry_id = e.id)"


class Soak:
    """Eight writers or as many as wanted, and one sealer; each is started again when it was killed."""

    def __init__(self, server: Server, base: Path, writers: int, seed: int) -> None:
        self.server, self.base, self.seed = server, base, seed
        self.dice = random.Random(seed)  # noqa: S311
        self.blows: Counter[str] = Counter()
        self.pins: list[str] = []
        self.started = 0
        connection.close()
        streams.close()
        self.writers = [self._start_writer(number) for number in range(writers)]
        self.sealer = self._start(_seal, server)

    def run(self, seconds: float) -> int:
        """Go on for so long, then see whether everything holds; the exit code."""
        end = time.monotonic() + seconds
        for blow in ONE_OF_EACH:
            time.sleep(1.0)
            self._strike(blow)
        while time.monotonic() < end:
            time.sleep(min(self.dice.uniform(0.3, 3.0), max(0.0, end - time.monotonic())))
            self._strike(self.dice.choice(BLOWS))
        time.sleep(1.0)
        for writer in self.writers:
            self._kill(writer)
        self._settle()
        self._kill(self.sealer)
        return self._judge()

    def _start(self, work: Callable[..., None], *words: Any) -> Any:
        process = FORKED.Process(target=work, args=words, daemon=True)
        process.start()
        return process

    def _start_writer(self, number: int) -> Any:
        self.started += 1
        return self._start(write, self.server, self.base / f"notes-{number}", self.seed * 1000 + self.started)

    def _kill(self, process: Any) -> None:
        process.kill()
        process.join()

    def _strike(self, blow: str) -> None:
        self.blows[blow] += 1
        self._pin()
        if blow == "the server":
            self.server.stop()
            self.server.start()
        elif blow == "the sealer":
            self._kill(self.sealer)
            self.sealer = self._start(_seal, self.server)
        else:
            struck = range(len(self.writers)) if blow == "all writers" else [self.dice.randrange(len(self.writers))]
            for number in struck:
                self._kill(self.writers[number])
                self.writers[number] = self._start_writer(number)

    def _pin(self) -> None:
        """Keep what is published now. On a session that is closed again: children are forked from here."""
        self.server.become("auditor")
        self.pins += Checkpoint.objects.order_by("-size").values_list("note", flat=True)[:1]
        connection.close()

    def _settle(self) -> None:
        self.server.become("auditor")
        deadline = time.monotonic() + SETTLES_IN
        while self._unsealed() and time.monotonic() < deadline:
            time.sleep(0.2)

    def _unsealed(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute(UNSEALED)
            return int(cursor.fetchone()[0])

    def _judge(self) -> int:
        given = [
            one for path in sorted(self.base.glob("notes-*")) for one in receipts.parse(path.read_text().splitlines())
        ]
        keys = (note.parse_key(str(KEY.public)),)
        outside = Outside(keys, tuple(note.parse(text) for text in self.pins), tuple(given))
        result = verifying.verify(outside, guards=fingerprint.differences)
        left, counts = self._unsealed(), result.report.counts
        for finding in result.report.first:
            _say(str(finding))
        _say(f"seed {self.seed}: {result.verification.entries:,} entries, {len(given):,} acknowledged, "
             f"{len(self.pins)} pins, killed {dict(self.blows)}")  # fmt: skip
        _say(f"{counts.total()} findings, {left} entries without a leaf")
        return 1 if counts or left or not given else 0


def _seal(server: Server) -> None:
    server.become("sealer")
    Sealing([KEY], threading.Event()).run()


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201
