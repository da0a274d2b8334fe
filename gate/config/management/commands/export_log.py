import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import psycopg
from django.core.management.base import CommandError
from django.db import DatabaseError

from audit import files, following, log
from audit.browse import BadFilter, Filters
from audit.export import Export
from audit.export_formats import FORMATS, Format
from audit.export_rows import Selection
from audit.following_out import Output
from audit.kinds import Kind
from gate.config.stopping import told_to_stop
from gate.people.operator import OperatorCommand, actor

FILTERS = ("agent", "tool", "kind", "incident", "subject", "status")


class Command(OperatorCommand):
    help = "Write entries with what proves them to a file, or follow the log for a receiver that must miss nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=FORMATS, default="jsonl")
        parser.add_argument("--out", required=True, metavar="FILE", help="a file that does not exist yet; - for stdout")
        for name in FILTERS:
            parser.add_argument(f"--{name}", default="")
        parser.add_argument("--since", metavar="TIME", help="in UTC, like 2026-11-29 or 2026-11-29T10:48")
        parser.add_argument("--until", metavar="TIME", help="up to this moment, in UTC")
        parser.add_argument("--follow", action="store_true", help="go on as the log is sealed, until told to stop")
        parser.add_argument("--from", type=int, default=0, metavar="LEAF", help="where following begins")
        parser.add_argument(
            "--state", type=Path, metavar="FILE", help="keeps the place; default FILE of --out + .state"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        form, selection = FORMATS[options["format"]], _selection(options)
        try:
            if options["follow"]:
                self._follow(form, selection, options)
            else:
                self._export(form, selection, options["out"])
        except psycopg.Error as error:
            raise CommandError(f"An export is recorded, and this one could not be: {str(error).strip()}") from error
        except DatabaseError as error:
            sentence = "The log could not be read; manage.py verify_log says whether its tables are what they were: "
            raise CommandError(f"{sentence}{str(error).strip()}") from error

    def _export(self, form: Format, selection: Selection, out: str) -> None:
        if out != "-" and Path(out).exists():
            raise CommandError(f"{out} exists already; name a new file.")
        try:
            export = Export(selection, form, actor())
        except BadFilter as problem:
            raise CommandError(str(problem)) from problem
        is_whole = False
        try:
            _write(export.pieces(), out)
            is_whole = True
        except OSError as error:
            raise CommandError(f"It could not be written: {error}.") from error
        finally:
            recorded = export.ended(is_whole=is_whole)
        self.stderr.write(f"{export.entries:,} entries up to leaf {export.at.size:,}, recorded as {recorded.ref}.")

    def _follow(self, form: Format, selection: Selection, options: dict[str, Any]) -> None:
        if not selection.is_everything:
            raise CommandError("Following skips nothing, so it takes no filter; the receiver can filter by itself.")
        path = None if options["out"] == "-" else Path(options["out"])
        state = options["state"] or (path.with_name(f"{path.name}.state") if path else None)
        try:
            held = files.lock(state.with_name(f"{state.name}.lock")) if state else None
            place = following.load(state, options["from"]) if state else following.Place(options["from"])
            follow = following.Follow(form, Output(path), state, place)
            self._until_stopped(follow, form)
        except files.Taken as taken:
            raise CommandError(f"Somebody else follows into {options['out']}.") from taken
        except (following.CannotFollow, OSError) as refusal:
            raise CommandError(str(refusal)) from refusal
        if held is not None:
            os.close(held)

    def _until_stopped(self, follow: following.Follow, form: Format) -> None:
        stop = told_to_stop()
        begun = _followed(f"Following as {form.title} began", follow, form)
        start = follow.place.leaf
        try:
            follow.run(stop.is_set)
        finally:
            left = {"entries": follow.entries, "first_leaf": start, "last_leaf": follow.place.leaf - 1}
            _followed(f"{follow.entries:,} entries were followed", follow, form, parent=begun.id, result=left)


def _followed(summary: str, follow: following.Follow, form: Format, **about: Any) -> log.Recorded:
    asked = {"format": form.name, "filter": {"follow": True, "from": follow.place.leaf}, "size": follow.place.leaf}
    return log.record(Kind.LOG_EXPORTED, actor(), subject="log", summary=summary, args=asked, **about)


def _selection(options: dict[str, Any]) -> Selection:
    filters = Filters.of({name: options[name] for name in FILTERS})
    return Selection(filters, since=_moment(options["since"]), until=_moment(options["until"]))


def _moment(typed: str | None) -> datetime | None:
    if not typed:
        return None
    try:
        moment = datetime.fromisoformat(typed)
    except ValueError as problem:
        raise CommandError("A time is written in UTC like 2026-11-29 or 2026-11-29T10:48.") from problem
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _write(pieces: Iterable[bytes], out: str) -> None:
    if out == "-":
        _put(pieces, sys.stdout.buffer)
        return
    target = Path(out)
    # The name appears when the file is whole.
    draft = target.with_name(f"{target.name}.part")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            _put(pieces, stream)
            os.fsync(stream.fileno())
        draft.rename(target)
    finally:
        draft.unlink(missing_ok=True)


def _put(pieces: Iterable[bytes], stream: BinaryIO) -> None:
    for piece in pieces:
        stream.write(piece)
    stream.flush()
