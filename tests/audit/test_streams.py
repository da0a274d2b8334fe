"""A writer's numbers: dense whatever happens, so that a hole means that an entry was lost."""

import threading
import uuid
from collections import defaultdict

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from audit import log, streams
from audit.kinds import Kind
from audit.models import Entry

ADA = log.Actor("person", "Ada Okafor", "ada")
ENTRY = Kind.COMMENT_ADDED


def streams_of(subject: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for run, number in Entry.objects.filter(subject=subject).order_by("seq").values_list("writer_run", "writer_seq"):
        found[run].append(number)
    return found


def assert_dense(subject: str, count: int) -> None:
    found = streams_of(subject)
    assert sum(map(len, found.values())) == count
    for run in found:
        numbers = list(Entry.objects.filter(writer_run=run).order_by("writer_seq").values_list("writer_seq", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.fixture
def subject() -> str:
    # New sessions, and so new streams: other tests tamper with entries of the old ones.
    streams.close()
    return f"test {uuid.uuid4()}"


@pytest.mark.django_db
def test_a_failed_insert_uses_no_number(subject) -> None:
    log.record(ENTRY, ADA, subject=subject)
    for _ in range(3):
        with pytest.raises(psycopg.Error):
            log.record(ENTRY, ADA, subject=subject, duration_ms=2**40)
        log.record(ENTRY, ADA, subject=subject)
    assert_dense(subject, 4)


@pytest.mark.django_db
def test_an_entry_that_cannot_be_packed_uses_no_number(subject) -> None:
    log.record(ENTRY, ADA, subject=subject)
    with pytest.raises(TypeError):
        log.record(ENTRY, ADA, subject=subject, args=object())
    log.record(ENTRY, ADA, subject=subject)
    assert_dense(subject, 2)


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_transaction_gives_its_numbers_back(subject) -> None:
    for outcome in ("commit", "rollback", "commit", "rollback", "commit"):
        with transaction.atomic():
            log.record_with(ENTRY, ADA, subject=subject)
            log.record_with(ENTRY, ADA, subject=subject)
            transaction.set_rollback(outcome == "rollback")
    assert_dense(subject, 6)


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_savepoint_gives_its_numbers_back(subject) -> None:
    with transaction.atomic():
        log.record_with(ENTRY, ADA, subject=subject)
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            log.record_with(ENTRY, ADA, subject=subject)
            log.record_with(ENTRY, ADA, subject=subject)
            raise ZeroDivisionError
        with transaction.atomic():
            log.record_with(ENTRY, ADA, subject=subject)
        with transaction.atomic():
            log.record_with(ENTRY, ADA, subject=subject)
            transaction.set_rollback(True)
        log.record_with(ENTRY, ADA, subject=subject)
    assert_dense(subject, 3)
    assert len(streams_of(subject)) == 1


@pytest.mark.django_db(transaction=True)
def test_the_two_ways_never_share_a_stream(subject) -> None:
    with transaction.atomic():
        log.record_with(ENTRY, ADA, subject=subject)
        log.record(ENTRY, ADA, subject=subject)
    assert len(streams_of(subject)) == 2
    assert_dense(subject, 2)


@pytest.mark.django_db(transaction=True)
def test_threads_record_at_once(subject) -> None:
    def write() -> None:
        for turn in range(15):
            log.record(ENTRY, ADA, subject=subject)
            with transaction.atomic():
                log.record_with(ENTRY, ADA, subject=subject)
                transaction.set_rollback(turn % 3 == 0)
        connection.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_dense(subject, 4 * (15 + 10))


@pytest.mark.django_db(transaction=True)
def test_a_killed_backend_ends_its_stream(subject, superuser) -> None:
    log.record(ENTRY, ADA, subject=subject)
    with streams.own_session() as (own, _):
        pid = own.connection.info.backend_pid
    superuser.execute("select pg_terminate_backend(%s, 5000)", [pid])
    log.record(ENTRY, ADA, subject=subject)
    assert len(streams_of(subject)) == 2
    assert_dense(subject, 2)


@pytest.mark.django_db(transaction=True)
def test_a_backend_killed_before_commit_leaves_neither_entry_nor_gap(subject, superuser) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        log.record_with(ENTRY, ADA, subject=subject)
        superuser.execute("select pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid])
    connection.close()
    with transaction.atomic():
        log.record_with(ENTRY, ADA, subject=subject)
    assert_dense(subject, 1)


@pytest.mark.django_db
def test_an_interrupt_drops_the_session_for_nobody_knows_what_committed(subject) -> None:
    log.record(ENTRY, ADA, subject=subject)
    with pytest.raises(KeyboardInterrupt), streams.own_session() as (own, _):
        raise KeyboardInterrupt
    assert own.connection.closed
    log.record(ENTRY, ADA, subject=subject)
    assert_dense(subject, 2)
