"""Which groups of rows a person opened: nobody approves a thousand rows by their number alone."""

from __future__ import annotations

from gate.errors import NotAllowed
from gate.people.models import Person
from gate.writes import grouping, quorum
from gate.writes.grouping import Group
from gate.writes.models import Preview, Viewing, WriteRequest


def keys(person: Person, seen: Preview) -> frozenset[str]:
    """The groups of a preview whose pages the person opened."""
    return frozenset(Viewing.objects.filter(person=person, preview=seen).values_list("group", flat=True))


def look(person: Person, write: WriteRequest, key: str) -> Group | None:
    """A group of the preview that is there now, and the person has opened it from now on; None for no such group."""
    seen = quorum.latest_preview(write)
    found = next((one for one in grouping.groups(write.table, seen) if one.key == key), None) if seen else None
    if found is not None and seen is not None:
        Viewing.objects.get_or_create(person=person, preview=seen, group=key)
    return found


def check(person: Person, write: WriteRequest, seen: Preview | None) -> None:
    """Raises NotAllowed while the person has not opened each group of rows of this preview."""
    if seen is None:
        return
    known = keys(person, seen)
    left = [one for one in grouping.groups(write.table, seen) if one.key not in known]
    if left:
        rows = "a group" if len(left) == 1 else f"{len(left)} groups"
        raise NotAllowed(f"Open {rows} of rows that you have not looked at, then approve; the first: {left[0].words}.")
