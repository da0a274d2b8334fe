"""What the log says of a decision: every field of its row, so that the writer finds each one that was changed."""

from __future__ import annotations

from typing import Any

from gate.writes.models import Decision


def of(decision: Decision) -> dict[str, Any]:
    """The arguments of the entry of a decision. It MUST have been saved."""
    return {
        "id": str(decision.pk),
        "act": decision.act,
        "edition": decision.edition,
        "preview_id": decision.preview_id,
        "reason": decision.reason,
        "by": decision.by_id,
        "role": decision.role,
        "method": decision.method,
        "statement": decision.statement,
        "assertion": decision.assertion,
        "digest": decision.digest,
        "at": decision.at.isoformat(),
        "expires_at": decision.expires_at.isoformat(),
    }
