"""`python -m gate.writes.receipt FILE --keys KEYS`: whether a write was approved and run as its receipt says.

It needs no Django, no database and no network: the receipt, the keys that `manage.py pin_key --list` printed on a day
when they were believed, and this program. 0 when every check holds, 1 when one fails, 2 when a file cannot be read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from audit.verify import wording
from gate.writes import receipt_checks, receipt_keys
from gate.writes.receipt_checks import Line

GOOD, BAD, UNUSABLE = 0, 1, 2


def main(words: Sequence[str] | None = None) -> int:
    """Check a file and say how each check went; the exit code."""
    asked = _parser().parse_args(words)
    try:
        keys = receipt_keys.parse(asked.keys.read_text("utf-8"))
        receipt = receipt_checks.parse(asked.receipt.read_bytes())
    except (OSError, UnicodeDecodeError, receipt_keys.BadKeys, receipt_checks.BadReceipt) as problem:
        sys.stderr.write(f"{wording.printable(str(problem))}\n")
        return UNUSABLE
    lines = receipt_checks.run(receipt, keys)
    for line in lines:
        sys.stdout.write(f"{wording.printable(_said(line))}\n")
    failed = sum(not line.holds for line in lines)
    sys.stdout.write("Every check holds.\n" if not failed else f"{failed} of {len(lines)} checks fail.\n")
    return BAD if failed else GOOD


def _said(line: Line) -> str:
    return f"{'ok  ' if line.holds else 'FAIL'}  {line.about}{f': {line.why}' if line.why else ''}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gate.writes.receipt", description="Check a write's receipt.")
    parser.add_argument("receipt", type=Path, metavar="FILE", help="the receipt, from the page of an executed write")
    parser.add_argument("--keys", type=Path, required=True, metavar="KEYS", help="what pin_key --list printed")
    return parser


if __name__ == "__main__":
    sys.exit(main())
