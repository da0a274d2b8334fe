"""What is known of a write since admission looked at it: where that differs, its answers are about another world.

What the writer's dry run shows is bound to the approval; a freeze and an incident are looked for anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.models import Definition
from gate.writes.models import Admission, Preview, WriteRequest
from gate.writes.probes import around, counting
from gate.writes.probes.fact import Facts, observed
from gate.writes.screening import screened

MORE_LAST = ("none", "one", "few", "many")  # the answers about rows, fewest first


def answers(write: WriteRequest, version: Definition, seen: Preview) -> dict[str, Any]:
    """The answers as they are now, to those of a version's questions that can be seen without its probes.

    What cannot be told now stays as it was: an open question would have a person asked, and one has been.
    """
    now = {name: fact.as_answer() for name, fact in _around(write).items() if fact.value is not None}
    if seen.row_count is not None:
        now["rows_touched"] = {"value": counting.in_words(seen.row_count), "by": "probe"}
    asked = {one["id"] for one in version.body["program"]["questions"] if one.get("by", "model") == "probe"}
    return {name: answer for name, answer in now.items() if name in asked}


def _around(write: WriteRequest) -> Facts:
    return observed({"frozen": lambda: around.frozen(write), "open_incident": lambda: around.open_incident(write)})


def differs(write: WriteRequest, found: Admission) -> str:
    """What a preview that is newer than the admission shows otherwise; empty when nothing is.

    Keys, triggers and references may have been changed in between, and what a policy blocks for them would be missed.
    """
    newer = Preview.objects.filter(write=write, edition=write.edition, error="", at__gt=found.at)
    seen = newer.order_by("-pk").first()
    return _differs(write, _said(found), seen) if seen is not None else ""


def _said(found: Admission) -> Mapping[str, Any]:
    return {name: one["value"] for name, one in found.answers.items() if one.get("by") == "probe"}


def _differs(write: WriteRequest, said: Mapping[str, Any], seen: Preview) -> str:
    """Of a statement that names a key, more rows; of one that touches one table, more of it, or others."""
    rows, before = counting.in_words(seen.row_count or 0), said.get("rows_touched")
    if said.get("keyed") == "yes" and before in MORE_LAST and MORE_LAST.index(rows) > MORE_LAST.index(before):
        return f"The preview of {write.ref} shows more rows than were counted"
    if said.get("tables_touched") == "one" and (seen.blast or _columns_beyond(write, seen)):
        return f"The preview of {write.ref} changes more than was seen"
    return ""


def _columns_beyond(write: WriteRequest, seen: Preview) -> set[str]:
    """The columns that an UPDATE changes though it sets none of them, and they follow from no other."""
    expected = screened(write)[0].sets | {one["name"] for one in seen.shape["columns"] if one["generated"]}
    pairs = [(row["before"], row["after"]) for row in seen.rows if row["before"] and row["after"]]
    return {name for before, after in pairs for name in after if before.get(name) != after[name]} - expected
