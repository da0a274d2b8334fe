"""A value has exactly the wanted type, or it is unreadable; and what was read is remembered."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.triage.readers.document import Document, Unreadable, pointer, shown, storable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8,
)  # fmt: skip
READS: dict[str, tuple[Callable[[Document], Any], tuple[type, ...]]] = {
    "integer": (lambda d: d.integer("x"), (int,)),
    "text": (lambda d: d.text("x"), (str,)),
    "text_or_null": (lambda d: d.text_or_null("x"), (str, type(None))),
    "flag": (lambda d: d.flag("x"), (bool,)),
}


@pytest.mark.parametrize("name", sorted(READS))
@given(value=JSON)
def test_a_reader_gives_the_very_value_or_nothing(name: str, value: Any) -> None:
    read, types = READS[name]
    document = Document({"x": value})
    if type(value) in types:
        assert read(document) == value
    else:
        with pytest.raises(Unreadable, match="`x` is "):
            read(document)
    assert set(document.read) == {"/x"}


@pytest.mark.parametrize("name", sorted(READS))
def test_what_is_not_there_is_absent_and_not_null(name: str) -> None:
    document = Document({"y": None})
    with pytest.raises(Unreadable, match="`x` is not in the result"):
        READS[name][0](document)
    assert (document.read, document.absent) == ({}, {"/x"})


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-29T02:15:34", "2026-11-29", "2026-11-29 02:15:34Z", "1795933200", "２０２６-11-29T02:15:34Z",
        "2026-11-29T02:15:34Z ", "2026-13-29T02:15:34Z", "2026-11-29T02:15:34+25:00", "0001-01-01T00:00:00+10:00",
        3, None,
    ],
)  # fmt: skip
def test_what_names_no_moment_is_no_moment(written: Any) -> None:
    with pytest.raises(Unreadable):
        Document({"at": written}).moment("at")


def test_one_moment_in_two_zones_is_one_moment() -> None:
    document = Document({"a": "2026-11-29T02:15:34Z", "b": "2026-11-29T03:15:34+01:00"})
    assert document.moment("a") == document.moment("b")


def test_a_path_that_breaks_off_names_where() -> None:
    document = Document({"job": None, "refunds": [{}]})
    with pytest.raises(Unreadable, match="`job` is null, not an object"):
        document.text("job", "state")
    with pytest.raises(Unreadable, match=r"`refunds\[1\]` is not in the result"):
        document.text("refunds", 1, "status")
    with pytest.raises(Unreadable, match=r"`refunds\[0\].status` is not in the result"):
        document.text("refunds", 0, "status")
    assert document.absent == {"/refunds/1", "/refunds/0/status"}


def test_an_index_is_not_a_key_and_a_negative_one_is_not_there() -> None:
    with pytest.raises(Unreadable):
        Document({"x": {"0": 1}}).integer("x", 0)
    with pytest.raises(Unreadable):
        Document({"x": [1]}).integer("x", -1)


def test_pointers_are_those_of_the_rfc() -> None:
    assert pointer(("a/b", "m~n", 0)) == "/a~1b/m~0n/0"


@given(value=JSON | st.decimals())
def test_whatever_was_seen_can_be_shown_and_stored(value: Any) -> None:
    text = shown(value)
    assert len(text) <= 1000
    assert "\0" not in text
    text.encode("utf-8")


def test_numbers_are_shown_as_they_are() -> None:
    assert (shown(Decimal("0.10")), shown(0), shown(True), shown("a"), shown([1, 2])) == (
        "0.10", "0", "true", '"a"', "a list of 2",
    )  # fmt: skip
    assert storable("\ud800\0") == "\\ud800\\u0000"
