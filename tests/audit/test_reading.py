"""Whatever is changed behind the log's back, reading says so and never raises."""

from __future__ import annotations

import zlib

import pytest

from audit import log, reading
from audit.kinds import Kind
from audit.models import Entry, Payload

ADA = log.Actor("person", "Ada Okafor", "ada")


@pytest.fixture
def entry(db) -> Entry:
    receipt = log.record(Kind.CALL_FINISHED, ADA, tool="count_errors", args={"job_id": 1}, result={"count": 0})
    return Entry.objects.get(pk=receipt.id)


def reread(entry: Entry) -> reading.Content:
    return reading.content_of(Entry.objects.get(pk=entry.pk))


def test_a_clean_entry_is_intact_and_readable(entry) -> None:
    content = reread(entry)
    assert content == reading.Content({"job_id": 1}, {"count": 0}, b'{"job_id":1}', b'{"count":0}', True, True, "")
    assert reading.payload_of(entry.pk) == content


@pytest.mark.parametrize("column", ["args", "result"])
def test_a_changed_payload_shows(entry, tamper, column) -> None:
    tamper(f"update audit_payload set {column} = %s where entry_id = %s", zlib.compress(b'{"count":1}'), entry.pk)
    content = reread(entry)
    assert not content.is_intact
    assert not content.is_readable
    assert content.args is content.result is None
    assert "do" in content.why
    assert "match" in content.why


@pytest.mark.parametrize("damaged", [b"", b"junk"])
def test_damaged_bytes_show(entry, tamper, damaged) -> None:
    tamper("update audit_payload set result = %s where entry_id = %s", damaged, entry.pk)
    assert "damaged" in reread(entry).why


@pytest.mark.parametrize("salt", [b"", b"x" * 32, b"x" * 33])
def test_a_changed_salt_shows(entry, tamper, salt) -> None:
    tamper("update audit_payload set salt = %s where entry_id = %s", salt, entry.pk)
    assert not reread(entry).is_intact


def test_a_removed_payload_shows(entry, tamper) -> None:
    tamper("delete from audit_payload where entry_id = %s", entry.pk)
    content = reread(entry)
    assert content.why == "Its arguments and result are not there."
    assert not content.is_intact


CHANGES = {
    field.name: {"TextField": "'forged'", "BooleanField": "true", "UUIDField": "uuidv7()"}.get(
        field.get_internal_type(), "'\\x00'::bytea" if field.get_internal_type() == "BinaryField" else "77"
    )
    for field in Entry._meta.concrete_fields
    if field.name not in ("id", "seq", "at", "db_role")
}


@pytest.mark.parametrize("column", CHANGES)
def test_a_change_of_any_hashed_column_shows(entry, tamper, column) -> None:
    tamper(f"update audit_entry set {column} = {CHANGES[column]} where id = %s", entry.pk)
    content = reread(entry)
    assert not content.is_intact
    assert content.result is None


def test_a_number_that_no_writer_could_have_hashed_shows(entry, tamper) -> None:
    tamper("update audit_entry set incident_id = %s where id = %s", 2**60, entry.pk)
    assert not reread(entry).is_intact


def test_swapped_payloads_show(entry, tamper) -> None:
    other = log.record(Kind.CALL_FINISHED, ADA, result={"count": 9})
    stolen = Payload.objects.get(pk=other.id)
    tamper(
        "update audit_payload set salt = %s, args = %s, result = %s where entry_id = %s",
        bytes(stolen.salt), bytes(stolen.args), bytes(stolen.result), entry.pk,
    )  # fmt: skip
    assert not reread(entry).is_intact


def test_several_are_read_with_one_query(entry, django_assert_num_queries) -> None:
    other = Entry.objects.get(pk=log.record(Kind.CALL_FINISHED, ADA, result=2).id)
    with django_assert_num_queries(1):
        contents = reading.contents_of([entry, other])
    assert contents[entry.pk].result == {"count": 0}
    assert contents[other.pk].result == 2


def test_an_entry_is_found_by_its_number(entry) -> None:
    assert reading.by_seq(entry.seq) == entry
    assert reading.by_seq(2**62) is None
    assert reading.by_seq(2**80) is None


def test_two_rows_with_one_number_are_no_answer(entry, tamper) -> None:
    other = log.record(Kind.COMMENT_ADDED, ADA)
    tamper("update audit_entry set seq = %s where id = %s", entry.seq, other.id)
    assert reading.by_seq(entry.seq) is None
