from __future__ import annotations

import copy
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from audit import canonical
from gate.writes import digests

images = st.dictionaries(st.text(max_size=3), st.none() | st.text(max_size=4), max_size=3)
rows = st.fixed_dictionaries({"key": st.just({}), "before": st.none() | images, "after": st.none() | images})


@given(st.lists(rows, max_size=4))
def test_an_effect_does_not_depend_on_the_order_of_rows(some: list[Any]) -> None:
    assert digests.of_effect(some, []) == digests.of_effect(some[::-1], [])


@given(st.lists(rows, min_size=1, max_size=3), st.data())
def test_every_value_of_a_row_counts(some: list[Any], data: Any) -> None:
    changed = copy.deepcopy(some)
    row = data.draw(st.sampled_from(changed))
    side = data.draw(st.sampled_from(["before", "after"]))
    row[side] = None if row[side] is not None else {"a": "b"}
    assert digests.of_effect(some, []) != digests.of_effect(changed, [])


def test_null_and_the_word_null_and_a_number_and_its_text_are_apart() -> None:
    made = {
        digests.of_effect([{"before": {"a": value}, "after": None}], []) for value in (None, "null", "1", "1.0", "")
    }
    assert len(made) == 5


def test_a_volatile_column_counts_before_but_not_after() -> None:
    def effect(before: str, after: str) -> str:
        return digests.of_effect([{"before": {"at": before}, "after": {"at": after}}], ["at"])

    assert effect("1", "2") == effect("1", "3")
    assert effect("1", "2") != effect("0", "2")


def test_a_row_more_is_another_effect() -> None:
    row = {"before": {"a": "1"}, "after": None}
    assert digests.of_effect([row], []) != digests.of_effect([row, row], [])


@pytest.mark.parametrize(
    "changed", ["proposal", "effect", "rows", "row_count", "footprint", "volatile", "blast", "error"]
)
def test_a_preview_is_bound_to_each_of_its_parts(changed: str) -> None:
    parts: dict[str, Any] = {
        "proposal": "a", "effect": "b", "rows": [{"key": {"a": "1"}, "columns": ["a"]}], "row_count": 1,
        "footprint": {"t": [0, 1, 0]}, "volatile": ["c"], "blast": [], "error": "",
    }  # fmt: skip
    other = {
        "rows": [{"key": {"a": "2"}, "columns": ["a"]}],
        "row_count": 2,
        "footprint": {"t": [1, 0, 0]},
        "volatile": [],
        "blast": [{"table": "u", "why": "", "volatile": [], "rows": [{"before": {"a": "1"}, "after": None}]}],
    }.get(changed, "else")
    assert digests.of_preview(**parts) != digests.of_preview(**{**parts, changed: other})


@given(st.dictionaries(st.sampled_from(["decision", "$1 value", "nonce"]), st.none() | st.text(max_size=8)))
def test_the_hashed_record_is_rfc_8785(record: dict[str, str | None]) -> None:
    assert canonical.header_bytes(record) == rfc8785.dumps(record)  # type: ignore[arg-type]


def test_each_digest_has_a_domain_of_its_own() -> None:
    tags = (digests.PROPOSAL_TAG, digests.EFFECT_TAG, digests.PREVIEW_TAG, digests.APPROVAL_TAG)
    assert len(set(tags)) == 4
    assert all(tag.endswith(b"/v1\0") for tag in tags)
