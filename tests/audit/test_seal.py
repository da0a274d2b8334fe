"""The sealer takes every committed entry once, in an order that no late commit slips behind, and knows when to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from audit import log, notes, proofs, reopening, seal
from audit.kinds import Kind
from audit.models import Checkpoint, Entry, Leaf
from gate.config.roles import role_name

pytestmark = pytest.mark.django_db(transaction=True)
KEY = notes.SigningKey("example.com/log", bytes(range(32)))
NEXT = notes.SigningKey("example.com/log", bytes(32))
MIA = log.Actor("person", "Mia", "mia")


@pytest.fixture
def sealer(own_log: str, as_role: Callable[[str], None]) -> seal.Sealer:
    """One that has sealed its own first entry."""
    as_role("sealer")
    made = seal.Sealer([KEY])
    made.start()
    made.round()
    return made


@pytest.fixture
def session(own_log: str, cluster_socket: Path) -> Iterator[Callable[[str], psycopg.Connection[Any]]]:
    """Further sessions on the test's database, as a process's role."""
    opened = []

    def connect(process: str) -> psycopg.Connection[Any]:
        made = psycopg.connect(
            host=str(cluster_socket), dbname=own_log, user=role_name(process), password=f"test-{process}"
        )
        opened.append(made)
        return made

    yield connect
    for made in opened:
        made.close()


def write(session: psycopg.Connection[Any], text: str) -> None:
    """An entry in a session's open transaction, written as the product writes it."""
    log._insert(session.cursor(), log.streams.Position(text, 1), Kind.COMMENT_ADDED, MIA, {"subject": text})


def sealed() -> list[str]:
    """The subjects of the sealed entries, in the order of their leaves."""
    keys = Leaf.objects.order_by("index").values_list("entry_id", flat=True)
    return [Entry.objects.get(pk=key).subject for key in keys]


def last_note() -> str:
    return Checkpoint.objects.order_by("-size").values_list("note", flat=True)[0]


def test_the_first_entry_names_the_key_and_is_sealed(sealer: seal.Sealer) -> None:
    entry = Entry.objects.get()
    assert (entry.kind, sealed()) == (Kind.LOG_SEALED_KEY, ["log"])
    assert KEY.public.has_signed(last_note())
    assert sealer.frontier.root() == proofs.frontier(1).root()


def test_a_round_with_nothing_new_signs_nothing(sealer: seal.Sealer) -> None:
    assert sealer.round() == 0
    assert Checkpoint.objects.count() == 1


def test_an_entry_waits_for_a_transaction_that_began_before_it(sealer: seal.Sealer, session: Any) -> None:
    slow, quick = session("people"), session("people")
    write(slow, "slow")
    write(quick, "quick")
    quick.commit()
    assert sealer.round() == 0, "The quick one was sealed although one before it may still commit."
    slow.commit()
    assert sealer.round() == 2
    assert sealed() == ["log", "slow", "quick"]


def test_what_was_rolled_back_is_neither_sealed_nor_waited_for(sealer: seal.Sealer, session: Any) -> None:
    lost, kept = session("people"), session("people")
    write(lost, "lost")
    write(kept, "kept")
    kept.commit()
    lost.rollback()
    sealer.round()
    assert sealed() == ["log", "kept"]


def test_no_commit_is_missed_among_writers_that_overlap(sealer: seal.Sealer, session: Any) -> None:
    def work(name: str) -> None:
        own = session("people")
        for number in range(30):
            write(own, f"{name}-{number}")
            if number % 7 == 3:
                own.rollback()
            elif number % 3:
                own.commit()
        own.commit()

    writers = [threading.Thread(target=work, args=[name]) for name in "abcd"]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        sealer.round()
    while sealer.round():
        pass
    assert sorted(sealed()) == sorted(Entry.objects.values_list("subject", flat=True))
    assert list(Leaf.objects.order_by("index").values_list("index", flat=True)) == list(range(Entry.objects.count()))


def test_the_horizon_is_said_and_its_holder_named(
    sealer: seal.Sealer, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seal, "HELD_AFTER", timedelta(0))
    slow, quick = session("people"), session("people")
    write(slow, "slow")
    write(quick, "quick")
    quick.commit()
    sealer.round()
    assert sealer.held_since() == Entry.objects.get(subject="quick").at
    slow.commit()
    sealer.round()
    assert sealer.held_since() is None


def test_a_new_sealer_goes_on_where_the_last_one_ended(sealer: seal.Sealer, session: Any) -> None:
    own = session("people")
    for number in range(300):  # past the first stored node
        write(own, str(number))
        own.commit()
    sealer.round()
    write(own, "later")
    own.commit()
    after = seal.Sealer([KEY])
    after.start()
    assert after.round() == 1
    assert after.frontier.root() == proofs.frontier(302).root()
    assert sealed()[-1] == "later"


def test_a_round_that_fails_leaves_the_tree_in_memory_as_it_was(sealer: seal.Sealer, session: Any) -> None:
    own = session("people")
    write(own, "one")
    own.commit()
    before = sealer.frontier
    with pytest.raises(RuntimeError), transaction.atomic():
        sealer.round()
        raise RuntimeError("the commit failed")
    assert sealer.frontier is before
    assert sealer.round() == 1


def test_only_one_sealer_is_at_work(sealer: seal.Sealer, session: Any) -> None:
    connection.close()  # it ends the first one's session, and with it the lock
    held = session("sealer")
    held.execute("select pg_advisory_lock(hashtext('counterseal.seal'))")
    with pytest.raises(seal.AnotherSealer, match="Another sealer"):
        seal.Sealer([KEY]).start()


