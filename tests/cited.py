"""What a pass in a test rests on: calls in the log with their receipts; and what can happen to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from django.db import connection
from django.utils import timezone

from audit import log, notes, seal
from audit.kinds import Kind
from audit.models import SealState, Verification


def recorded(**about: Any) -> log.Recorded:
    """A finished call."""
    agent = log.Actor("agent", "triage-agent", "mia")
    return log.record(Kind.CALL_FINISHED, agent, call_id=uuid4(), tool="find_job", args={}, result={"n": 1}, **about)


def receipt(*calls: log.Recorded) -> dict[str, Any]:
    """A verdict's receipt over calls; over one of its own when none is given."""
    cited = calls or (recorded(),)
    return {"entries": {one.ref: {"id": str(one.id), "digest": one.digest.hex()} for one in cited}}


KEY = notes.SigningKey("example.com/log", bytes(range(32)))


def seal_all() -> None:
    """Seal everything that is committed, and say that the sealer is well."""
    sealer = seal.Sealer([KEY])
    sealer.start()
    while sealer.round():
        pass
    say("sealing")
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_unlock_all()")


def say(state: str, sentence: str = "") -> None:
    """Have the sealer say how it does."""
    SealState.objects.bulk_create(
        [SealState(id=1, state=state, sentence=sentence, at=timezone.now())],
        update_conflicts=True, unique_fields=["id"], update_fields=["state", "sentence", "at"],
    )  # fmt: skip


def tamper(sockets: Path, statement: str, *values: object) -> None:
    """Run a statement as a superuser with the log's triggers off, as only an intruder could."""
    name = connection.settings_dict["NAME"]
    tables = ("audit_entry", "audit_payload", "audit_leaf", "audit_node", "audit_checkpoint")
    with psycopg.connect(host=str(sockets), user="postgres", dbname=name) as intruder:
        for table in tables:
            intruder.execute(f"alter table {table} disable trigger refuse_change")
        intruder.execute(statement, values)
        for table in tables:
            intruder.execute(f"alter table {table} enable always trigger refuse_change")


def verified(*findings: tuple[str, str], is_full: bool = True) -> Verification:
    """What a verification has found: codes and what they are about."""
    said = [{"code": code, "subject": subject, "sentence": "It is not what it was."} for code, subject in findings]
    return Verification.objects.create(
        size=9, is_full=is_full, findings=said, finding_count=len(said), is_clean=not said
    )
