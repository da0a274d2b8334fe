"""What cites an entry. Upper layers write it; the entry's page shows it and marks the fields that were read."""

from __future__ import annotations

from collections.abc import Sequence

from audit import vouching
from audit.models import Link


def cite(entry_seq: int, subject: str, url: str, note: str, paths: Sequence[str]) -> None:
    """Say that `subject` (V-2041, W-577) rests on an entry, and on which JSON pointers of its result.

    Safe to call again: the first citation of an entry by a subject stays.
    """
    link = Link(entry_seq=entry_seq, subject=subject, url=url, note=note, paths=sorted(set(paths)))
    Link.objects.bulk_create([link], ignore_conflicts=True)


def said_of(subject: str) -> list[vouching.Said]:
    """How the citations by a subject stand: what the entry says that was made when it cited."""
    return vouching.rows(*Link.objects.filter(subject=subject).order_by("pk"))


def citing(entry_seq: int) -> list[Link]:
    """Everything that cites an entry, oldest first."""
    return list(Link.objects.filter(entry_seq=entry_seq).order_by("pk"))
