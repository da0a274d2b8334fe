"""The receipt of an executed write: everything that was decided and recorded about it, to be checked without us."""

from __future__ import annotations

from typing import Any

from audit import export_lines, export_rows
from audit.export_rows import Row
from audit.kinds import Kind
from audit.models import Entry
from gate.writes import approval, digests, preview, recorded, targets
from gate.writes.models import Decision, Execution, WriteRequest

FORMAT = "counterseal-write-receipt/1"


class NotReady(Exception):
    """The receipt cannot be made yet; the sentence says what it waits for."""


def of(write: WriteRequest) -> dict[str, Any]:
    """The receipt of an executed write. Raises NotReady while an entry of it is not sealed."""
    execution = Execution.objects.select_related("preview").get(write=write)
    decisions = list(Decision.objects.filter(pk__in=execution.approvals).select_related("preview", "write__target"))
    entries = [_executed(write, execution), *(_approved(write, one) for one in decisions)]
    at = export_rows.extent()
    lines = [_line(row) for row in export_rows.with_proofs(entries, at)]
    by_id = {line["id"]: line for line in lines}
    return {
        "format": FORMAT,
        "write": write.ref,
        "proposal": {"record": digests.proposal_record(write), "digest": write.proposal_digest},
        "preview": {
            "record": digests.preview_record(**preview.parts(write, execution.preview)),
            "digest": execution.preview.digest,
        },
        "policy": {"record": targets.of(write.target).policy.record(), "digest": digests.policy_digest(write)},
        "decisions": [
            {**recorded.of(one), "entry": by_id[str(entry.pk)]}
            for one, entry in zip(decisions, entries[1:], strict=True)
        ],
        "execution": {
            "approvals": execution.approvals, "ledger": str(execution.ledger_key), "attempt": execution.attempt,
            "effect": execution.effect_digest, "row_count": execution.row_count, "xid": execution.target_xid,
            "entry": by_id[str(entries[0].pk)],
        },
        "checkpoint": at.note,
    }  # fmt: skip


def _executed(write: WriteRequest, execution: Execution) -> Entry:
    key = (execution.receipt or {}).get("id")
    found = Entry.objects.filter(pk=key, kind=Kind.WRITE_EXECUTED).first() if key else None
    if found is None:
        raise NotReady(f"The log has no entry of the execution of {write.ref}, so there is no receipt.")
    return found


def _approved(write: WriteRequest, decision: Decision) -> Entry:
    found = approval.entry_of(write, decision)
    if found is None:
        raise NotReady(f"The log has no intact entry of an approval of {write.ref}, so there is no receipt.")
    return found


def _line(row: Row) -> dict[str, Any]:
    if row.leaf is None or row.proof is None:
        raise NotReady("The log has not sealed everything about this write yet; try again in a few seconds.")
    return export_lines.line(row)
