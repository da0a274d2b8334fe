"""Two verdicts on the same situation, one of the version in force and one of another: what is different. Pure."""

from __future__ import annotations

import json
from typing import Any

from gate.triage.outcomes import Fail, Pass
from gate.triage.rule_models import Flip


def kind_of(before: Pass | Fail, after: Pass | Fail) -> str | None:
    """Which kind of flip it is; None when both say the same from the same bytes."""
    if isinstance(before, Pass) and isinstance(after, Fail):
        return Flip.Kind.PASS_TO_FAIL
    if isinstance(before, Fail) and isinstance(after, Pass):
        return Flip.Kind.FAIL_TO_PASS
    return None if _evidence(before) == _evidence(after) else Flip.Kind.RECEIPT


def evidence_hash(decided: Pass | Fail) -> str:
    """What a signature is bound to: the receipt's own hash, which covers the rule and everything that it read."""
    return str(decided.receipt["sha256"])


def reasons_of(*decided: Pass | Fail) -> list[dict[str, str]]:
    """The reasons of those that fail."""
    return [reason.as_json() for one in decided if isinstance(one, Fail) for reason in one.reasons]


def _evidence(decided: Pass | Fail) -> str:
    """What was read and what came of it, whatever the version and the numbers of its checks are."""
    checks = [_without_number(check) for check in decided.receipt["checks"]]
    return json.dumps([decided.receipt["entries"], sorted(checks, key=json.dumps)], sort_keys=True)


def _without_number(check: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in sorted(check.items()) if key != "number"}
