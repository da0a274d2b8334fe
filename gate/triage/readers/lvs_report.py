"""lvs_report: what `lvs --reportformat json` says of the volumes of a host. Every field is text there."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from gate.triage.grammars import lvm, zoned_times
from gate.triage.readers.document import Answer, Step, Unreadable

# A log beside the report, in which LVM says what it could not read.
INCOMPLETE = ("log",)


class LvsReport(Answer):
    """Logical volumes. A snapshot is one that has an origin."""

    tools = ("lvs_report",)

    def complete(self) -> bool:
        """True. Raises Unreadable unless the report is one report over all volumes of the host."""
        if self.result.length("report") != 1:
            raise Unreadable("/report", "there is not exactly one report.", "not one report")
        for marker in INCOMPLETE:
            if self.result.has(marker):
                raise Unreadable(f"/{marker}", f"`{marker}` stands there, so volumes may be missing.", marker)
        return True

    def listed(self) -> int:
        """How many volumes are in the answer."""
        return self.result.length("report", 0, "lv")

    def name(self, index: int) -> str:
        """The name of a volume."""
        return self.result.text(*self._at(index), "lv_name")

    def origin(self, index: int) -> str:
        """What a snapshot was taken of. Empty for a volume that is no snapshot."""
        return self.result.text(*self._at(index), "origin")

    def size(self, index: int) -> Decimal:
        """How many bytes a volume holds."""
        return lvm.size(self.result.text(*self._at(index), "lv_size"))

    def taken_at(self, index: int) -> datetime:
        """When it was made."""
        return zoned_times.parse(self.result.text(*self._at(index), "lv_time"))

    def is_valid(self, index: int) -> bool:
        """False where the report has LVM's attributes and they say that the snapshot is spoilt or not a snapshot."""
        if not self.result.has(*self._at(index), "lv_attr"):
            return True
        return lvm.is_good_snapshot(self.result.text(*self._at(index), "lv_attr"))

    def _at(self, index: int) -> tuple[Step, ...]:
        return ("report", 0, "lv", index)
