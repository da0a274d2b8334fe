"""What an approval is bound to: digests over exactly what was proposed, seen, and decided.

Each is SHA-256 over a domain tag and one flat record in the part of RFC 8785 that holds text, integers and null.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from audit import canonical
from gate.writes import policy
from gate.writes.models import Decision, WriteRequest

PROPOSAL_TAG = b"write-proposal/v1\0"
EFFECT_TAG = b"write-effect/v1\0"
PREVIEW_TAG = b"write-preview/v1\0"
BLAST_TAG = b"write-blast/v1\0"
APPROVAL_TAG = b"write-approval/v1\0"
LEDGER_TAG = b"write-ledger/v1\0"

# One for all: thousands of rows are written with it.
ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))

# One row that a statement changes: column → text, before and after; None where there is no such row.
Image = Mapping[str, str | None] | None


def _digest(tag: bytes, record: Mapping[str, canonical.Scalar]) -> str:
    return hashlib.sha256(tag + canonical.header_bytes(record)).hexdigest()


def _text(value: Any) -> str:
    return ENCODER.encode(value)


def of_proposal(write: WriteRequest) -> str:
    """Over target, statement, parameters, proposer and expiry. The stated reason is no part of what is approved."""
    return _digest(PROPOSAL_TAG, proposal_record(write))


def proposal_record(write: WriteRequest) -> dict[str, canonical.Scalar]:
    """Everything that is proposed, flat."""
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
        "edition": write.edition,
        "expires_at": write.expires_at.isoformat(),
        "undoes": write.undoes_id,
        "parameters": len(write.parameters),
    }
    for number, one in enumerate(write.parameters, 1):
        record[f"${number} type"], record[f"${number} value"] = one["t"], one["v"]
    return record


def row_line(before: Image, after: Image, volatile: Iterable[str], bound: Collection[str] | None = None) -> str:
    """One changed row as canonical text: what it was, and what it becomes that is the same in each run.

    With `bound`, only of those columns, and of those that change.
    """
    skipped = set(volatile)
    kept = None if after is None else {column: value for column, value in after.items() if column not in skipped}
    if bound is not None and before is not None and kept is not None:
        changed = {column for column, value in kept.items() if before.get(column) != value}
        named = changed.union(bound)
        before, kept = _only(before, named), _only(kept, named)
    return _text([before, kept])


def _only(image: Mapping[str, str | None], named: Collection[str]) -> dict[str, str | None]:
    return {column: value for column, value in image.items() if column in named}


def of_effect(
    rows: Sequence[Mapping[str, Any]], volatile: Sequence[str], bound: Collection[str] | None = None
) -> str:  # fmt: skip
    """Over the number of rows and every row's images, in an order that does not depend on the database."""
    lines = sorted(row_line(row["before"], row["after"], volatile, bound) for row in rows)
    record: dict[str, canonical.Scalar] = {
        "row_count": len(lines), "rows": _text(lines), "volatile": _text(sorted(volatile)),
        "bound": None if bound is None else _text(sorted(bound)),
    }  # fmt: skip
    return _digest(EFFECT_TAG, record)


def of_blast(touched: Sequence[Mapping[str, Any]]) -> str:
    """Over what it does to other tables: all that is the same in each run, of those tables that could be read."""
    tables = [
        [one["table"], one["why"], sorted(one["volatile"]),
         sorted(row_line(row["before"], row["after"], one["volatile"]) for row in one["rows"] if not one["why"])]
        for one in touched
    ]  # fmt: skip
    return _digest(BLAST_TAG, {"tables": _text(sorted(tables))})


def of_preview(**seen: Any) -> str:
    """Over the proposal and everything that its dry run showed; the arguments are those of `preview_record`."""
    return _digest(PREVIEW_TAG, preview_record(**seen))


def preview_record(
    *, proposal: str, effect: str, rows: Sequence[Mapping[str, Any]], row_count: int | None,
    footprint: Mapping[str, Any], volatile: Sequence[str], blast: Sequence[Mapping[str, Any]], error: str,
) -> dict[str, canonical.Scalar]:  # fmt: skip
    """The proposal and everything that its dry run showed, flat; the rows' images are in the effect."""
    heads = _text([[row["key"], row["columns"]] for row in rows])
    return {
        "proposal": proposal, "effect": effect, "rows": heads, "row_count": row_count,
        "footprint": _text(footprint), "volatile": _text(sorted(volatile)), "blast": of_blast(blast), "error": error,
    }  # fmt: skip


def of_approval(statement: Mapping[str, canonical.Scalar]) -> str:
    """Over the statement that a person made by deciding."""
    return _digest(APPROVAL_TAG, statement)


def approval_statement(decision: Decision, *, approver: str, nonce: str) -> dict[str, canonical.Scalar]:
    """What a person says by deciding: which act, on exactly which bytes and effect, until when."""
    write, preview = decision.write, decision.preview
    return {
        "decision": decision.act,
        "write": write.ref,
        "edition": decision.edition,
        "proposal": write.proposal_digest,
        "preview": preview.digest if preview else None,
        "target": write.target.digest,
        "policy": policy_digest(write),
        "reason": hashlib.sha256(decision.reason.encode()).hexdigest(),
        "approver": approver,
        "approver_id": decision.by_id,
        "role": decision.role,
        "method": decision.method,
        "nonce": nonce,
        "expires_at": decision.expires_at.isoformat(),
    }


def policy_digest(write: WriteRequest) -> str:
    """Of the policy under which the write was proposed."""
    return policy.of(write.target.body["policy"]).digest


def ledger_key(write: WriteRequest) -> UUID:
    """The key of the row that the target keeps of this proposal: whoever approved it, there is one, so it runs once."""
    about = f"{write.ref}\0{write.proposal_digest}".encode()
    return UUID(bytes=hashlib.sha256(LEDGER_TAG + about).digest()[:16])
