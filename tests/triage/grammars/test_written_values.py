"""Times and sizes that tools write as text are read whole or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from gate.triage.grammars import lvm, zoned_times
from gate.triage.readers.document import Unreadable

MOMENT = datetime(2017, 1, 31, 17, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2017-01-31T17:20:00Z", "2017-01-31 17:20:00 +0000", "2017-01-31 17:20:00+00", "2017-01-31 18:20:00.000+01:00",
        "2017-01-31T12:20:00-0500",
    ],
)  # fmt: skip
def test_one_moment_has_many_spellings(text: str) -> None:
    assert zoned_times.parse(text) == MOMENT


@pytest.mark.parametrize(
    "text",
    [
        "", "2017-01-31", "2017-01-31 17:20:00", "2017-01-31 17:20 +0000", "2017-02-30 17:20:00 +0000", "1485883200",
        "2017-01-31 17:20:00 CET", "2017-01-31 17:20:00 +9900",
        "２０１７-01-31 17:20:00 +0000", "2017-01-31 17:20:00 +0000 ",
    ],
)  # fmt: skip
def test_what_names_no_moment_is_no_moment(text: str) -> None:
    with pytest.raises(Unreadable):
        zoned_times.parse(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("1k", 1024), ("1K", 1000), ("310g", 310 * 2**30), ("<0.50m", 2**19), ("0b", 0), ("1.5T", 1_500_000_000_000)],
)
def test_a_size_counts_bytes(text: str, size: int) -> None:
    assert lvm.size(text) == Decimal(size)


@pytest.mark.parametrize("text", ["", "310", "g", "-1g", "1,5g", "1e3g", "310 g", "310gb", ">1g", "８g", "10s"])
def test_what_says_no_size_is_no_size(text: str) -> None:
    with pytest.raises(Unreadable):
        lvm.size(text)


@pytest.mark.parametrize(
    ("attributes", "is_good"),
    [("swi-a-s---", True), ("swi---s---", True), ("Vwi-aotz--", True), ("swi-I-s---", False), ("swi-S-s---", False),
     ("Swi-a-s---", False), ("owi-aos---", False), ("-wi-ao----", False), ("swi-s-s---", False)],
)  # fmt: skip
def test_attributes_say_whether_a_snapshot_holds_what_it_held(attributes: str, is_good: bool) -> None:
    assert lvm.is_good_snapshot(attributes) is is_good
