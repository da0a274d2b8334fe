"""What an approval is bound to: digests over exactly what was proposed, seen, and decided.

Each is SHA-256 over a domain tag and one flat record in the part of RFC 8785 that holds text, integers and null.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from audit import canonical
from gate.writes.models import Decision, WriteRequest

PROPOSAL_TAG = b"write-proposal/v1\0"
EFFECT_TAG = b"write-effect/v1\0"
PREVIEW_TAG = b"write-preview/v1\0"
APPROVAL_TAG = b"write-approval/v1\0"

# One row that a statement changes: column → text, before and after; None where there is no such row.
Image = Mapping[str, str | None] | None


def _digest(tag: bytes, record: Mapping[str, canonical.Scalar]) -> str:
    return hashlib.sha256(tag + canonical.header_bytes(record)).hexdigest()


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def of_proposal(write: WriteRequest) -> str:
    """Over target, statement, parameters, proposer and expiry. The stated reason is no part of what is approved."""
    by_agent = write.proposed_by_agent_id is not None
    record: dict[str, canonical.Scalar] = {
        "target": write.target.name,
        "target_version": write.target.version,
        "target_digest": write.target.digest,
        "title": write.title,
        "statement": write.statement,
        "verb": write.verb,
        "table": write.table,
        "incident": write.incident_id,
        "proposer_kind": "agent" if by_agent else "person",
        "proposer": write.proposed_by_agent_id if by_agent else write.proposed_by_person_id,
        "expires_at": write.expires_at.isoformat(),
        "parameters": len(write.parameters),
    }
    for number, one in enumerate(write.parameters, 1):
        record[f"${number} type"], record[f"${number} value"] = one["t"], one["v"]
    return _digest(PROPOSAL_TAG, record)


def row_line(before: Image, after: Image, volatile: Iterable[str]) -> str:
    """One changed row as canonical text: everything it was, and everything it becomes that is the same in each run."""
    skipped = set(volatile)
    kept = None if after is None else {column: value for column, value in after.items() if column not in skipped}
    return _text([before, kept])


def of_effect(rows: Sequence[Mapping[str, Any]], volatile: Sequence[str]) -> str:
    """Over the number of rows and every row's images, in an order that does not depend on the database."""
    lines = sorted(row_line(row["before"], row["after"], volatile) for row in rows)
    return _digest(EFFECT_TAG, {"row_count": len(lines), "rows": _text(lines), "volatile": _text(sorted(volatile))})


def of_preview(
    *, proposal: str, effect: str, rows: Sequence[Mapping[str, Any]], row_count: int | None,
    footprint: Mapping[str, Any], volatile: Sequence[str], error: str,
) -> str:  # fmt: skip
    """Over the proposal and everything that its dry run showed; the rows' images are in the effect."""
    heads = _text([[row["key"], row["columns"]] for row in rows])
    return _digest(
        PREVIEW_TAG,
        {
            "proposal": proposal, "effect": effect, "rows": heads, "row_count": row_count,
            "footprint": _text(footprint), "volatile": _text(sorted(volatile)), "error": error,
        },
    )  # fmt: skip


def of_approval(statement: Mapping[str, canonical.Scalar]) -> str:
    """Over the statement that a person made by deciding."""
    return _digest(APPROVAL_TAG, statement)


def approval_statement(decision: Decision, *, approver: str, nonce: str) -> dict[str, canonical.Scalar]:
    """What a person says by deciding: which act, on exactly which bytes and effect, until when."""
    preview = decision.preview
    return {
        "decision": decision.act,
        "write": decision.write.ref,
        "proposal": decision.write.proposal_digest,
        "preview": preview.digest if preview else None,
        "target": decision.write.target.digest,
        "approver": approver,
        "approver_id": decision.by_id,
        "method": decision.method,
        "nonce": nonce,
        "expires_at": decision.expires_at.isoformat(),
    }
