"""What recording promises. Entries stay, so each test finds its own by call id or subject."""

import hashlib
import uuid
from decimal import Decimal

import psycopg
import pytest
from django.db import transaction

from audit import header, log, reading
from audit.kinds import Kind
from audit.models import Entry, Payload

ADA = log.Actor("person", "Ada Okafor", "ada")
TAG = b"audit-entry/v1\0"


def subject() -> str:
    return f"W-{uuid.uuid4().hex}"


@pytest.mark.django_db
def test_an_entry_is_committed_whatever_becomes_of_the_transaction_around_it() -> None:
    call = uuid.uuid4()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        log.record(Kind.CALL_STARTED, ADA, call_id=call, args={"job_id": 1})
        raise ZeroDivisionError
    assert Entry.objects.filter(call_id=call).count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_entry_written_with_a_change_comes_with_it() -> None:
    name = subject()
    with transaction.atomic():
        receipt = log.record_with(Kind.WRITE_APPROVED, ADA, subject=name)
    entry = Entry.objects.get(subject=name)
    assert (entry.id, entry.seq, entry.at) == (receipt.id, receipt.seq, receipt.at)
    assert Payload.objects.filter(pk=entry.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_an_entry_written_with_a_change_goes_with_it() -> None:
    name = subject()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        log.record_with(Kind.WRITE_APPROVED, ADA, subject=name)
        raise ZeroDivisionError
    assert not Entry.objects.filter(subject=name).exists()


@pytest.mark.django_db(transaction=True)
def test_joining_a_transaction_needs_one() -> None:
    with pytest.raises(transaction.TransactionManagementError):
        log.record_with(Kind.WRITE_APPROVED, ADA)


@pytest.mark.django_db
def test_the_receipt_carries_the_stored_digest() -> None:
    receipt = log.record(Kind.COMMENT_ADDED, ADA, subject="I-1")
    entry = Entry.objects.get(pk=receipt.id)
    assert bytes(entry.digest) == receipt.digest
    assert receipt.ref == entry.ref == f"A-{entry.seq}"


def independent_digest(entry: Entry, payload: Payload) -> bytes:
    """The digest as facts say it, with another canonicaliser and without our reading code."""
    import zlib

    import rfc8785

    salt = bytes(payload.salt)
    parts = {"args": salt[:16], "result": salt[16:]}
    header = {}
    for field in entry._meta.concrete_fields:
        if field.name not in ("id", "seq", "at", "db_role", "digest"):
            value = getattr(entry, field.name)
            header[field.name] = str(value) if isinstance(value, uuid.UUID) else value
    for name, part in parts.items():
        raw = zlib.decompress(bytes(getattr(payload, name)))
        header[f"{name}_c"] = hashlib.sha256(b"audit-payload/v1\0" + part + raw).hexdigest()
    return hashlib.sha256(TAG + rfc8785.dumps(header)).digest()


@pytest.mark.django_db
def test_the_digest_is_recomputed_from_row_and_payload_alone() -> None:
    call = uuid.uuid4()
    log.record(
        Kind.CALL_FINISHED, ADA, call_id=call, parent=uuid.uuid4(), subject="I-318", summary="count_errors, count 0",
        run_id="2", tool="count_errors", tool_version=3, tool_hash="c0de", source="shop", certificate="77b0",
        incident_id=318, status="ok", duration_ms=41, error_class="", error="ünï", truncated=True,
        args={"job_id": 90412}, result={"count": 0, "sum": Decimal("1.50")},
    )  # fmt: skip
    entry = Entry.objects.get(call_id=call)
    assert independent_digest(entry, Payload.objects.get(pk=entry.pk)) == bytes(entry.digest)
    assert reading.content_of(entry).is_readable


@pytest.mark.django_db
def test_two_equal_payloads_have_different_commitments() -> None:
    one, other = (Entry.objects.get(pk=log.record(Kind.COMMENT_ADDED, ADA, args={"a": 1}).id) for _ in range(2))
    assert bytes(one.args_c) != bytes(other.args_c)
    assert bytes(one.args_c) != bytes(one.result_c)


@pytest.mark.django_db
@pytest.mark.parametrize("value", ["\0", "\ud800", {"\0\udfff": ["\0"]}])
def test_nul_and_lone_surrogates_survive(value) -> None:
    receipt = log.record(Kind.COMMENT_ADDED, ADA, args=value, result=value)
    content = reading.payload_of(receipt.id)
    assert content.is_readable
    assert content.args == content.result == value


@pytest.mark.django_db
def test_a_header_takes_whatever_an_agent_calls_itself_or_its_tool() -> None:
    call = uuid.uuid4()
    tool = "\0\ud800" + "".join(hashlib.sha256(str(n).encode()).hexdigest() for n in range(200))
    log.record(Kind.CALL_REFUSED, ADA, call_id=call, tool=tool, error="\0" * 10_000)
    entry = Entry.objects.get(call_id=call)
    assert entry.tool.startswith(r"\x00\ud800")
    assert len(entry.tool) == header.LONGEST_TEXT
    assert len(entry.error) == header.LONGEST_ERROR
    assert reading.content_of(entry).is_intact


SECRETS = {
    "AWS key": "AKIAIOSFODNN7EXAMPLE",
    "bearer token": "Bearer 1234567890abcdef",
    "password": "postgresql://app:s3cretword@db/shop",
    "signed token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
}
WORDS = {"AKIAIOSFODNN7EXAMPLE", "1234567890abcdef", "s3cretword", "eyJzdWIiOiIxMjM0NTY3ODkwIn0"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("name", "secret"), SECRETS.items())
@pytest.mark.parametrize("way", [log.record, log.record_with])
def test_a_secret_by_its_looks_never_reaches_the_header(way, name, secret) -> None:
    call, said = uuid.uuid4(), f"It said {secret} and no more."
    stranger = log.Actor("person", said, said)
    with transaction.atomic():
        way(Kind.CALL_REFUSED, stranger, call_id=call, subject=said, summary=said, tool=said, error=said)
    entry = Entry.objects.get(call_id=call)
    texts = {entry.actor, entry.principal, entry.subject, entry.summary, entry.tool, entry.error}
    (text,) = texts
    assert f"[masked: {name}]" in text
    assert text.endswith(" and no more.")
    assert not [word for word in WORDS if word in f"{entry.__dict__}"]
    assert reading.content_of(entry).is_intact


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["subject", "summary", "tool", "error"])
def test_a_secret_that_the_cut_goes_through_leaves_no_half_behind(name) -> None:
    call, longest = uuid.uuid4(), header.LONGEST.get(name, header.LONGEST_TEXT)
    log.record(Kind.CALL_REFUSED, ADA, call_id=call, **{name: "x" * (longest - 10) + " AKIAIOSFODNN7EXAMPLE"})
    text = getattr(Entry.objects.get(call_id=call), name)
    assert len(text) == longest
    assert text.endswith((" [masked:…", " [masked…"))
    assert "AKIA" not in text


