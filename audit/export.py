"""Exports: entries as they are stored, with what proves them, streamed. Each export is an entry itself.

It is recorded before the first line leaves, and again when it ends: with what left, and the digest of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.utils import timezone

from audit import export_lines, export_rows, log
from audit.export_formats import Format
from audit.export_lines import Line
from audit.export_rows import Row, Selection
from audit.kinds import Kind

STOPPED = "stopped"


class Export:
    """One export on its way out: its pieces in order, and what has left so far."""

    def __init__(self, selection: Selection, form: Format, by: log.Actor) -> None:
        """Fix what goes out, and record that it will. Raises BadFilter and psycopg.Error; nothing has left then."""
        self.selection, self.form, self.by = selection, form, by
        selection.entries()  # a bad filter is refused before anything is recorded
        self.at = export_rows.extent()
        self.entries, self.length = 0, 0
        self.leaves: tuple[int, int] | None = None
        self.digest = hashlib.sha256()
        self.started = self._record("ok", f"An export as {form.title} began")

    @property
    def file_name(self) -> str:
        """A name for the file that says what is in it."""
        seq, size = self.selection.seq, self.at.size
        return f"A-{seq}-proof.{self.form.ending}" if seq is not None else f"audit-log-{size}.{self.form.ending}"

    def pieces(self) -> Iterator[bytes]:
        """The file in pieces. Whoever takes them MUST call `ended` afterwards, with all taken or not."""
        yield self._out([export_lines.opening(self.selection, self.at, timezone.now())])
        for rows in export_rows.rows(self.selection, self.at):
            self._count(rows)
            yield self._out([export_lines.line(row) for row in rows])
        yield self._out([export_lines.closing(self.at.size, self.at.note)])

    def ended(self, *, is_whole: bool) -> log.Recorded:
        """Record what left. An export that was cut short has no checkpoint at its end, and says so here."""
        word = "left" if is_whole else "left before it was stopped"
        summary = f"{self.entries:,} {'entry' if self.entries == 1 else 'entries'} {word}, as {self.form.title}"
        left = {
            "entries": self.entries,
            "first_leaf": self.leaves[0] if self.leaves else None,
            "last_leaf": self.leaves[1] if self.leaves else None,
            "bytes": self.length,
            "sha256": self.digest.hexdigest(),
        }
        return self._record("ok" if is_whole else STOPPED, summary, parent=self.started.id, result=left)

    async def stream(self) -> AsyncIterator[bytes]:
        """The pieces for an asynchronous server. Between them no database session is held."""
        pieces, is_whole = self.pieces(), False
        try:
            while (piece := await sync_to_async(_next)(pieces)) is not None:
                yield piece
            is_whole = True
        finally:
            # Also when the receiver goes away: what has left has left.
            await sync_to_async(self.ended)(is_whole=is_whole)

    def _out(self, lines: list[Line]) -> bytes:
        piece = "".join(map(self.form.render, lines)).encode()
        self.digest.update(piece)
        self.length += len(piece)
        return piece

    def _count(self, rows: list[Row]) -> None:
        self.entries += sum(row.entry is not None for row in rows)
        leaves = [row.leaf for row in rows if row.leaf is not None]
        if leaves:
            first, last = self.leaves or (leaves[0], leaves[0])
            self.leaves = (min(first, *leaves), max(last, *leaves))

    def _record(self, status: str, summary: str, **about: Any) -> log.Recorded:
        asked = {"format": self.form.name, "filter": self.selection.described(), "size": self.at.size}
        return log.record(
            Kind.LOG_EXPORTED, self.by, subject=self._subject(), summary=summary, status=status, args=asked,
            incident_id=self._incident(), **about,
        )  # fmt: skip

    def _incident(self) -> int | None:
        typed = self.selection.filters.incident.removeprefix("I-")
        return int(typed) if typed else None

    def _subject(self) -> str:
        if self.selection.seq is not None:
            return f"A-{self.selection.seq}"
        incident = self._incident()
        return f"I-{incident}" if incident is not None else "log"


def _next(pieces: Iterator[bytes]) -> bytes | None:
    piece = next(pieces, None)
    close_old_connections()
    return piece
