"""A log of its own with entries of months that are over, sealed: what retention is tried on."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from audit import log, notes, seal
from audit.kinds import Kind
from audit.models import Entry

KEY = notes.SigningKey("example.com/log", bytes(range(32)))
AGENT = log.Actor("agent", "triage-agent", "mia")


def first_of(months_ago: int) -> date:
    """The first day of a month, so many before this one."""
    today = datetime.now(UTC).date()
    count = today.year * 12 + today.month - 1 - months_ago
    return date(count // 12, count % 12 + 1, 1)


@dataclass
class Months:
    """Writes calls as of earlier months and seals what there is."""

    become: Callable[[str], None]
    socket: Path
    made: dict[int, list[Entry]] = field(default_factory=dict)

    def write(self, months_ago: int, count: int = 4, **about: Any) -> list[Entry]:
        """Calls that look as if they were recorded in a month that is over. Call it for the oldest first."""
        self.become("agents")
        keys = []
        for number in range(count):
            result = {"count": number, "word": "secret-word"}
            receipt = log.record(
                Kind.CALL_FINISHED, AGENT, tool="count_errors", call_id=uuid.uuid4(), result=result,
                args={"error": f"timeout {number}"}, **about,
            )  # fmt: skip
            keys.append(receipt.id)
        self.become("owner")
        if months_ago:
            keys = self.age(keys, first_of(months_ago))
        self.made[months_ago] = list(Entry.objects.filter(pk__in=keys).order_by("seq"))
        return self.made[months_ago]

    def age(self, keys: list[uuid.UUID], month: date) -> list[uuid.UUID]:
        """Give entries keys and times of a month, as an intruder with all rights could."""
        name = connection.settings_dict["NAME"]
        new = []
        with psycopg.connect(host=str(self.socket), user="postgres", dbname=name) as root:
            for parent in ("audit_entry", "audit_payload"):
                root.execute("select audit_ensure_partition(%s::regclass, %s)", [parent, month])
                root.execute(f"alter table {parent} disable trigger refuse_change")
            for number, key in enumerate(keys):
                at = datetime(month.year, month.month, 3, tzinfo=UTC) + timedelta(seconds=number)
                aged = uuid.UUID(int=int(at.timestamp() * 1000) << 80 | key.int & (1 << 80) - 1)
                root.execute("update audit_entry set id = %s, at = %s where id = %s", [aged, at, key])
                root.execute("update audit_payload set entry_id = %s where entry_id = %s", [aged, key])
                new.append(aged)
            owner = "counterseal_owner"
            for parent in ("audit_entry", "audit_payload"):
                root.execute(f"alter table {parent} enable always trigger refuse_change")
                root.execute(f"alter table {parent}{month:_%Y%m} owner to {owner}")
        return new

    def seal(self) -> None:
        """Seal all there is."""
        self.become("sealer")
        sealer = seal.Sealer([KEY])
        sealer.start()
        while sealer.round():
            pass
        connection.close()


@pytest.fixture
def months(own_log: str, as_role: Callable[[str], None], cluster_socket: Path) -> Months:
    return Months(as_role, cluster_socket)
