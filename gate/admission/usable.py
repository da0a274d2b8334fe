"""A program that may decide: JSON without an error. The newest that were asked about are kept, read once."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from gate.admission import program as programs
from gate.admission.findings import has_errors
from gate.admission.lint import lint
from gate.admission.program import Program

KEPT = 64  # programs in use at once by one process


def usable(raw: Any) -> Program | None:
    """The program, or None when it is none, or lint finds an error in it. Never raises."""
    try:
        text = json.dumps(raw)
    except (TypeError, ValueError, RecursionError):
        return None  # no JSON, or nested deeper than any program is
    return _read(text)


@lru_cache(maxsize=KEPT)
def _read(text: str) -> Program | None:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if has_errors(lint(raw)) else programs.build(raw)
