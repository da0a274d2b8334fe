"""Every case that this installation knows: those made of its own incidents, and the files of the configured folders."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from gate.triage import case_files, recorded_cases
from gate.triage.recorded_cases import CaseError, RecordedCase
from gate.triage.rule_models import PromotedCase


@dataclass(frozen=True)
class Source:
    """Where a case stands, not read in yet."""

    name: str  # of the file, or of the case in the database
    raw: bytes
    promoted: PromotedCase | None

    def case(self) -> RecordedCase:
        """The case that it says. Raises CaseError, with the name of the source."""
        try:
            return recorded_cases.parse(recorded_cases.load(self.raw))
        except CaseError as error:
            raise CaseError(f"{self.name} is no case. {error.sentence}") from None


def sources() -> list[Source]:
    """All of them, in an order that stays. Raises CaseError where a configured folder holds none."""
    return [*_files(), *_promoted()]


def digest(found: list[Source]) -> str:
    """SHA-256 over the bytes of all cases: a trial holds for exactly these."""
    digest = hashlib.sha256()
    for source in found:
        digest.update(f"{source.name}\0{len(source.raw)}\0".encode() + source.raw)
    return digest.hexdigest()


def _files() -> Iterator[Source]:
    for file in case_files.find(Path(folder) for folder in settings.CASES):
        yield Source(str(file), file.read_bytes(), None)


def _promoted() -> Iterator[Source]:
    for case in PromotedCase.objects.order_by("pk"):
        yield Source(case.name, case.document.encode(), case)
