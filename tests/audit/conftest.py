from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection

from audit import log, seal, twohands
from audit.kinds import Kind
from audit.models import Entry
from tests.audit.logs import KEY

AGENT = log.Actor("agent", "triage-agent", "mia")
MIA = log.Actor("person", "Mia", "mia")


def check_gadget(name: str, body: dict[str, Any]) -> None:
    if body.get("size") == "none":
        raise ValueError("A gadget has a size.")


@pytest.fixture
def gadgets() -> Iterator[twohands.DefinitionKind]:
    """A kind of definition that only tests know."""
    kind = twohands.DefinitionKind("gadget", "gadgets", "Gadgets", "gate.change_definition", check_gadget)
    twohands.register(kind)
    yield kind
    del twohands.KINDS["gadget"]


@pytest.fixture
def call(db: None) -> Any:
    """Record a whole call: (start, finish) entries."""

    def make(tool: str = "count_errors", args: Any = None, result: Any = None, **about: Any) -> tuple[Entry, Entry]:
        key = uuid.uuid4()
        start = log.record(Kind.CALL_STARTED, AGENT, call_id=key, tool=tool, args=args)
        finish = log.record(
            Kind.CALL_FINISHED, AGENT, call_id=key, parent=start.id, tool=tool, args=args, result=result,
            duration_ms=41, **about,
        )  # fmt: skip
        return Entry.objects.get(pk=start.id), Entry.objects.get(pk=finish.id)

    return make


@pytest.fixture
def tamper(cluster_socket, db):
    """Run a statement as the superuser with the log's triggers off, as only an intruder could."""

    def run(statement: str, *parameters: object) -> None:
        name = connection.settings_dict["NAME"]
        with psycopg.connect(host=str(cluster_socket), user="postgres", dbname=name) as intruder:
            for table in ("audit_entry", "audit_payload", "audit_checkpoint"):
                intruder.execute(f"alter table {table} disable trigger refuse_change")
            intruder.execute(statement, parameters)
            for table in ("audit_entry", "audit_payload", "audit_checkpoint"):
                intruder.execute(f"alter table {table} enable always trigger refuse_change")

    return run


@pytest.fixture
def growing(own_log: str, as_role: Callable[[str], None]) -> Callable[[str], Callable[[int], int]]:
    """For a process: what writes entries, seals them in one checkpoint, and is that process again; the log's size."""

    def growing_for(process: str) -> Callable[[int], int]:
        def by(count: int) -> int:
            connection.close()
            as_role("owner")
            for number in range(count):
                log.record(Kind.COMMENT_ADDED, MIA, subject=f"V-{number}")
            as_role("sealer")
            sealer = seal.Sealer([KEY])
            sealer.start()
            sealer.round()
            as_role(process)
            return sealer.frontier.size

        return by

    return growing_for
