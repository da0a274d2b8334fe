"""Holds, definitions and the search's rows are what entries and payloads say, or a verification finds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from audit import holds, log, seal, search_following, twohands, verify_rows, verify_upkeep
from audit.kinds import Kind
from audit.verify.findings import Report
from tests.audit.logs import KEY

pytestmark = pytest.mark.django_db(transaction=True)
AGENT = log.Actor("agent", "triage-agent", "mia")


@pytest.fixture
def kept(own_log: str, as_role: Callable[[str], None], make_person: Any, gadgets: Any) -> dict[str, Any]:
    """A log with a hold that stands, one that was lifted, a definition in its second version, and words to search."""
    as_role("owner")
    ada, mia = make_person("ada", "admin"), make_person("mia", "admin")
    standing = holds.hold(by=ada, reason="The court asked.", incident_id=7)
    lifted = holds.hold(by=ada, reason="An audit.", incident_id=8)
    holds.lift(lifted.pk, by=mia, reason="It is over.")
    for size in ("small", "large"):
        version = twohands.draft("gadget", "lamp", {"size": size}, by=ada, reason="as agreed")
        twohands.activate(version.pk, by=mia)
    entry = log.record(Kind.CALL_FINISHED, AGENT, tool="count", args={"word": "heron"}, result={"word": "kestrel"})
    as_role("sealer")
    sealer = seal.Sealer([KEY])
    sealer.start()
    while sealer.round():
        pass
    as_role("worker")
    while search_following.follow(5):
        pass
    as_role("auditor")
    return {"standing": standing.pk, "lifted": lifted.pk, "entry": str(entry.id)}


def codes() -> list[str]:
    report = Report()
    verify_upkeep.check(report, is_pruned=False)
    connection.close()
    return sorted(report.counts)


TAMPERINGS = {
    "a hold lifted by hand": ("update audit_hold set lifted_at = now() where id = {standing}", "H1"),
    "a hold deleted": ("delete from audit_hold where id = {standing}", "H1"),
    "a hold put on another incident": ("update audit_hold set incident_id = 9 where id = {standing}", "H1"),
    "a lifted hold that stands again": ("update audit_hold set lifted_at = null where id = {lifted}", "H1"),
    "a hold that nobody has put": (
        "insert into audit_hold (incident_id, reason, held_by_id, held_at, why_lifted) "
        "select 9, 'x', held_by_id, now(), '' from audit_hold limit 1",
        "H1",
    ),
    "a definition edited": ("update audit_definition set body = '{{\"size\": \"huge\"}}' where version = 2", "H1"),
    "a definition's digest edited": ("update audit_definition set digest = 'x' where version = 2", "H1"),
    "a definition in force deleted": ("delete from audit_definition where version = 2", "H1"),
    "an older definition put in force": (
        "update audit_definition set status = case version when 1 then 'active' else 'retired' end", "H1",
    ),
    "a definition that nobody has drafted": (
        "insert into audit_definition (kind, name, version, body, digest, reason, status, drafted_by_id, drafted_at, "
        "solo) select kind, name, 3, body, digest, '', 'draft', drafted_by_id, now(), false from audit_definition "
        "where version = 2",
        "H1",
    ),
    "an entry hidden from the search": ("delete from audit_search where entry_id = '{entry}'", "I3"),
    "words of what was redacted": (
        "update audit_payload set args = null, result = null where entry_id = '{entry}'", "K3",
    ),
    "words of what is gone": ("delete from audit_payload where entry_id = '{entry}'", "K3"),
}  # fmt: skip


def test_what_people_keep_is_what_the_log_says(kept: dict[str, Any], tamper: Callable[..., None]) -> None:
    """One log for all: each tampering is undone in the transaction that looked at it."""
    assert codes() == []
    connection.settings_dict.update(USER="postgres", PASSWORD="")
    for name, (statement, code) in TAMPERINGS.items():
        assert _codes_after(statement.format(**kept)) == [code], name


def _codes_after(statement: str) -> list[str]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("set local session_replication_role = replica")
            cursor.execute("alter table audit_payload disable trigger refuse_change")
            # Of two versions one is in force at a time.
            cursor.execute("drop index audit_one_active_version")
            cursor.execute(statement)
        report = Report()
        verify_upkeep.check(report, is_pruned=False)
        transaction.set_rollback(True)
    return sorted(report.counts)


def test_months_that_were_dropped_take_their_records_along(kept: dict[str, Any]) -> None:
    report = Report()
    connection.settings_dict.update(USER="postgres", PASSWORD="")
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("alter table audit_entry disable trigger refuse_change")
            cursor.execute("delete from audit_entry where kind in ('log.held', 'definition.drafted')")
        verify_upkeep.check(report, is_pruned=True)
        transaction.set_rollback(True)
    assert report.first == []
    assert verify_rows.of_kind("log.held")
