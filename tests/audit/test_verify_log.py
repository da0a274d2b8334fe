"""The verifiers of rows and of files agree with the log as it is used: writers, rollbacks, restarts, exports."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit import export, log, proofs, seal, streams, verifying
from audit.drill.forging import edit_payload
from audit.drill.tampering import triggers_off
from audit.export_formats import FORMATS
from audit.export_rows import Selection
from audit.kinds import Kind
from audit.models import Verification
from audit.verify.export import Export
from audit.verify.findings import Report
from audit.verify.run import Outside
from audit.verify.tree import Tree, root_of_proof
from gate.config import fingerprint
from gate.config.roles import role_name
from tests.audit.logs import AGENT, KEY, KNOWN, Published, Writer, intruder, sealed_log

__all__ = ["intruder", "sealed_log"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_log_of_eight_writers_with_rollbacks_and_restarts_is_clean(
    own_log: str, as_role: Callable[[str], None], cluster_socket: Path
) -> None:
    as_role("owner")
    fingerprint.record_when_changed()

    def work(number: int) -> None:
        for _ in range(3):  # each a process that starts anew
            with psycopg.connect(
                f"host={cluster_socket} dbname={own_log} user={role_name('agents')} password=test-agents"
            ) as session:
                writer = Writer(session)
                writer.write(7 + number)
                kept = writer.number
                log._insert(
                    session.cursor(), streams.Position(writer.run, kept + 1), Kind.CALL_STARTED, AGENT, {"tool": "lost"}
                )
                session.rollback()
                writer.write(6)

    writers = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for writer in writers:
        writer.start()
    as_role("sealer")
    while any(writer.is_alive() for writer in writers):
        sealer = seal.Sealer([KEY])
        sealer.start()
        for _ in range(5):
            sealer.round()
        connection.close()  # the sealer's session ends, and with it its lock
    as_role("auditor")
    result = verifying.verify(Outside(KNOWN), guards=fingerprint.differences)
    assert result.report.first == []
    assert result.verification.entries == 2 + sum(3 * (7 + number + 6) for number in range(8))


@pytest.fixture
def keys(settings: Any) -> None:
    settings.LOG_PUBLIC_KEYS = [str(KEY.public)]


def call(*words: str) -> str:
    told = StringIO()
    call_command("verify_log", *words, stdout=told)
    return told.getvalue()


def test_the_command_says_what_it_found_and_records_it(
    keys: None, sealed_log: Published, intruder: psycopg.Connection[Any], tmp_path: Path
) -> None:
    told = call()
    assert "600 entries, 30 of them not sealed yet." in told
    assert "Integrity: what is sealed is what was written." in told
    assert "Completeness: nothing is missing." in told
    receipts = tmp_path / "receipts"
    receipts.write_text("".join(f"{one.of} {one.digest}\n" for one in sealed_log.receipts))
    assert "Integrity: what is sealed" in call("--receipts", str(receipts))
    with triggers_off(intruder):
        edit_payload(intruder)
    intruder.commit()
    with pytest.raises(CommandError, match="The log has 1 findings"):
        call()
    assert list(Verification.objects.order_by("id").values_list("is_clean", flat=True)) == [True, True, False]


def test_the_next_run_is_due_when_the_last_whole_one_is_old_enough(sealed_log: Published) -> None:
    day = timedelta(days=1)
    assert verifying.due_in(day) <= timedelta(0)
    verifying.record(verifying.verify(Outside(KNOWN), since=500))
    assert verifying.due_in(day) <= timedelta(0), "A part of the log is not the whole."
    verifying.record(verifying.verify(Outside(KNOWN)))
    assert timedelta(hours=23) < verifying.due_in(day) <= day
    assert verifying.due_in(timedelta(0)) <= timedelta(0)


@pytest.mark.parametrize("text", ["", "no key"])
def test_without_a_key_it_says_what_it_lacks(text: str, settings: Any, sealed_log: Published) -> None:
    settings.LOG_PUBLIC_KEYS = [text] if text else []
    with pytest.raises(CommandError, match="COUNTERSEAL_LOG_PUBLIC_KEYS"):
        call()


def test_a_file_that_is_not_there_is_a_sentence(keys: None, sealed_log: Published) -> None:
    with pytest.raises(CommandError, match="A file cannot be read"):
        call("--pins", "/nowhere/pins")


def test_only_the_auditor_verifies(keys: None, sealed_log: Published, as_role: Callable[[str], None]) -> None:
    as_role("worker")
    with pytest.raises(CommandError, match="auditor"):
        call()


def verified(selection: Selection, path: Path) -> list[str]:
    made = export.Export(selection, FORMATS["jsonl"], log.Actor("person", "Mia", "mia"))
    path.write_bytes(b"".join(made.pieces()))
    report = Report()
    Export(path, Outside(KNOWN), report).verify()
    return [str(finding) for finding in report.first]


def test_an_export_of_the_log_verifies_and_one_of_a_tampered_log_does_not(
    sealed_log: Published, intruder: psycopg.Connection[Any], tmp_path: Path
) -> None:
    one = Selection(seq=120)
    assert verified(Selection(), tmp_path / "whole") == []
    assert verified(one, tmp_path / "one") == []
    with triggers_off(intruder):
        intruder.execute("update audit_entry set actor = 'else' where seq = 120")
    intruder.commit()
    assert [finding[:9] for finding in verified(Selection(), tmp_path / "whole")] == ["D1  A-120"]
    assert [finding[:9] for finding in verified(one, tmp_path / "one")] == ["D1  A-120"]


def test_two_implementations_of_the_tree_agree(sealed_log: Published) -> None:
    tree, leaves = Tree(), [bytes(h) for (h,) in rows("select h from audit_leaf order by idx")]
    stored = []
    for leaf in leaves:
        stored += tree.append(leaf)
    assert tree.root() == proofs.frontier(570).root()
    assert [(level, index) for level, index, _ in stored] == [(8, 0), (8, 1)]
    for index in (0, 1, 255, 256, 500, 569):
        assert root_of_proof(index, 570, leaves[index], proofs.inclusion(index, 570)) == tree.root()
        assert root_of_proof(index ^ 1, 570, leaves[index], proofs.inclusion(index, 570)) != tree.root()


def rows(statement: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())
