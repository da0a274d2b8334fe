import hashlib
import zlib
from decimal import Decimal

import pytest
import simplejson
from hypothesis import given
from hypothesis import strategies as st

from audit import payloads

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False, places=3),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_a_value_comes_back_as_it_was(value) -> None:
    assert payloads.unpack(payloads.pack(value).kept) == value


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | FLOATS,
        lambda inner: (
            st.lists(inner)
            | st.tuples(inner, inner)
            | st.dictionaries(st.text() | st.integers() | st.none() | st.booleans() | FLOATS, inner)
        ),
        max_leaves=20,
    )
)
def test_the_quick_encoder_writes_the_bytes_that_the_exact_one_would(value) -> None:
    exact = simplejson.dumps(value, use_decimal=True, allow_nan=False, separators=(",", ":"))
    assert payloads.pack(value).kept == exact.encode()


@pytest.mark.parametrize("text", ["\0", "\ud800", "a\udfffb", "\U0001f600", "\u2028"])
def test_text_that_jsonb_refuses_survives(text) -> None:
    kept = payloads.pack({text: text}).kept
    assert kept.isascii()
    assert payloads.unpack(kept) == {text: text}


def test_decimals_keep_their_digits() -> None:
    assert payloads.pack(Decimal("28.330")).kept == b"28.330"
    assert str(payloads.unpack(b"28.330")) == "28.330"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), Decimal("NaN"), {float("nan"): 1}])
def test_what_is_no_number_in_json_is_refused(value) -> None:
    with pytest.raises(ValueError):
        payloads.pack(value)


def test_bottomless_nesting_is_refused() -> None:
    value: list = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested too deeply"):
        payloads.pack(value)


def test_a_long_payload_is_cut_before_it_is_hashed_and_says_how_long_it_was() -> None:
    packed = payloads.pack("x" * 300_000)
    assert len(packed.kept) == payloads.LARGEST_PAYLOAD
    assert packed.is_cut
    assert packed.full_length == 300_002
    assert packed.full_sha256 == hashlib.sha256(b'"' + b"x" * 300_000 + b'"').hexdigest()


def test_a_whole_payload_has_no_bare_hash_that_could_be_guessed() -> None:
    assert payloads.pack({"count": 0}).full_sha256 == ""


@given(st.binary(max_size=1000))
def test_compressed_bytes_come_back(raw) -> None:
    assert payloads.decompress(payloads.compress(raw)) == raw


@pytest.mark.parametrize(
    "stored",
    [b"", b"junk", payloads.compress(b"abc")[:-1], payloads.compress(b"abc") + b"x", zlib.compress(b"0" * 10_000_000)],
    ids=["empty", "junk", "cut", "longer", "bomb"],
)
def test_damaged_bytes_are_an_error(stored) -> None:
    with pytest.raises(zlib.error):
        payloads.decompress(stored)