def test_a_key_that_did_not_sign_the_last_checkpoint_seals_nothing(sealer: seal.Sealer) -> None:
    with pytest.raises(seal.WrongKey, match="signed with another key"):
        seal.Sealer([NEXT]).start()


def test_keys_are_changed_by_signing_with_both_for_a_while(sealer: seal.Sealer) -> None:
    both = seal.Sealer([KEY, NEXT])
    both.start()
    assert both.round() == 1  # the entry that introduces the new key
    assert KEY.public.has_signed(last_note())
    assert NEXT.public.has_signed(last_note())
    seal.Sealer([NEXT]).start()


def test_a_lost_key_is_replaced_when_an_operator_says_so(sealer: seal.Sealer, as_role: Callable[[str], None]) -> None:
    as_role("owner")
    reopening.reopen(reason="The key was lost with its machine", by="mia", new_key=NEXT.public)
    as_role("sealer")
    with pytest.raises(seal.WrongKey):
        seal.Sealer([notes.SigningKey("example.com/log", b"x" * 32)]).start()
    after = seal.Sealer([NEXT])
    after.start()
    assert after.round() == 2
    assert NEXT.public.has_signed(last_note())
    assert not KEY.public.has_signed(last_note())


def test_a_key_of_another_log_replaces_none(sealer: seal.Sealer, as_role: Callable[[str], None]) -> None:
    as_role("owner")
    other = notes.SigningKey("elsewhere.example/log", bytes(32))
    with pytest.raises(reopening.CannotReopen, match=r"called example.com/log, and this key is of elsewhere"):
        reopening.reopen(reason="The key was lost with its machine", by="mia", new_key=other.public)


def other_cluster(superuser_of_log: psycopg.Connection[Any]) -> None:
    """What a restore elsewhere looks like: the log remembers another cluster than it stands in."""
    superuser_of_log.execute("alter table audit_epoch disable trigger refuse_change")
    superuser_of_log.execute("update audit_epoch set system_identifier = 1")
    superuser_of_log.execute("alter table audit_epoch enable always trigger refuse_change")
    superuser_of_log.commit()


@pytest.fixture
def intruder(own_log: str, cluster_socket: Path) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(host=str(cluster_socket), dbname=own_log, user="postgres") as made:
        yield made


def test_after_a_restore_nothing_is_sealed_until_an_operator_reopens_the_log(
    sealer: seal.Sealer, session: Any, intruder: psycopg.Connection[Any], as_role: Callable[[str], None]
) -> None:
    own = session("people")
    write(own, "left over")
    own.commit()
    # Its transaction is one of the old cluster's, which had seen many more than this one.
    intruder.execute("alter table audit_entry disable trigger refuse_change")
    intruder.execute("update audit_entry set xid = '999999999' where subject = 'left over'")
    intruder.execute("alter table audit_entry enable always trigger refuse_change")
    other_cluster(intruder)
    with pytest.raises(seal.Restored, match="restored into another cluster"):
        sealer.round()
    as_role("owner")
    reopening.reopen(reason="Moved to a new server", by="mia", new_key=None)
    write(own, "after")
    own.commit()
    as_role("sealer")
    after = seal.Sealer([KEY])
    after.start()
    for _ in range(3):
        after.round()
    assert sealed() == ["log", "left over", "log", "after"]
    assert after.round() == 0
    intruder.rollback()
    epochs = dict(intruder.execute("select subject, epoch from audit_entry").fetchall())
    assert (epochs["left over"], epochs["after"]) == (1, 2)


def test_there_is_nothing_to_reopen_in_a_log_that_stands_where_it_was(own_log: str) -> None:
    with pytest.raises(reopening.CannotReopen, match="nothing to reopen"):
        reopening.reopen(reason="to try", by="mia", new_key=None)


@pytest.mark.parametrize(
    "statement",
    [
        "update audit_leaf set h = sha256('x') where idx = 0",
        "delete from audit_leaf where idx = 0",
        "insert into audit_leaf select 1, gen_random_uuid(), sha256('x')",
    ],
)
def test_a_tree_that_does_not_give_the_signed_root_is_not_built_upon(
    sealer: seal.Sealer, intruder: psycopg.Connection[Any], statement: str
) -> None:
    intruder.execute("alter table audit_leaf disable trigger refuse_change")
    intruder.execute(statement)
    intruder.commit()
    with pytest.raises(seal.Tampered, match="verify_log"):
        seal.Sealer([KEY]).start()


def test_a_leaf_that_came_from_elsewhere_stops_the_sealer(
    sealer: seal.Sealer, session: Any, intruder: psycopg.Connection[Any]
) -> None:
    intruder.execute("insert into audit_leaf select 1, gen_random_uuid(), sha256('x')")
    intruder.commit()
    own = session("people")
    write(own, "one")
    own.commit()
    with pytest.raises(seal.Tampered, match="stands there already"):
        sealer.round()


TREE = {"audit_leaf": "h = h", "audit_node": "h = h", "audit_checkpoint": "note = ''", "audit_epoch": "number = 2"}


def test_no_role_changes_the_tree(own_log: str, session: Any) -> None:
    for process in ("people", "agents", "reads", "worker", "writer", "auditor", "sealer"):
        own = session(process)
        for table, change in TREE.items():
            for statement in (f"update {table} set {change}", f"delete from {table}", f"truncate {table}"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    own.execute(statement)
                own.rollback()


def test_not_even_the_owner_changes_the_tree(sealer: seal.Sealer, session: Any) -> None:
    own = session("owner")
    own.execute("insert into audit_node values (8, 0, sha256(''))")  # there is none before 256 leaves
    own.commit()
    for table, change in TREE.items():
        for statement in (f"update {table} set {change}", f"delete from {table}", f"truncate {table}"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
                own.execute(statement)
            own.rollback()