@pytest.mark.django_db
@pytest.mark.parametrize("part", ["args", "result"])
def test_a_long_payload_is_cut_and_keeps_its_length_and_hash(part) -> None:
    receipt = log.record(Kind.COMMENT_ADDED, ADA, **{part: "x" * 300_000})
    entry = Entry.objects.get(pk=receipt.id)
    assert getattr(entry, f"{part}_bytes") == 300_002
    assert getattr(entry, f"{part}_sha256") == hashlib.sha256(b'"' + b"x" * 300_000 + b'"').hexdigest()
    assert entry.truncated
    content = reading.content_of(entry)
    assert content.is_intact
    assert not content.is_readable
    assert "cut" in content.why


@pytest.mark.django_db
def test_what_cannot_be_hashed_is_not_recorded() -> None:
    call = uuid.uuid4()
    with pytest.raises(TypeError):
        log.record(Kind.CALL_STARTED, ADA, call_id=call, args={"at": object()})
    with pytest.raises(ValueError):
        log.record(Kind.CALL_STARTED, ADA, call_id=call, incident_id=2**60)
    assert not Entry.objects.filter(call_id=call).exists()


@pytest.mark.django_db
def test_a_refused_insert_is_an_error_for_the_caller() -> None:
    with pytest.raises(psycopg.Error):
        log.record(Kind.CALL_STARTED, ADA, duration_ms=2**40)
