"""`python -m audit.verify EXPORT --public-key FILE [--pins FILE] [--receipts FILE]`: 0 when clean, 1 with findings."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from audit.verify import note, receipts, wording
from audit.verify.export import Export
from audit.verify.findings import Finding, Report
from audit.verify.run import Outside

CLEAN, FOUND, UNUSABLE = 0, 1, 2


def main(words: Sequence[str] | None = None) -> int:
    """Verify a file and print what was found; the exit code."""
    asked = _parser().parse_args(words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    report = Report(tell=_print_finding)
    try:
        verification = Export(asked.export, _outside(asked), report).verify()
    except (OSError, note.Unreadable, receipts.BadReceipt, UnicodeDecodeError) as problem:
        sys.stderr.write(f"{wording.printable(str(problem))}\n")
        return UNUSABLE
    sys.stdout.write(wording.summary(verification) + "\n")
    return CLEAN if report.is_clean else FOUND


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m audit.verify", description="Verify an export of the audit log.")
    parser.add_argument("export", type=Path, metavar="EXPORT", help="a file that export_log or a page has made")
    parser.add_argument("--public-key", type=Path, required=True, metavar="FILE", help="the log's keys, one on a line")
    parser.add_argument("--pins", type=Path, metavar="FILE", help="checkpoints that were published")
    parser.add_argument("--receipts", type=Path, metavar="FILE", help="entries and digests that were handed out")
    return parser


def _outside(asked: argparse.Namespace) -> Outside:
    keys = note.parse_keys(asked.public_key.read_text("utf-8"))
    pins = note.parse_pins(asked.pins.read_text("utf-8")) if asked.pins else ()
    given = receipts.parse(asked.receipts.read_text("utf-8").splitlines()) if asked.receipts else None
    return Outside(tuple(keys), tuple(pins), None if given is None else tuple(given))


def _print_finding(finding: Finding) -> None:
    sys.stdout.write(f"{wording.printable(str(finding))}\n")


if __name__ == "__main__":
    sys.exit(main())
