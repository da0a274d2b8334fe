"""What the log itself says about entries that are no longer in it: those that went with their month."""

from __future__ import annotations

from audit import reading
from audit.kinds import Kind
from audit.models import Entry
from audit.verify.claims import Range, ranges_of


class Gone:
    """The retentions on record; read when a leaf's entry is missing, and again when there are new ones."""

    def __init__(self) -> None:
        self.read_to = 0
        self.retentions: dict[int, list[Range]] = {}  # by the number of the entry that says so

    def pruned_by(self, leaf: int) -> int | None:
        """The entry that says that this leaf's entry was dropped with its month; None when none does."""
        self._read()
        found = (by for by, ranges in self.retentions.items() if any(one.first <= leaf <= one.last for one in ranges))
        return next(found, None)

    def _read(self) -> None:
        later = list(Entry.objects.filter(kind=Kind.LOG_RETAINED, seq__gt=self.read_to).order_by("seq"))
        contents = reading.contents_of(later) if later else {}
        for entry in later:
            self.read_to = entry.seq
            # An account that was changed itself accounts for nothing.
            if contents[entry.pk].is_readable:
                self.retentions[entry.seq] = ranges_of(contents[entry.pk].args)
