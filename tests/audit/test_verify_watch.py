"""The verifier's day: new leaves each minute at no cost that grows, the whole log when due or asked for, and memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit import reading, reopening, seal, verify_asks, verify_resumed, verify_watch
from audit.drill import forging, tampering
from audit.models import Entry, Verification
from audit.refusing import NotAllowed
from audit.verify.run import Outside
from audit.verify.tree import Tree
from audit.verify_watch import Watch
from gate.config import fingerprint
from gate.config.roles import role_name
from tests.audit.logs import KEY, KNOWN, Published, Writer, intruder, sealed_log

__all__ = ["intruder", "sealed_log"]
pytestmark = pytest.mark.django_db(transaction=True)
Session = psycopg.Connection[Any]
DAY = timedelta(days=1)


def watch() -> Watch:
    return Watch(Outside(KNOWN), DAY, fingerprint.differences, lambda result, entry: None)


def codes(watch: Watch) -> set[str]:
    return set(watch.new().report.counts)


@pytest.fixture
def grow(sealed_log: Published, as_role: Callable[[str], None], cluster_socket: Path) -> Callable[[int], None]:
    """Write entries and seal them."""

    def by(count: int) -> None:
        name = connection.settings_dict["NAME"]
        own = f"host={cluster_socket} dbname={name} user={role_name('agents')} password=test-agents"
        with psycopg.connect(own) as session:
            Writer(session).write(count)
        as_role("sealer")
        sealer = seal.Sealer([KEY])
        sealer.start()
        while sealer.round():
            pass
        as_role("auditor")

    return by


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 511, 512, 569, 570])
def test_the_tree_goes_on_from_what_is_stored_of_it(sealed_log: Published, size: int) -> None:
    from audit import verify_rows

    leaves = [leaf.hash for batch in verify_rows.leaves() for leaf in batch]
    whole, resumed = Tree(), verify_resumed.tree(size)
    for leaf in leaves[:size]:
        whole.append(leaf)
    assert (resumed.size, resumed.root()) == (size, whole.root())
    for leaf in leaves[size:]:
        assert resumed.append(leaf) == whole.append(leaf)
    assert resumed.root() == whole.root()


def test_new_leaves_are_verified_and_old_ones_are_not_read(grow: Callable[[int], None], intruder: Session) -> None:
    verifier = watch()
    verifier.whole()
    grow(40)
    with CaptureQueriesContext(connection) as asked:
        result = verifier.new()
    assert result.report.first == []
    assert (result.is_new, result.since, result.verification.tree.size) == (True, 570, result.size)
    assert result.verification.entries <= 30 + 40 + 3, "Only what was sealed since, and what is not sealed yet."
    grow(300)
    with CaptureQueriesContext(connection) as again:
        verifier.new()
    assert len(again) <= len(asked) + 2
    with tampering.triggers_off(intruder):
        forging.edit_payload(intruder)
    intruder.commit()
    assert codes(verifier) == set(), "What is old is the whole run's."


def test_a_run_over_new_leaves_is_written_down_once_an_hour(
    grow: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    verifier = watch()
    verifier.whole()
    before = Verification.objects.count()
    for _ in range(3):
        verifier.new()
    assert Verification.objects.count() == before
    verifier.written_at -= verify_watch.WRITTEN_DOWN_EVERY
    verifier.new()
    row = Verification.objects.latest("id")
    assert (Verification.objects.count(), row.is_full, row.is_clean) == (before + 1, False, True)
    args = reading.content_of(Entry.objects.filter(kind="log.verified").order_by("-seq")[0]).args
    assert (args["mode"], args["runs"], args["since"]) == ("new", 4, 570)
    state = verify_asks.state()
    assert (state.new_size, state.new_findings, state.doing, state.is_silent) == (row.size, 0, "", False)


def test_a_finding_is_written_down_at_once_and_not_each_minute(grow: Callable[[int], None], intruder: Session) -> None:
    verifier = watch()
    verifier.whole()
    grow(20)
    with tampering.triggers_off(intruder):
        intruder.execute("select set_config('counterseal.leaf', '605', true)")
        forging.edit_payload(intruder)
    intruder.commit()
    assert codes(verifier) == {"D2"}
    row = Verification.objects.latest("id")
    assert (row.is_full, row.is_clean, row.findings[0]["code"]) == (False, False, "D2")
    assert codes(verifier) == {"D2"}, "It goes on from the last leaf that was clean."
    assert Verification.objects.latest("id") == row


def test_a_log_that_is_set_back_is_found_by_what_the_verifier_remembers(
    grow: Callable[[int], None], intruder: Session
) -> None:
    verifier = watch()
    verifier.whole()
    grow(20)
    assert codes(verifier) == set()
    with tampering.triggers_off(intruder):
        tampering.run(*tampering.DROP_TAIL)(intruder)
    intruder.commit()
    assert not watch().whole().report.counts.keys() & {"C1", "C2", "C3"}, "One that has seen nothing finds no pin."
    assert {"C1", "C3"} <= set(verifier.whole().report.counts)


RESTORED = """
update audit_epoch set system_identifier = 1;
delete from audit_verification where size > {cut}
"""


def test_a_restored_log_is_verified_anew_once_an_operator_has_reopened_it(
    grow: Callable[[int], None], intruder: Session, as_role: Callable[[str], None]
) -> None:
    """The same process goes on: what it has seen of the log's lost end is no pin of the log that goes on without it."""
    verifier = watch()
    verifier.whole()
    grow(20)
    verifier.new()
    verifier.round()
    with tampering.triggers_off(intruder):
        tampering.run(*tampering.DROP_TAIL, RESTORED.format(cut=tampering.CUT))(intruder)
    intruder.commit()
    assert codes(verifier) == {"N1", "E1"}
    assert {"C1", "E1"} <= verifier.whole().report.counts.keys(), "It was set back, until somebody says why."
    as_role("owner")
    reopening.reopen(reason="Restored from the backup of last night", by="mia", new_key=None)
    as_role("auditor")
    before = Verification.objects.filter(is_full=True).count()
    verifier.round()
    row = Verification.objects.latest("id")
    assert Verification.objects.filter(is_full=True).count() == before + 1, "It does not wait for the next day."
    assert {one["code"] for one in row.findings} & {"C1", "C2", "C3", "X1"} == set()
    before = row.id
    verifier.round()
    assert Verification.objects.latest("id").id == before, "Once is enough."


