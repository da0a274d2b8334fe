"""No character that cannot be seen leaves, what is written out can be read back, and plain text stays as it is."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence import escaping
from evidence.escaping import escaped, read_back, shown

# Every character that there is, and often those that hide.
HIDING = (
    "\0\x1b\x85\u00ad\u061c\u180e\u200b\u200d\u200f\u2028\u202e\u2066\u3164\ufe00\ufe0f\ufeff\ud800\U000e0041\U000e0101"
)
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from(HIDING + "⟦U+0⟧\r\n\t❤")), max_size=40)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.none(), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=10,
)


def hides(character: str) -> bool:
    """Said by Unicode's categories, which the code does not ask."""
    if character in "\t\n":
        return False
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or 0xE0000 <= ord(character) <= 0xE0FFF


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts(part)]
    if isinstance(value, list):
        return [text for child in value for text in texts(child)]
    return [value] if isinstance(value, str) else []


@given(TEXTS)
def test_what_hides_is_written_out_and_reads_back(text: str) -> None:
    told = shown(text)
    assert not [one for one in told.replace("\r\n", "\n") if hides(one)]
    assert read_back(told) == text
    told.encode()  # no half pair of surrogates is left
    assert (escaping.MARK in told) == (told != text)


@given(TEXTS, TEXTS)
def test_texts_that_differ_still_do(one: str, other: str) -> None:
    assert (shown(one) == shown(other)) == (one == other)


@given(VALUES)
def test_a_value_keeps_its_shape_and_loses_no_key(value: Any) -> None:
    told = escaped(value)
    assert list(map(read_back, texts(told))) == texts(value)
    assert json.loads(json.dumps(told)) == told


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "line\nline\r\n\tend",
        "Grüße, 日本語, עברית, العربية",
        "⟦a⟧",
        "❤\ufe0f 3.5 °C",
        "C:\\new \\u202e",
        "a b",
    ],
)
def test_ordinary_texts_stay(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("user\u202etxt.exe", "user⟦U+202E⟧txt.exe"),
        ("pass\u200bword", "pass⟦U+200B⟧word"),
        ("\x1b[2J", "⟦U+001B⟧[2J"),
        ("done\rfail", "done⟦U+000D⟧fail"),
        ("\U000e0069\U000e0067", "⟦U+E0069⟧⟦U+E0067⟧"),
        ("❤\ufe0f\ufe0f\U000e0110", "❤\ufe0f⟦U+FE0F⟧⟦U+E0110⟧"),
        ("a\ufe01\ufe0f", "a⟦U+FE01⟧⟦U+FE0F⟧"),
        ("\ud83d", "⟦U+D83D⟧"),
        ("\0", "⟦U+0000⟧"),
        ("⟦U+202E⟧", "⟦U+27E6⟧U+202E⟧"),
    ],
)
def test_what_hides_is_named(text: str, told: str) -> None:
    assert shown(text) == told


def test_every_format_character_is_written_out_but_those_that_are_seen() -> None:
    # Numbers and verses signs that enclose what follows have a shape of their own.
    seen = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}
    kept = [
        code for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf" and shown(chr(code)) == chr(code)
    ]
    assert set(kept) <= seen
