"""Strict reading: exactly the wanted type, every digit kept, nothing guessed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.triage.grammars import conditions
from gate.triage.readers.document import Document, Unreadable
from gate.triage.recorded_cases import load


def read(value: Any, getter: str) -> Any:
    return getattr(Document({"x": value}), getter)("x")


NUMBERS = [1, 0, -7, Decimal("0.05"), Decimal("1E+3"), 10**30]
NO_NUMBERS = [True, False, None, "1", 1.0, 0.0, float("nan"), Decimal("NaN"), Decimal("Infinity"), Decimal("-0"),
              Decimal("-0.00"), Decimal("1E+400"), Decimal("1E-400"), Decimal("9" * 61), 10**60, [], {}]  # fmt: skip
TEXT_NUMBERS = {"0": 0, "1.8": Decimal("1.8"), "1e-05": Decimal("0.00001"), "1.5e+09": Decimal(1500000000), "-3": -3}
NO_TEXT_NUMBERS = ["", " 1", "1 ", "+1", "1,5", "NaN", "+Inf", "Inf", "-0", "-0.0", "1e400", "1e4000", "٣", "１", "0x1",
                   "1_000", "1.", ".5", "--1", "1e", "0\n", 1, 1.0, None, True]  # fmt: skip
NO_COUNTS = ["", "00", "01", "-1", "+1", "1.0", "1e3", " 1", "1\n", "１", "1" * 19, 1, None, True]


@pytest.mark.parametrize("value", NUMBERS, ids=str)
def test_a_number_is_read_with_all_its_digits(value: Any) -> None:
    assert read(value, "number") == value
    assert type(read(value, "number")) is Decimal


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_is_no_finite_number_is_unreadable(value: Any) -> None:
    for getter in ("number", "whole", "unix_seconds"):
        with pytest.raises(Unreadable):
            read(value, getter)


@pytest.mark.parametrize(("value", "number"), TEXT_NUMBERS.items())
def test_a_number_written_as_text_is_read_where_the_tool_writes_it_so(value: str, number: Any) -> None:
    assert read(value, "decimal_text") == number
    with pytest.raises(Unreadable):
        read(value, "number")


@pytest.mark.parametrize("value", NO_TEXT_NUMBERS, ids=repr)
def test_other_text_is_no_number(value: Any) -> None:
    with pytest.raises(Unreadable):
        read(value, "decimal_text")


@pytest.mark.parametrize("value", NO_COUNTS, ids=repr)
def test_other_text_is_no_count(value: Any) -> None:
    assert read("0", "count_text") == 0
    assert read("18231", "count_text") == 18231
    with pytest.raises(Unreadable):
        read(value, "count_text")


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert read(Decimal("18231.0"), "whole") == 18231
    assert type(read(Decimal("18231.0"), "whole")) is int
    with pytest.raises(Unreadable):
        read(Decimal("18231.5"), "whole")
    with pytest.raises(Unreadable):
        read(Decimal("18231.0"), "integer")


@pytest.mark.parametrize("value", [1, 0, "true", None, "", []])
def test_only_true_and_false_are_flags(value: Any) -> None:
    with pytest.raises(Unreadable):
        read(value, "flag")


MOMENT = datetime(2025, 8, 23, 12, 32, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    ("getter", "value"),
    [
        ("moment", "2025-08-23T12:32:40Z"),
        ("moment", "2025-08-23T14:32:40+02:00"),
        ("moment", "2025-08-23T12:32:40.000000000Z"),
        ("unix_seconds", 1755952360),
        ("unix_seconds", Decimal("1755952360.0")),
        ("unix_millis", 1755952360000),
        ("unix_nanos_text", "1755952360000000000"),
    ],
)
def test_one_moment_in_every_spelling(getter: str, value: Any) -> None:
    assert read(value, getter) == MOMENT


@pytest.mark.parametrize(
    ("getter", "value"),
    [
        ("moment", "2025-08-23T12:32:40"),
        ("moment", "2025-08-23 12:32:40Z"),
        ("moment", "2025-13-23T12:32:40Z"),
        ("moment", "2025-08-23T12:32:40Z "),
        ("moment", "２025-08-23T12:32:40Z"),
        ("moment", 1755952360),
        ("unix_seconds", "1755952360"),
        ("unix_seconds", 10**15),
        ("unix_seconds", -(10**15)),
        ("unix_millis", "1755952360000"),
        ("unix_nanos_text", 1755952360000000000),
        ("unix_nanos_text", "-1"),
        ("unix_nanos_text", "1755952360000000000 "),
    ],
)
def test_what_names_no_moment_is_unreadable(getter: str, value: Any) -> None:
    with pytest.raises(Unreadable):
        read(value, getter)


def test_milliseconds_read_as_seconds_are_another_moment_or_none() -> None:
    with pytest.raises(Unreadable):
        read(1755952360000000, "unix_seconds")
    assert read(1755952360, "unix_millis") != MOMENT


@pytest.mark.parametrize("getter", ["text", "text_or_null"])
def test_a_masked_text_says_nothing(getter: str) -> None:
    with pytest.raises(Unreadable, match="masked"):
        read("[masked: bearer token]", getter)
    with pytest.raises(Unreadable, match="masked"):
        read("user [masked: password] host", getter)


def test_a_key_that_is_left_out_is_told_from_one_that_is_null() -> None:
    document = Document({"status": {"failed": None}})
    assert document.has("status", "failed")
    assert document.is_null("status", "failed")
    assert not document.has("status", "succeeded")
    assert document.absent == {"/status/succeeded"}
    for missing in (("spec", "x"), ("status", "failed", "x")):
        with pytest.raises(Unreadable):
            document.has(*missing)
    with pytest.raises(Unreadable):
        document.is_null("status", "succeeded")


def test_labels_are_texts_all_of_them_and_all_read() -> None:
    document = Document({"metric": {"pod": "a", "job/x": "b"}})
    assert document.texts("metric") == {"pod": "a", "job/x": "b"}
    assert set(document.read) == {"/metric", "/metric/pod", "/metric/job~1x"}
    assert document.keys("metric") == {"pod", "job/x"}
    for wrong in ({"pod": 1}, {"pod": None}, ["pod"], None):
        with pytest.raises(Unreadable):
            read(wrong, "texts")


@pytest.mark.parametrize("value", [{}, {"0": 1}, "abc", None, 3])
def test_only_a_list_has_a_length(value: Any) -> None:
    assert read([1, 2], "length") == 2
    with pytest.raises(Unreadable):
        read(value, "length")


GETTERS = ("integer", "number", "whole", "decimal_text", "count_text", "text", "text_or_null", "flag", "moment",
           "unix_seconds", "unix_millis", "unix_nanos_text", "is_null", "texts", "length", "keys")  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=6,
)  # fmt: skip


@given(value=JSON, getter=st.sampled_from(GETTERS))
def test_a_getter_reads_or_says_why_not_and_nothing_else(value: Any, getter: str) -> None:
    document = Document({"x": value})
    reason = raises(lambda: getattr(document, getter)("x"))
    assert reason is None or reason.endswith(".")
    assert "/x" in document.read


@given(digits=st.decimals(allow_nan=False, allow_infinity=False, places=20, min_value=0, max_value=10**6))
def test_no_digit_is_lost_between_a_file_and_a_check(digits: Decimal) -> None:
    text = f"{digits:f}"
    assert read(load(f'{{"x": {text}}}'.encode())["x"], "number") == digits
    assert read(text, "decimal_text") == digits


@given(value=st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000))
def test_a_condition_is_compared_before_any_rounding(value: Decimal) -> None:
    limit = conditions.parse("< 0.05")
    assert limit is not None
    assert limit.is_met_by(value) == (value < Decimal("0.05"))
    assert not limit.is_met_by(Decimal("0.05"))
    assert limit.is_met_by(Decimal("0.04999999999999999999999999"))


@pytest.mark.parametrize(
    "text", ["", "<", "0.05", "<0.05", "< .05", "=< 1", "< 1 ", "< 1e3", "< NaN", "< １", "~ 1", "< 1\n"]
)
def test_what_is_no_condition_is_none(text: str) -> None:
    assert conditions.parse(text) is None


CONDITIONS: list[tuple[str, int, bool]] = [
    ("== 1", 1, True), ("== 1", 0, False), ("!= 1", 0, True), ("!= 1", 1, False), ("<= 1", 1, True), ("<= 1", 2, False),
    (">= 1", 1, True), (">= 1", 0, False), ("> 1", 2, True), ("> 1", 1, False), ("< 1", 0, True), ("< 1", 1, False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "good"), CONDITIONS)
def test_each_operator_means_what_it_says(text: str, value: int, good: bool) -> None:
    condition = conditions.parse(text)
    assert condition is not None
    assert condition.is_met_by(Decimal(value)) is good
    assert str(condition) == text


def raises(work: Callable[[], Any]) -> str | None:
    """Why it is unreadable; None when it was read."""
    try:
        work()
    except Unreadable as unread:
        return unread.why
    return None


def test_steps_into_what_holds_none_are_unreadable() -> None:
    document = Document({"list": [1], "text": "abc"})
    assert raises(lambda: document.integer("list", 1))
    assert raises(lambda: document.integer("list", -1))
    assert raises(lambda: document.integer("list", "0"))
    assert raises(lambda: document.text("text", 0))
    assert document.integer("list", 0) == 1
