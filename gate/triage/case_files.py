"""Recorded cases on disk: which files are meant, and what is in them. No Django, no database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gate.triage import recorded_cases
from gate.triage.recorded_cases import CaseError, RecordedCase


def find(paths: Iterable[Path]) -> list[Path]:
    """The files that are meant, each once: those named, and every .json file below a folder, sorted.

    Raises CaseError, naming what is not there or holds no case.
    """
    return list(dict.fromkeys(file for path in paths for file in _below(path)))


def _below(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = sorted(file for file in path.rglob("*.json") if file.is_file()) if path.is_dir() else []
    if not found:
        raise CaseError(f"{path} is neither a recorded case nor a folder that holds one.")
    return found


def read(file: Path) -> RecordedCase:
    """The case in a file. Raises CaseError, naming the file."""
    try:
        return recorded_cases.parse(recorded_cases.load(file.read_bytes()))
    except OSError as error:
        raise CaseError(f"{file} cannot be read ({error.strerror}).") from error
    except CaseError as error:
        raise CaseError(f"{file} is not a recorded case. {error.sentence}") from error
