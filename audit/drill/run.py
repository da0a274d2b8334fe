"""Doing every known tampering to a slice, one after the other, and looking whether the verifier finds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection, transaction

from audit import verifying
from audit.drill import tampering
from audit.drill.known import KNOWN
from audit.drill.slice import CannotDrill, Slice
from audit.drill.tampering import Tampering
from audit.verify_pass import Guards


@dataclass(frozen=True)
class Outcome:
    """The codes of what was found of one tampering, with pins and receipts at hand."""

    tampering: Tampering
    found: frozenset[str]

    @property
    def wanted(self) -> frozenset[str]:
        return self.tampering.inside | self.tampering.outside

    @property
    def is_found(self) -> bool:
        """Whether every finding is there that has to be."""
        return bool(self.wanted) and self.found >= self.wanted

    def __str__(self) -> str:
        if not self.is_found:
            return f"NOT FOUND  {self.tampering.name}: lacks {' '.join(sorted(self.wanted - self.found))}"
        where = "" if self.tampering.inside else " (by what was published alone)"
        return f"found      {self.tampering.name}: {' '.join(sorted(self.wanted))}{where}"


def run(piece: Slice, guards: Guards) -> Iterator[Outcome]:
    """The outcome of each known tampering. Raises CannotDrill when the untouched slice has findings."""
    untouched = _look(piece, guards)
    if untouched:
        raise CannotDrill(f"The log itself has findings ({' '.join(sorted(untouched))}). Run verify_log.")
    for one in KNOWN:
        yield _try(one, piece, guards)


def _try(one: Tampering, piece: Slice, guards: Guards) -> Outcome:
    with transaction.atomic():
        tampering.apply(connection.connection, one, piece.leaf)
        found = _look(piece, guards)
        transaction.set_rollback(True)
    return Outcome(one, found)


def _look(piece: Slice, guards: Guards) -> frozenset[str]:
    return frozenset(verifying.look(piece.outside, guards=guards, copied_to=piece.copied_to).report.counts)
