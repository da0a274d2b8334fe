"""The finer measure's units and facts, each with its place in the text."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.survival.atoms import atoms_of
from evidence.survival.fields import for_browser, sha256_of
from evidence.survival.json_leaves import leaves_of
from evidence.survival.pieces import pieces_of, tokens_of

CUT: list[tuple[str, list[tuple[str, str]]]] = [
    ("It failed. It was retried!", [("sentence", "It failed."), ("sentence", "It was retried!")]),
    ("次の文！日本語です。", [("sentence", "次の文！"), ("sentence", "日本語です。")]),
    ("Took 3.5 s at v1.2.", [("sentence", "Took 3.5 s at v1.2.")]),
    ("- one thing\n2. another", [("item", "one thing"), ("item", "another")]),
    ("| a | b |\n|---|---|", [("row", "| a | b |")]),
    ("NAME   READY   AGE", [("row", "NAME   READY   AGE")]),
    (
        "2026-01-01 10:00:00 INFO Done. Next.\nWARN late. Again.",
        [("log", "2026-01-01 10:00:00 INFO Done. Next."), ("log", "WARN late. Again.")],
    ),
    ("", []),
    ("\n --- \n", []),
]


@pytest.mark.parametrize(("text", "pieces"), CUT)
def test_a_text_is_cut_where_its_kind_says(text: str, pieces: list[tuple[str, str]]) -> None:
    assert [(piece.kind, text[piece.start : piece.end]) for piece in pieces_of(text)] == pieces


def test_json_is_cut_into_its_leaves() -> None:
    text = '{"a": [1, {"b/c~": "x\\"y"}], "": null, "e": "", "f": -2.5e3, "g": {}}'
    found = [(piece.path, text[piece.start : piece.end]) for piece in pieces_of(text)]
    assert found == [("/a/0", "1"), ("/a/1/b~1c~0", 'x\\"y'), ("/", "null"), ("/f", "-2.5e3")]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def at(value: Any, pointer: str) -> Any:
    for name in pointer.split("/")[1:]:
        name = name.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


@given(st.lists(VALUES) | st.dictionaries(st.text(), VALUES), st.sampled_from([None, 2]), st.booleans())
def test_every_leaf_of_any_json_is_found_where_it_stands(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    for leaf in leaves_of(text) or ():
        written = text[leaf.start : leaf.end]
        quoted = text[leaf.start - 1] == '"' and text[leaf.end : leaf.end + 1] == '"'
        assert json.loads(f'"{written}"' if quoted else written) == at(value, leaf.pointer)


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 500 + "]" * 500, "{", "[1] x", '"text"', "7", ""])
def test_what_is_no_json_or_too_deep_has_no_leaves(text: str) -> None:
    assert leaves_of(text) is None
    pieces_of(text)


@given(st.text())
def test_pieces_and_words_stand_in_order_and_inside_their_text(text: str) -> None:
    end = 0
    for piece in pieces_of(text):
        assert end <= piece.start < piece.end <= len(text)
        end = piece.end
        assert all(piece.start <= token.start < token.end <= piece.end for token in tokens_of(text, *piece[1:3]))
        assert all(piece.start <= atom.start < atom.end <= piece.end for atom in atoms_of(text, *piece[1:3]))


def test_words_of_unspaced_scripts_are_pairs() -> None:
    assert [token.word for token in tokens_of("日本語 te2xt cafe\u0301")] == ["日本", "本語", "te2xt", "café"]


# A text and the kind and value of its facts; numbers are in their base unit.
FACTS: list[tuple[str, list[tuple[str, str]]]] = [
    ("took ~28 seconds", [("number", "28 time")]),
    ("30000ms, 30-second, 0.5 min", [("number", "30 time")] * 3),
    ("2.1GB/min and 35MB/s", [("number", "35000000 bytes/time")] * 2),
    ("523-578ms", [("number", "523"), ("number", "289/500 time")]),
    ("50% or 0.5", [("number", "1/2 share"), ("number", "1/2")]),
    ("1,234 and 1234.0", [("number", "1234"), ("number", "1234")]),
    ("at -5, 3-4", [("number", "-5"), ("number", "3"), ("number", "4")]),
    ("$17,021.50 or 20 EUR", [("money", "34043/2 USD"), ("money", "20 EUR")]),
    ("2026-03-04T09:12:01Z 09:12", [("moment", "2026-03-04 09:12:01"), ("clock", "09:12")]),
    ("10.244.5.23:8080", [("ip", "10.244.5.23"), ("number", "8080")]),
    ("https://api.example.com/v1/jobs", [("host", "api.example.com"), ("path", "/v1/jobs")]),
    ("see /var/log/app.log.", [("path", "/var/log/app.log")]),
    ("f9e8d7c6b5 worker-node-05 v1.2.3", [("hash", "f9e8d7c6b5"), ("id", "worker-node-05"), ("id", "v1.2.3")]),
    ("user_id DB_TIMEOUT=3", [("id", "user_id"), ("id", "db_timeout"), ("number", "3")]),
    ("3F2504E0-4F89-11D3-9A0C-0305E82C3301", [("uuid", "3f2504e0-4f89-11d3-9a0c-0305e82c3301")]),
    ("nothing to see", []),
]


@pytest.mark.parametrize(("text", "facts"), FACTS)
def test_facts_are_typed(text: str, facts: list[tuple[str, str]]) -> None:
    assert [(atom.kind, atom.value) for atom in atoms_of(text)] == facts


def test_the_name_of_a_field_states_a_unit() -> None:
    assert [atom.value for atom in atoms_of("4200", field="took_ms")] == ["21/5 time"]


@given(st.text(), st.data())
def test_a_browser_finds_the_same_span(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    units = text.encode("utf-16-le", "surrogatepass")
    first, last = for_browser(text, start, end)
    assert units[2 * first : 2 * last] == text[start:end].encode("utf-16-le", "surrogatepass")


def test_any_text_has_a_hash() -> None:
    assert sha256_of("\ud800") != sha256_of("")


# What would take a careless pattern, or a careless number, minutes.
LONG = [
    "a-",
    "a.",
    "1,",
    "/",
    "/a",
    "0",
    "-",
    "1-",
    "a_",
    "1.",
    "a1",
    " ",
    "\n",
    ". ",
    "| ",
    "$",
    "日",
    "e\u0301",
    "1:",
]


@pytest.mark.parametrize("text", [*(sign * 30_000 for sign in LONG), "9" * 9_999 + "e99999999 ms", "1e99999999"])
def test_long_texts_without_facts_take_no_longer(text: str) -> None:
    began = time.process_time()
    for piece in pieces_of(text):
        list(atoms_of(text, piece.start, piece.end))
        list(tokens_of(text, piece.start, piece.end))
    assert time.process_time() - began < 3
