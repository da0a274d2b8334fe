"""A receipt holds only while the entry is what was written and stands, provably, under the newest checkpoint."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from audit import log, receipts
from audit.models import Checkpoint
from audit.receipts import Checked, Receipt
from audit.verify import receipts as given_out
from tests import cited

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ten seconds are over."""
    monkeypatch.setattr(receipts, "SEALED_WITHIN", timedelta(0))


def given(**about: Any) -> Receipt:
    return Receipt.given(cited.recorded(**about))


def check(receipt: Receipt) -> Checked:
    return receipts.recheck([receipt])[receipt]


def test_a_sealed_entry_is_proven_and_says_where_it_stands(own_log: str, at_once: None) -> None:
    receipt = given()
    cited.seal_all()
    found = check(receipt)
    assert (found.fault, found.waits, found.is_sealed) == ("", "", True)
    assert found.receipt.size == Checkpoint.objects.order_by("-size").first().size
    assert check(found.receipt).is_sealed
    assert receipts.glance([receipt])[receipt].fault == ""


def test_leaf_0_is_a_leaf(own_log: str, at_once: None, cluster_socket: Path) -> None:
    first = given()
    cited.seal_all()
    assert check(first).receipt.leaf == 0
    cited.tamper(cluster_socket, "delete from audit_leaf where idx = 0")
    assert "leaf 0, and that leaf is gone" in check(replace(first, leaf=0, size=1)).fault


def test_a_receipt_comes_back_from_json_as_it_was() -> None:
    receipt = Receipt(7, uuid4(), "ab" * 32, 0, 12)
    assert Receipt.of_json(receipt.as_json()) == receipt
    for broken in (None, [], {}, {"seq": 1}, {"seq": None, "id": "x", "digest": ""}):
        with pytest.raises(ValueError):
            Receipt.of_json(broken)


def test_for_ten_seconds_an_entry_needs_no_seal(own_log: str) -> None:
    found = check(given())
    assert (found.fault, found.waits, found.is_sealed) == ("", "", False)


def test_then_a_sealer_that_is_down_makes_it_wait(own_log: str, at_once: None) -> None:
    receipt = given()
    found = check(receipt)
    assert found.fault == ""
    assert "The sealer has never run" in found.waits
    assert receipts.glance([receipt])[receipt].waits == found.waits


def test_and_one_that_was_passed_over_by_a_sealer_at_work_is_lost(own_log: str, at_once: None) -> None:
    receipt = given()
    cited.say("sealing")
    assert "passed over" in check(receipt).fault


TAMPERINGS = {
    "its result": ("update audit_payload set result = %s where entry_id = %s", "is not what was written"),
    "its summary": ("update audit_entry set summary = 'another' || octet_length(%s) where id = %s", "its own fields"),
    "its number": ("update audit_entry set seq = seq + 1000 + octet_length(%s) where id = %s", "its receipt was given"),
    "its time": ("update audit_entry set at = at - '1 s'::interval * octet_length(%s) where id = %s", "not give leaf"),
    "its payload": ("delete from audit_payload where octet_length(%s) > 0 and entry_id = %s", "taken away"),
    "all of it": ("delete from audit_entry where octet_length(%s) > 0 and id = %s", "not in the log any more"),
    "its leaf": ("update audit_leaf set h = sha256(%s) where entry_id = %s", "not give leaf"),
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_it_is_lost_when_somebody_changes(what: str, own_log: str, at_once: None, cluster_socket: Path) -> None:
    receipt = given()
    cited.seal_all()
    statement, words = TAMPERINGS[what]
    cited.tamper(cluster_socket, statement, b"\x78\x01", receipt.id)
    assert words in check(receipt).fault.lower().replace("its receipt", "its receipt")
    assert receipts.glance([receipt])[receipt].fault


def test_a_forged_entry_with_its_own_leaf_has_no_proof(own_log: str, at_once: None, cluster_socket: Path) -> None:
    receipts_ = [given() for _ in range(3)]
    cited.seal_all()
    # What only a proof shows: the leaf beside it is another one than was signed.
    sibling = check(receipts_[0]).receipt.leaf + 1
    cited.tamper(cluster_socket, "update audit_leaf set h = sha256('x') where idx = %s", sibling)
    assert "No proof leads from" in check(receipts_[0]).fault
    cited.tamper(cluster_socket, "delete from audit_leaf where idx = %s", sibling)
    assert "No proof leads from" in check(receipts_[0]).fault


def test_a_rewritten_checkpoint_proves_nothing(
    own_log: str, at_once: None, cluster_socket: Path, settings: Any
) -> None:
    receipt = given()
    cited.seal_all()
    settings.LOG_PUBLIC_KEYS = [str(cited.KEY.public)]
    assert check(receipt).is_sealed
    settings.LOG_PUBLIC_KEYS = [str(replace(cited.KEY, seed=secrets.token_bytes(32)).public)]
    assert "not signed by a key that this process knows" in check(receipt).fault
    settings.LOG_PUBLIC_KEYS = ["nonsense"]
    assert "cannot be read" in check(receipt).fault
    cited.tamper(cluster_socket, "update audit_checkpoint set root = sha256('x')")
    assert "is not the one that its note was signed for" in check(receipt).fault


def test_another_digest_is_another_entry(own_log: str) -> None:
    receipt = replace(given(), digest="00" * 32)
    assert "not the entry that its receipt" in check(receipt).fault


def test_large_contents_are_left_to_the_page_of_one(own_log: str, cluster_socket: Path) -> None:
    receipt = Receipt.given(
        log.record(cited.Kind.CALL_FINISHED, log.Actor("agent", "a", "m"), result=secrets.token_hex(60_000))
    )
    cited.tamper(cluster_socket, "update audit_payload set args = '\\x7801' where entry_id = %s", receipt.id)
    assert receipts.glance([receipt])[receipt].fault == ""
    assert check(receipt).fault


def test_the_queries_do_not_grow(own_log: str, at_once: None, django_assert_num_queries: Any) -> None:
    many = [given() for _ in range(12)]
    cited.seal_all()
    for some in (many[:1], many):
        with django_assert_num_queries(3):
            receipts.recheck(some)
        with django_assert_num_queries(1):
            receipts.glance(some)
    with django_assert_num_queries(0):
        receipts.glance([])


def test_an_agents_answers_are_lines_for_the_verifier() -> None:
    assert given_out.parse(['{"audit_id": "A-7", "digest": "' + "ab" * 32 + '"}']) == [
        given_out.Receipt("7", "ab" * 32)
    ]
