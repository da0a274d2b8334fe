"""A sealed log to tamper with, made once for the run and copied for each test, with what left it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection

from audit import log, notes, seal, streams
from audit.kinds import Kind
from audit.models import Checkpoint, Entry
from audit.verify import note
from audit.verify.receipts import Receipt
from audit.verify.run import Outside
from gate.config import fingerprint
from gate.config.roles import GRANTS, role_name
from tests.conftest import EMPTY_LOG

KEY = notes.SigningKey("example.com/log", bytes(range(32)))
KNOWN = (note.parse_key(str(KEY.public)),)
AGENT = log.Actor("agent", "triage-agent", "mia")
SIZES = (250, 450, 570)
UNSEALED = 30
SEALED_LOG = "sealed_log"


@dataclass(frozen=True)
class Published:
    """What left the log while it was whole."""

    pins: tuple[note.Note | note.Unreadable, ...]
    receipts: tuple[Receipt, ...]

    def outside(self) -> Outside:
        return Outside(KNOWN, self.pins, self.receipts)


class Writer:
    """A session that writes as the agents' plane does: a call's start and its finish, several to a transaction."""

    def __init__(self, session: psycopg.Connection[Any]) -> None:
        self.session = session
        self.run = secrets.token_hex(8)
        self.number = 0
        self.call = UUID(int=0)

    def write(self, count: int) -> None:
        for _ in range(count):
            self.number += 1
            is_start = self.number % 2 == 1
            self.call = uuid4() if is_start else self.call
            about: Any = {"call_id": self.call, "tool": "count_errors", "args": {"match_count": 100 + self.number}}
            if not is_start:
                about["result"] = {"match_count": 1000 + self.number, "lines": ["timeout"] * 5}
            kind = Kind.CALL_STARTED if is_start else Kind.CALL_FINISHED
            log._insert(self.session.cursor(), streams.Position(self.run, self.number), kind, AGENT, about)
            if self.number % 5 == 0:
                self.session.commit()
        self.session.commit()


def build(become: Callable[[str], None], agents: psycopg.Connection[Any]) -> None:
    """Fill the log that Django is connected to: three checkpoints and a tail that is not sealed."""
    become("owner")
    fingerprint.record_when_changed()
    become("sealer")
    sealer = seal.Sealer([KEY])
    sealer.start()
    streams.close()
    writers = [Writer(agents), Writer(agents)]
    for size in SIZES:
        missing = size - Entry.objects.count()
        writers[0].write(missing // 2)
        writers[1].write(missing - missing // 2)
        while sealer.round():
            pass
    writers[0].write(UNSEALED)


def published() -> Published:
    """The notes and the receipts of the log that Django is connected to."""
    found = [note.parse(text) for text in Checkpoint.objects.order_by("size").values_list("note", flat=True)]
    entries = Entry.objects.values_list("id", "digest")
    return Published(tuple(found), tuple(Receipt(str(key), bytes(digest).hex()) for key, digest in entries))


_made: dict[str, Published] = {}


def ensure_made(become: Callable[[str], None], superuser: Any, sockets: Path) -> Published:
    """The sealed log that tests copy, made when there is none yet; Django stands in it, or where it stood before."""
    if not _made:
        copy(superuser, EMPTY_LOG, SEALED_LOG)
        use(SEALED_LOG)
        agents = f"host={sockets} dbname={SEALED_LOG} user={role_name('agents')} password=test-agents"
        with psycopg.connect(agents) as session:
            build(become, session)
        _made["log"] = published()
        streams.close()
    return _made["log"]


@pytest.fixture
def original_log(as_role: Callable[[str], None], superuser: Any, cluster_socket: Path) -> Iterator[Published]:
    """The sealed log itself, for a superuser who rolls back what he does. Copying it takes longer."""
    usual = connection.settings_dict["NAME"]
    made = ensure_made(as_role, superuser, cluster_socket)
    use(SEALED_LOG)
    connection.settings_dict["USER"] = "postgres"
    yield made
    use(usual)


@pytest.fixture
def sealed_log(as_role: Callable[[str], None], superuser: Any, cluster_socket: Path) -> Iterator[Published]:
    """A copy of the sealed log, which Django uses as the auditor until the test ends."""
    usual, name = connection.settings_dict["NAME"], f"log_{secrets.token_hex(4)}"
    made = ensure_made(as_role, superuser, cluster_socket)
    connection.close()
    copy(superuser, SEALED_LOG, name)
    use(name)
    as_role("auditor")
    yield made
    connection.close()
    streams.close()
    use(usual)
    superuser.execute(f"drop database {name} with (force)")


def copy(superuser: Any, template: str, name: str) -> None:
    """A database like another one. What it allows to whom is not copied with it."""
    superuser.execute(f"create database {name} template {template} strategy file_copy owner {role_name('owner')}")
    superuser.execute(f"revoke all on database {name} from public")
    for process in GRANTS:
        superuser.execute(f"grant connect on database {name} to {role_name(process)}")


def use(database: str) -> None:
    """Django goes on in this database."""
    connection.close()
    connection.settings_dict["NAME"] = database


@pytest.fixture
def intruder(sealed_log: Published, cluster_socket: Path) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's session on the test's log."""
    name = connection.settings_dict["NAME"]
    with psycopg.connect(host=str(cluster_socket), dbname=name, user="postgres") as session:
        yield session