def test_a_rewritten_last_checkpoint_is_found(grow: Callable[[int], None], intruder: Session) -> None:
    verifier = watch()
    verifier.whole()
    with tampering.triggers_off(intruder):
        intruder.execute("update audit_leaf set h = sha256('x') where idx = 569")
    intruder.commit()
    assert "R1" in codes(verifier)


def test_a_stored_node_that_is_gone_is_found(grow: Callable[[int], None], intruder: Session) -> None:
    verifier = watch()
    verifier.whole()
    with tampering.triggers_off(intruder):
        intruder.execute("delete from audit_node where idx = 1")
    intruder.commit()
    assert codes(verifier) == {"N1"}


HIDDEN = {
    "a row with findings deleted": "delete from audit_verification where not is_clean",
    "its findings taken away": "update audit_verification set findings = '[]', finding_count = 0, is_clean = true",
    "a clean one that nobody has run": "insert into audit_verification (size, is_full, findings, finding_count,"
    " is_clean) values (570, true, '[]', 0, true)",
}


@pytest.mark.parametrize("statement", HIDDEN.values(), ids=HIDDEN)
def test_who_turns_the_red_bar_off_by_hand_turns_it_on(
    sealed_log: Published, intruder: Session, statement: str
) -> None:
    verifier = watch()
    with tampering.triggers_off(intruder):
        forging.edit_payload(intruder)
    intruder.commit()
    assert set(verifier.whole().report.counts) == {"D2"}
    with tampering.triggers_off(intruder):
        intruder.execute(statement)
    intruder.commit()
    assert "W1" in codes(verifier)
    assert not Verification.objects.latest("id").is_clean
    assert "W1" in watch().whole().report.counts


class Person:
    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed

    def has_perm(self, name: str) -> bool:
        return name in self.allowed

    def get_username(self) -> str:
        return "ada"

    def __str__(self) -> str:
        return "Ada"


def test_a_wish_is_taken_up_once_and_by_the_verifier_alone(
    sealed_log: Published, as_role: Callable[[str], None]
) -> None:
    verifier = watch()
    verifier.whole()
    verifier.round()  # the minute's run, at the start
    as_role("people")
    assert verify_asks.ask(by=Person("audit.verify"))
    assert not verify_asks.ask(by=Person("audit.verify")), "It is asked for already."
    with pytest.raises(NotAllowed, match="an admin or an auditor does"):
        verify_asks.ask(by=Person("audit.view"))
    assert verify_asks.state().is_waiting
    as_role("auditor")
    before = Verification.objects.filter(is_full=True).count()
    verifier.round()
    assert not verify_asks.state().is_waiting
    assert Verification.objects.filter(is_full=True).count() == before + 1
    verifier.round()
    assert Verification.objects.filter(is_full=True).count() == before + 1
    entry = Entry.objects.filter(kind="log.verified").order_by("-seq")[0]
    assert reading.content_of(entry).args["asked"] == verify_asks.state().asked


def test_no_wish_is_answered_ahead(sealed_log: Published, as_role: Callable[[str], None]) -> None:
    verify_asks.say(doing="", answered=1_000_000)
    as_role("people")
    assert verify_asks.ask(by=Person("audit.verify"))
    assert verify_asks.state().is_waiting


def test_a_verifier_that_is_gone_is_told_from_one_at_work(sealed_log: Published) -> None:
    assert verify_asks.state().is_silent
    verify_asks.say(doing="whole")
    state = verify_asks.state()
    assert state.is_whole_running
    assert state.at is not None
    late = replace(state, at=state.at - verify_asks.LONGEST_RUN)
    assert (late.is_silent, late.is_whole_running) == (True, False)
    assert replace(state, doing="", at=state.at - verify_asks.SILENT_AFTER).is_silent
