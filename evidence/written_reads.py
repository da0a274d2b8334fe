"""Reads during which something wrote: their source goes dark until a person has settled it.

PostgreSQL gives a transaction number only to what writes. A read that was given one is kept out and rolled back, but
its credential was proven unable to do that, so the proof is wrong somewhere. The layer above makes an incident of it,
and says when it is settled.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.utils import timezone

from audit.models import Definition
from evidence.models import WrittenRead

WROTE = "wrote"  # the code of the refusal: see evidence.reader


def note(source: Definition, during: str, by: str) -> None:
    """Keep that a read of this source wrote: the source is dark from here on. Raises django.db.DatabaseError.

    `during` is where it happened, as people find it (A-123, W-577), and `by` who asked.
    """
    WrittenRead.objects.create(source=source.name, source_version=source.version, during=during, by=by)


def unsettled(sources: Iterable[str]) -> dict[str, WrittenRead]:
    """By the names of these sources, the first read that wrote and that nobody has settled."""
    found = WrittenRead.objects.filter(source__in=list(sources), settled_at=None).order_by("-pk")
    return {one.source: one for one in found}


def why_dark(written: WrittenRead) -> str:
    """What such a read says about its source, as the end of a sentence."""
    return f"a read of it wrote ({written.during}), and no person has settled that yet"


def settle(source: str) -> int:
    """A person has settled what was written through this source, in the caller's transaction. How many reads it was."""
    return WrittenRead.objects.filter(source=source, settled_at=None).update(settled_at=timezone.now())
