"""Following the log by leaf, for a receiver that must miss nothing: leaves are dense, and no commit slips behind them.

What was written and the place where to go on are kept together in a state file. Into a file each line comes once,
also after a crash; to standard output, the last piece may come again, and its lines carry their leaf's index.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from audit import export_lines, export_rows, seal
from audit.canonical import time_text
from audit.export_formats import Format
from audit.export_gone import Gone
from audit.export_lines import Line
from audit.export_rows import Extent, Row
from audit.files import write_whole
from audit.following_out import Output
from audit.listening import Listening
from audit.models import Leaf
from audit.troubles import Troubles, unreachable

log = logging.getLogger(__name__)


class CannotFollow(Exception):
    """The sentence that says why the log does not go on from where it was left."""


@dataclass(frozen=True)
class Place:
    """Where to go on: the next leaf, the hash of the one before it, and how far the output was written."""

    leaf: int
    hash: str = ""
    file: int = 0
    length: int = 0


def load(state: Path, start: int) -> Place:
    """The place that the state file keeps, else `start`. Raises CannotFollow."""
    try:
        kept = json.loads(state.read_text())
        return Place(int(kept["leaf"]), str(kept["hash"]), int(kept["file"]), int(kept["length"]))
    except FileNotFoundError:
        return Place(start)
    except (ValueError, KeyError, TypeError) as problem:
        raise CannotFollow(f"{state} is not a place that was kept here; remove it and give --from.") from problem


class Follow:
    """One follower at work, until it is told to stop."""

    def __init__(self, form: Format, out: Output, state: Path | None, place: Place) -> None:
        self.form, self.out, self.state, self.place = form, out, state, place
        self.listening = Listening(seal.CHANNEL)
        self.troubles = Troubles(log, over="Following goes on.")
        self.entries = 0

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Go on until told to stop. An outage of the database is said once, and waited out. Raises CannotFollow."""
        self.begin()
        while not should_stop():
            if not self.round():
                self.listening.wait()
        self.listening.end()

    def begin(self) -> None:
        """Take up the output where it was left. The place is kept before the first line: a crash may come in it."""
        self.out.resume(self.place.file, self.place.length)
        self._keep(self.place)

    def round(self) -> bool:
        """Write what is sealed and not written yet; whether there was any. Raises CannotFollow."""
        try:
            self.listening.begin()
            moved = self._catch_up(export_rows.extent())
        except (DatabaseError, psycopg.Error) as error:
            self.troubles.say(unreachable(error))
            self.listening.end()
            connection.close()
            return False
        self.troubles.say("")
        return moved

    def _catch_up(self, at: Extent) -> bool:
        self._check_is_the_same_log(at)
        began = self.place.leaf
        for rows in export_rows.sealed(began, at.size, Gone()):
            self._take(rows, at)
        return self.place.leaf > began

    def _take(self, rows: list[Row], at: Extent) -> None:
        lines = [export_lines.line(row) for row in rows]
        last = rows[-1]
        assert last.leaf is not None  # sealed rows have one
        if last.leaf + 1 == at.size:
            lines.append(export_lines.closing(at.size, at.note))
        self._write(lines, Place(last.leaf + 1, (last.leaf_hash or b"").hex()), at)
        self.entries += len(rows)

    def _write(self, lines: list[Line], place: Place, at: Extent) -> None:
        """The lines first, and then the place: what a crash leaves between them is cut off when it goes on."""
        if self.out.was_moved():
            self._keep(self.place)
        begun = [self._opening(at), *lines] if self.out.is_empty else lines
        self.out.write("".join(map(self.form.render, begun)).encode())
        self._keep(place)

    def _keep(self, place: Place) -> None:
        self.place = Place(place.leaf, place.hash, self.out.file, self.out.length)
        if self.state:
            write_whole(self.state, json.dumps(asdict(self.place)).encode())

    def _opening(self, at: Extent) -> Line:
        start = self.place.leaf
        return {
            "type": "export",
            "format": export_lines.FORMAT,
            "origin": at.origin,
            "filter": {"follow": True, "from": start} if start else {"follow": True},
            "complete": start == 0,
            "made_at": time_text(timezone.now()),
        }

    def _check_is_the_same_log(self, at: Extent) -> None:
        if at.size < self.place.leaf:
            raise CannotFollow(
                f"The log has {at.size} leaves, and {self.place.leaf} were followed already: it was set back. "
                "Run verify_log, with pins."
            )
        before = Leaf.objects.filter(index=self.place.leaf - 1).first() if self.place.hash else None
        if before is not None and bytes(before.h).hex() != self.place.hash:
            raise CannotFollow(f"Leaf {before.index} is not the one that was followed. Run verify_log, with pins.")
