"""Traces as pages show them: events in their order, and the gaps and the cut end as lines of their own. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from evidence.metrics import amounts
from evidence.metrics.reading_parts import provenance, standing

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Item:
    """One line of a trace."""

    kind: str  # "event", "gap" or "cut"
    at: datetime | None = None
    seconds: str = ""  # where it is no moment of the calendar
    recorded_at: datetime | None = None
    what: str = ""
    actor: str | None = None
    row: str = ""
    is_new_day: bool = False
    is_at_same_time: bool = False
    since: int = 0
    until: int = 0
    rows: int = 0


class Traced:
    """An answer of trace_entity or trace_event."""

    kind = "traced"

    def __init__(self, result: Mapping[str, Any]) -> None:
        """Reads all of it at once. Raises ValueError for what is no such answer."""
        try:
            self.standing = standing(result)
            self.items = _items(result["items"])
            self.provenance = provenance(result)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("This is no answer of a trace.") from error


def _items(said: Sequence[Mapping[str, Any]]) -> list[Item]:
    items: list[Item] = []
    last: Fraction | None = None
    day = None
    for one in said:
        if one["item"] == "gap":
            items.append(Item("gap", since=one["since"], until=one["until"]))
        elif one["item"] == "cut":
            until = amounts.of(one, "until")
            items.append(Item("cut", moment(until.number) if until else None, rows=one["rows"]))
        else:
            number = _seconds(one, "at")
            at = moment(number)
            items.append(_event(one, number, at, is_same=number == last, is_new=at is None or at.date() != day))
            last, day = number, at.date() if at else None
    return items


def _event(said: Mapping[str, Any], number: Fraction, at: datetime | None, *, is_same: bool, is_new: bool) -> Item:
    return Item(
        "event", at, "" if at else f"{amounts.made(number).text} s", moment(_seconds(said, "recorded_at")),
        said["what"], said["actor"], f"{said['relation']} {said['id']}", is_new, is_same,
    )  # fmt: skip


def _seconds(said: Mapping[str, Any], key: str) -> Fraction:
    found = amounts.of(said, key)
    if found is None:
        raise ValueError("An event has a time, or it is none.")
    return found.number


def moment(seconds: Fraction) -> datetime | None:
    """The moment that is so many seconds after 1970; None for one that no calendar here has."""
    try:
        return EPOCH + timedelta(microseconds=round(seconds * 1_000_000))
    except OverflowError:
        return None
