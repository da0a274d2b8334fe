"""Checkpoints and keys in the forms that other programs read and write."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import notes
from audit.notes import BadKey, Checkpoint, PublicKey, SigningKey

KEY = SigningKey("example.com/log", bytes(range(32)))
OTHER = SigningKey("example.com/log", bytes(32))
CHECKPOINT = Checkpoint("example.com/log", 48_977, bytes(32))
# The key of the examples of the signed-note specification (C2SP), and what it signed there.
PUBLISHED = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PUBLISHED_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)


def test_a_note_that_another_program_signed_is_believed() -> None:
    assert PublicKey.parse(PUBLISHED).has_signed(PUBLISHED_NOTE)
    assert not PublicKey.parse(PUBLISHED).has_signed(PUBLISHED_NOTE.replace("answer", "question"))


def test_a_note_has_three_lines_an_empty_one_and_a_signature() -> None:
    note = notes.signed(CHECKPOINT, [KEY])
    lines = note.split("\n")
    assert lines[:4] == ["example.com/log", "48977", base64.b64encode(bytes(32)).decode(), ""]
    assert lines[4].startswith("— example.com/log ")
    assert lines[5:] == [""]


def test_both_keys_have_signed_while_keys_are_changed() -> None:
    note = notes.signed(CHECKPOINT, [KEY, OTHER])
    assert KEY.public.has_signed(note)
    assert OTHER.public.has_signed(note)


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_note_that_was_changed_anywhere_is_not_believed(place: int, change: int) -> None:
    raw = bytearray(notes.signed(CHECKPOINT, [KEY]).encode())
    raw[place % len(raw)] ^= change
    try:
        changed = raw.decode()
    except UnicodeDecodeError:
        return
    if changed.splitlines() != notes.signed(CHECKPOINT, [KEY]).splitlines():
        assert not KEY.public.has_signed(changed)


def test_another_key_of_the_same_name_is_not_believed() -> None:
    assert not OTHER.public.has_signed(notes.signed(CHECKPOINT, [KEY]))


@pytest.mark.parametrize("note", ["", "\n\n", "x", "a\n\n— example.com/log AAAA\n", "a\n\n— example.com/log ?\n"])
def test_what_is_no_note_is_not_believed(note: str) -> None:
    assert not KEY.public.has_signed(note)


@given(st.binary(min_size=32, max_size=32))
def test_keys_survive_being_written_down(seed: bytes) -> None:
    key = SigningKey("example.com/log", seed)
    assert SigningKey.parse(f"{key}\n") == key
    assert PublicKey.parse(f"{key.public}\n") == key.public


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has the form"),
        ("name+id", "has the form"),
        (str(KEY.public).replace("example.com/log", "example.org/log"), "copied wrongly"),
        (f"name+00000000+{base64.b64encode(b'short').decode()}", "not an Ed25519 key"),
        ("name+00000000+?", "not base64"),
    ],
)
def test_a_bad_key_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadKey, match=sentence):
        PublicKey.parse(text)


def test_a_public_key_is_no_signing_key() -> None:
    with pytest.raises(BadKey, match="begins with PRIVATE"):
        SigningKey.parse(str(KEY.public))


@pytest.mark.parametrize("name", ["", "two words", "a+b", "x" * 201])
def test_a_log_has_a_name_that_notes_can_carry(name: str) -> None:
    with pytest.raises(BadKey, match="no spaces"):
        notes.new_key(name)
