import hashlib

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from audit import canonical

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
ASCII = st.text(st.characters(max_codepoint=127))
INTEGERS = st.integers(-canonical.LARGEST_INTEGER, canonical.LARGEST_INTEGER)


@given(st.dictionaries(ASCII, TEXT | INTEGERS | st.booleans() | st.none()))
def test_the_header_is_canonical_as_rfc_8785_says(header) -> None:
    assert canonical.header_bytes(header) == rfc8785.dumps(header)


@pytest.mark.parametrize("value", [1.0, 1e300, [], {}, b"x", ("a",)])
def test_what_the_libraries_disagree_about_is_refused(value) -> None:
    with pytest.raises(TypeError, match="only text, integers, booleans and null"):
        canonical.header_bytes({"a": value})


@pytest.mark.parametrize("header", [{"a": 2**53}, {"a": -(2**53)}, {"ä": 1}, {"a": "\ud800"}])
def test_numbers_keys_and_text_without_a_common_form_are_refused(header) -> None:
    with pytest.raises(ValueError):
        canonical.header_bytes(header)


def test_the_tags_keep_entries_and_payloads_apart() -> None:
    assert canonical.entry_digest({}) == hashlib.sha256(b"audit-entry/v1\0{}").digest()
    assert canonical.commitment(b"s" * 16, b"{}") == hashlib.sha256(b"audit-payload/v1\0" + b"s" * 16 + b"{}").digest()


def test_a_salt_has_sixteen_bytes() -> None:
    with pytest.raises(ValueError):
        canonical.commitment(b"", b"{}")
