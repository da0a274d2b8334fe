"""What answers of every metric tool have: how far they can be relied on, and where they are from. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evidence.metrics import saying, wording
from evidence.metrics.status import Status


@dataclass(frozen=True)
class Reason:
    """Why an answer is not resolved: its code, the sentence, and its parameters."""

    code: str
    sentence: str
    details: str


@dataclass(frozen=True)
class Standing:
    """How far a value can be relied on."""

    status: Status
    reasons: Sequence[Reason]

    @property
    def css(self) -> str:
        return wording.MARKS[self.status][0]

    @property
    def glyph(self) -> str:
        return wording.MARKS[self.status][1]

    @property
    def word(self) -> str:
        return str(self.status)

    @property
    def meaning(self) -> str:
        return wording.MEANINGS[self.status]


@dataclass(frozen=True)
class Provenance:
    """Where an answer is from."""

    run: str
    decision_point: datetime
    metric_id: str
    version: int
    digest: str
    valuation: str | None
    valuation_digest: str | None
    entries: Sequence[str]
    rows: int | None  # None in answers of before they were counted


def provenance(result: Mapping[str, Any]) -> Provenance:
    """Where an answer is from. Raises ValueError, KeyError and TypeError."""
    said = result["provenance"]
    if not saying.NAME.fullmatch(said["metric_id"]):
        raise ValueError("The provenance names no metric.")
    return Provenance(
        said["run"], datetime.fromisoformat(said["decision_point"]), said["metric_id"], said["formula_version"],
        said["formula_digest"], said["valuation"], said["valuation_digest"], tuple(said["entries"]),
        said.get("rows"),
    )  # fmt: skip


def standing(result: Mapping[str, Any]) -> Standing:
    """How far an answer can be relied on. Raises ValueError, KeyError and TypeError."""
    reasons = [
        Reason(one["code"], wording.sentence(one["code"]), wording.details(one["parameters"]))
        for one in result["reasons"]
    ]
    return Standing(Status(result["mechanism_status"]), reasons)
