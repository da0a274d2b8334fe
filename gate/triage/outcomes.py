"""What a verdict is: pass or fail, one line per check, and the receipt of what was read. Pure; no Django."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from gate.triage.cases import RecordedCall
from gate.triage.readers.document import storable
from gate.triage.rules.language import Rule

RECEIPT_FORMAT = "counterseal-receipt/v1"
Outcome = Literal["holds", "fails", "unreadable"]


@dataclass(frozen=True)
class ActiveRule:
    """A rule version that is in force. `rule` is None where this process has not loaded that very file."""

    rule: Rule | None
    hash: str


@dataclass(frozen=True)
class CheckResult:
    """One line of the page. In title, why and earn, `code` stands in backticks."""

    number: int
    fact: str
    title: str
    predicate: str  # what the test is called in the rule's file
    outcome: Outcome
    audit_ids: tuple[str, ...]  # the entries that it read
    paths: dict[str, list[str]]  # A-id: JSON pointers read in the result
    absent: dict[str, list[str]]  # A-id: JSON pointers that are not in the result
    args: dict[str, list[str]]  # A-id: JSON pointers read in the arguments
    values: dict[str, dict[str, str]]  # A-id: pointer: value seen in the result
    seen: str
    why: str  # a sentence when it does not hold
    earn: str  # what would earn it
    # A-id: pointer: a value that no closed list knows. For drift alone: neither the draft nor the receipt keeps it.
    unlisted: dict[str, dict[str, str]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The line as the draft keeps it."""
        return {name: value for name, value in asdict(self).items() if name != "unlisted"}


@dataclass(frozen=True)
class Reason:
    """Why it is a fail: a code for machines, a headline and a sentence for people."""

    code: str
    headline: str
    sentence: str

    def as_json(self) -> dict[str, str]:
        """The reason as the draft keeps it."""
        return asdict(self)


@dataclass(frozen=True)
class Pass:
    """An earned pass and its receipt."""

    receipt: dict[str, Any]
    checks: tuple[CheckResult, ...]


@dataclass(frozen=True)
class Fail:
    """A fail: a person looks. The receipt says what was read all the same."""

    reasons: tuple[Reason, ...]
    checks: tuple[CheckResult, ...]
    receipt: dict[str, Any]


def receipt(
    hypothesis: str,
    active: ActiveRule | None,
    checks: tuple[CheckResult, ...],
    cited: tuple[RecordedCall, ...],
    decided_at: datetime | None,
    subjects: int = 0,
) -> dict[str, Any]:
    """What was decided by which rule from which bytes, with its own hash. The same inputs give the same receipt.

    `subjects` is for how many the checks were made: one, and each member of the incident as it was then.
    """
    body: dict[str, Any] = {
        "format": RECEIPT_FORMAT,
        "rule": storable(str(hypothesis)),
        "version": active.rule.version if active is not None and active.rule is not None else None,
        "hash": active.hash if active is not None else "",
        "decided_at": decided_at.isoformat() if decided_at is not None else None,
        "subjects": subjects,
        "entries": {call.audit_id: _entry(call) for call in cited},
        "checks": [_check(line) for line in checks],
    }
    return {**body, "sha256": receipt_hash(body)}


def receipt_hash(body: Mapping[str, Any]) -> str:
    """SHA-256 over the receipt's canonical JSON, without the hash itself."""
    bare = {key: value for key, value in body.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def _entry(call: RecordedCall) -> dict[str, Any]:
    return {
        "id": call.entry_id,
        "digest": call.digest,
        "tool": call.tool,
        "tool_version": call.tool_version,
        "tool_hash": call.tool_hash,
        "source": call.source,
    }


def _check(line: CheckResult) -> dict[str, Any]:
    return {
        "number": line.number,
        "fact": line.fact,
        "title": line.title,
        "predicate": line.predicate,
        "outcome": line.outcome,
        "entries": list(line.audit_ids),
        "read": line.values,
        "args": line.args,
        "absent": line.absent,
    }
