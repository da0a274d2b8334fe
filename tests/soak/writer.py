"""What one writer does until it is killed, and the note that it takes of what was acknowledged."""

from __future__ import annotations

import os
import random
import time
import uuid
from pathlib import Path

import psycopg
from django.db import Error, connection, transaction

from audit import log
from audit.kinds import Kind
from tests.soak.server import Server

AGENT = log.Actor("agent", "soak-agent", "soak-owner")


class Undone(Exception):
    """The writer changes its mind."""


def write(server: Server, notes: Path, seed: int) -> None:
    """Write for ever: single entries, transactions, rollbacks. A note is the id and the digest of one entry."""
    server.become("agents")
    dice = random.Random(seed)  # noqa: S311
    handle = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        try:
            for entry in dice.choice((_call, _call, _together, _partly, _undone))(dice):
                os.write(handle, f"{entry.id} {entry.digest.hex()}\n".encode())
        except (Error, psycopg.Error):  # the server is away
            connection.close()
            time.sleep(0.1)


def _call(dice: random.Random) -> list[log.Recorded]:
    key = uuid.uuid4()
    start = log.record(Kind.CALL_STARTED, AGENT, call_id=key, tool="find_job", args={"job_id": dice.random() < 0.5})
    result = {"lines": ["timeout"] * dice.randrange(40)}
    return [start, log.record(Kind.CALL_FINISHED, AGENT, call_id=key, parent=start.id, tool="find_job", result=result)]


def _one() -> log.Recorded:
    return log.record_with(Kind.WRITE_PROPOSED, AGENT, subject="W-1", args={"job_id": 1})


def _together(dice: random.Random) -> list[log.Recorded]:
    with transaction.atomic():
        made = [_one() for _ in range(dice.randrange(1, 5))]
        time.sleep(dice.choice((0, 0, 0.05)))  # others commit in between
    return made


def _partly(dice: random.Random) -> list[log.Recorded]:
    with transaction.atomic():
        made = [_one()]
        try:
            with transaction.atomic():
                _one()
                raise Undone
        except Undone:
            made.append(_one())
    return made


def _undone(dice: random.Random) -> list[log.Recorded]:
    try:
        with transaction.atomic():
            _one()
            raise Undone
    except Undone:
        return []
