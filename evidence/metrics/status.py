"""How far a number can be relied on: decided by code from closed codes, and never raised by anybody.

`resolved` is earned: everything is there, it adds up, nothing is open. `partial` says what is missing from a number
that holds as far as it goes. `unresolved` has no number at all, for one that rests on nothing is not small: it is not
known. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from evidence.metrics.exact import shown


class Status(StrEnum):
    RESOLVED = "resolved"
    PARTIAL = "partial"
    UNRESOLVED = "unresolved"


class Code(StrEnum):
    """Why a number is not resolved. Never renamed: answers that carry them are hashed."""

    STILL_OPEN = "still_open"
    GAP = "gap"  # of a series, or of the time that has to be covered
    RESIDUAL = "residual"
    OVERLAP = "overlap"
    WITHOUT_REASON = "without_reason"
    WIDE_BOUNDS = "wide_bounds"
    EXTENDED = "extended"  # what was compared is used where nothing was there to compare with

    NO_ROWS = "no_rows"
    ZERO_DENOMINATOR = "zero_denominator"
    HISTORY_MISSING = "history_missing"
    ROW_LIMIT = "row_limit"
    STALE_REPLICA = "stale_replica"
    READ_FAILED = "read_failed"
    UNKNOWN_VALUE = "unknown_value"
    UNIT_MISMATCH = "unit_mismatch"
    NO_PRICE = "no_price"
    UNREADABLE = "unreadable"
    CONTRADICTION = "contradiction"
    TOO_LONG = "too_long"  # to be written out exactly, and nothing is rounded instead
    NOT_LISTED = "not_listed"  # condition 1 of a counterfactual, and so on
    NOT_HELD = "not_held"
    IDENTITY_FAILED = "identity_failed"
    FIDELITY_FAILED = "fidelity_failed"
    UNBOUNDED = "unbounded"
    NO_DATA = "no_data"
    NO_INTERVAL = "no_interval"
    FACTUAL_NOT_RESOLVED = "factual_not_resolved"


PARTIAL = frozenset({
    Code.STILL_OPEN, Code.GAP, Code.RESIDUAL, Code.OVERLAP, Code.WITHOUT_REASON, Code.WIDE_BOUNDS, Code.EXTENDED,
})  # fmt: skip
UNRESOLVED = frozenset(Code) - PARTIAL


@dataclass(frozen=True)
class Reason:
    """One code with its parameters: names and texts, never a sentence. The sentence is the page's."""

    code: Code
    parameters: tuple[tuple[str, str], ...] = ()


def because(code: Code, /, **parameters: str | int | Fraction) -> Reason:
    """The reason with its parameters, numbers written exactly."""
    return Reason(code, tuple((key, _text(value)) for key, value in sorted(parameters.items())))


def _text(value: str | int | Fraction) -> str:
    if not isinstance(value, Fraction):
        return str(value)
    number = shown(value)
    return number.fraction or f"{number.value:f}"


@dataclass(frozen=True)
class Standing:
    """A value as it may be shown. Only `settle` makes one."""

    status: Status
    value: Fraction | None
    reasons: tuple[Reason, ...]


def settle(
    value: Fraction | None,
    reasons: Iterable[Reason],
    *,
    residual: Fraction = Fraction(0),
    raised: frozenset[Code] = frozenset(),
) -> Standing:
    """The standing of a value that came with these reasons. A residual is a reason by itself.

    `raised` are codes that a metric's null policy takes as unresolved. Raises ValueError for a missing value that
    nobody gave a reason for: that is a fault of the program, and no story is made up for it.
    """
    found = tuple(dict.fromkeys([*reasons, *([because(Code.RESIDUAL, amount=residual)] if residual else [])]))
    if any(reason.code in UNRESOLVED | raised for reason in found):
        return Standing(Status.UNRESOLVED, None, found)
    if value is None:
        raise ValueError("A value is missing and no reason says why.")
    return Standing(Status.PARTIAL if found else Status.RESOLVED, value, found)
