from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.writes import parameters
from gate.writes.errors import Unfit

TAKEN = [
    ("bigint", "9223372036854775807"), ("bigint", "-5"), ("integer", "0"), ("numeric", "250.00"), ("numeric", "-0.5"),
    ("text", ""), ("text", "Ünïcode ✓"), ("boolean", "true"), ("timestamptz", "2026-11-29T10:35:00Z"),
    ("timestamptz", "2026-11-29 10:35+01:00"), ("date", "2024-02-29"), ("jsonb", '{"a": [1.50, null]}'),
    ("uuid", "0199f3a2-0000-7000-8000-0000000000c2"), ("text", None), ("bigint", None),
]  # fmt: skip
REFUSED = [
    ("bigint", "9223372036854775808"), ("bigint", "1.0"), ("bigint", "+1"), ("bigint", " 1"), ("bigint", "01"),
    ("bigint", "1e3"), ("bigint", "٣"), ("integer", "2147483648"), ("numeric", "NaN"), ("numeric", "1e400"),
    ("numeric", "1,5"), ("boolean", "t"), ("boolean", "True"), ("timestamptz", "2026-11-29T10:35:00"),
    ("timestamptz", "now"), ("timestamptz", "2026-13-01T00:00:00Z"), ("date", "2023-02-29"), ("date", "20240229"),
    ("uuid", "0199F3A2-0000-7000-8000-0000000000C2"), ("uuid", "x"), ("jsonb", "{"), ("jsonb", "NaN"),
    ("jsonb", "[" * 9_000), ("text", "a\u202eb"), ("text", "a\nb"), ("text", "a" * 10_001), ("money", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), TAKEN)
def test_a_value_of_its_type_is_kept_as_the_text_it_is(name: str, value: str | None) -> None:
    assert parameters.as_json(parameters.read([{"t": name, "v": value}])) == [{"t": name, "v": value}]


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_value_that_is_not_of_its_type_is_refused(name: str, value: str) -> None:
    with pytest.raises(Unfit, match=r"Parameter \$1"):
        parameters.read([{"t": name, "v": value}])


@pytest.mark.parametrize("value", [1, 1.5, True, ["a"], {"a": 1}])
def test_a_json_number_is_refused_however_it_is_typed(value: Any) -> None:
    with pytest.raises(Unfit, match="may be rounded"):
        parameters.read([{"t": "numeric", "v": value}])


@pytest.mark.parametrize(
    "given_", [None, "text", {"t": "text", "v": "a"}, [["text", "a"]], [{"t": "text"}],
               [{"t": "text", "v": "a", "x": 1}],
               [{"t": ["text"], "v": "a"}], [{"t": "text", "v": "a"}] * 101],
)  # fmt: skip
def test_anything_but_a_list_of_typed_values_is_refused(given_: Any) -> None:
    with pytest.raises(Unfit):
        parameters.read(given_)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["t", "v", "x"]), inner, max_size=3),
    max_leaves=6,
)


@given(anything)
def test_any_json_is_taken_or_refused_with_a_sentence(given_: Any) -> None:
    sentence = "."
    try:
        parameters.read(given_)
    except Unfit as refusal:
        sentence = str(refusal)
    assert sentence.endswith(".")
