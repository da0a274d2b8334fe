"""The sentences of the codes: what pages say where an answer says `gap` or `no_rows`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evidence.metrics.status import Code, Status
from evidence.metrics.units import CURRENCIES

SENTENCES: Mapping[Code, str] = {
    Code.STILL_OPEN: "Something is still open: more may come of it.",
    Code.GAP: "Nothing was recorded for a part of it. The gap is not filled.",
    Code.RESIDUAL: "The components do not add up to the value. What is left over is shown, not spread over them.",
    Code.OVERLAP: "Two records claim the same time.",
    Code.WITHOUT_REASON: "For a part of the time nothing recorded says why.",
    Code.WIDE_BOUNDS: "What the model leaves out may move the value inside its bounds.",
    Code.EXTENDED: "It reaches beyond what there was to compare with.",
    Code.NO_ROWS: "No row was there. That is not known, and it is not 0.",
    Code.ZERO_DENOMINATOR: "Nothing was counted, so there is no ratio: 0/0 is not 0.",
    Code.HISTORY_MISSING: "The history that it needs does not reach back so far.",
    Code.ROW_LIMIT: "The read met its limit of rows. What was cut off is not a smaller number.",
    Code.STALE_REPLICA: "The replica that answered was too far behind.",
    Code.READ_FAILED: "The read failed, and it was not tried again.",
    Code.UNKNOWN_VALUE: "A row holds a value that the metric does not know.",
    Code.UNIT_MISMATCH: "A row is in a unit that cannot be added to the metric’s.",
    Code.NO_PRICE: "The valuation has no price for it.",
    Code.UNREADABLE: "A row cannot be read.",
    Code.CONTRADICTION: "Rows contradict each other.",
    Code.TOO_LONG: "It has too many digits to be written out exactly, and it is not rounded.",
    Code.NOT_LISTED: "Condition 1: this may not be set, or not to this value.",
    Code.NOT_HELD: "Condition 2: the metric does not say what is held fixed.",
    Code.IDENTITY_FAILED: "Condition 3: set to what it was, the model does not give the value that was.",
    Code.FIDELITY_FAILED: "Condition 4: the model does not give back what was recorded within its tolerance.",
    Code.UNBOUNDED: "Condition 5: nothing bounds what the model leaves out.",
    Code.NO_DATA: "Condition 6: what it would need was never recorded. Nothing is extrapolated.",
    Code.NO_INTERVAL: "Condition 7: a share of a sample came without its interval.",
    Code.FACTUAL_NOT_RESOLVED: "The value that it would be compared with is not known itself.",
}
MARKS: Mapping[Status, tuple[str, str]] = {
    Status.RESOLVED: ("state--ok", "✓"),
    Status.PARTIAL: ("state--wait", "◐"),
    Status.UNRESOLVED: ("state--wait", "?"),
}
MEANINGS: Mapping[Status, str] = {
    Status.RESOLVED: "everything is there, it adds up, and nothing is open",
    Status.PARTIAL: "the value holds as far as it goes; what is missing is named",
    Status.UNRESOLVED: "it is not known, and no number stands for that",
}
# What a null policy's keys speak of.
OCCASIONS: Mapping[str, str] = {
    "no_rows": "no row is there",
    "still_open": "something is still open",
    "zero_denominator": "nothing was counted",
}
UNIT_WORDS = {"slot_s": "slot-seconds", "slot_min": "slot-minutes", "slot_h": "slot-hours", "times": "×"}
CENTS = frozenset({"EUR", "USD", "CAD", "AUD", "NZD", "ZAR"})  # whose hundredth is called so


def sentence(code: str) -> str:
    """What a code says. Raises ValueError for a code that is none: nothing is said for it instead."""
    return SENTENCES[Code(code)]


def details(parameters: Mapping[str, Any]) -> str:
    """The parameters of a reason: entity j4, kind slot_idle, seconds 30. The number of a condition is said already."""
    return ", ".join(
        f"{key.replace('_', ' ')} {value}" for key, value in sorted(parameters.items()) if key != "condition"
    )


def unit_words(name: str) -> str:
    """A unit as people write it: EUR cents, slot-seconds."""
    currency, _, minor = name.partition("_")
    if minor == "minor" and currency in CURRENCIES:
        return f"{currency} cents" if currency in CENTS else f"minor units of {currency}"
    return UNIT_WORDS.get(name, name)
