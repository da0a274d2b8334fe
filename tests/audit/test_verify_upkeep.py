"""Definitions are what their digests say and the search is what payloads say, or a verification finds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from audit import log, seal, search_following, twohands, verify_upkeep
from audit.kinds import Kind
from audit.verify.findings import Report
from tests.audit.logs import KEY

pytestmark = pytest.mark.django_db(transaction=True)
AGENT = log.Actor("agent", "triage-agent", "mia")


@pytest.fixture
def kept(own_log: str, as_role: Callable[[str], None], make_person: Any, gadgets: Any) -> dict[str, Any]:
    """A log with a definition, and words to search."""
    as_role("owner")
    ada = make_person("ada", "admin")
    twohands.draft("gadget", "lamp", {"size": "small"}, by=ada, reason="as agreed")
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
    return {"entry": str(entry.id)}


def codes() -> list[str]:
    report = Report()
    verify_upkeep.check(report)
    connection.close()
    return sorted(report.counts)


TAMPERINGS = {
    "a definition edited": ("update audit_definition set body = '{{\"size\": \"huge\"}}'", "H1"),
    "a definition's digest edited": ("update audit_definition set digest = 'x'", "H1"),
    "an entry hidden from the search": ("delete from audit_search where entry_id = '{entry}'", "I3"),
    "words of what was redacted": (
        "update audit_payload set args = null, result = null where entry_id = '{entry}'", "K3",
    ),
    "words of what is gone": ("delete from audit_payload where entry_id = '{entry}'", "K3"),
}  # fmt: skip


def test_what_stands_beside_the_log_is_what_it_says(kept: dict[str, Any]) -> None:
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
            cursor.execute(statement)
        report = Report()
        verify_upkeep.check(report)
        transaction.set_rollback(True)
    return sorted(report.counts)
