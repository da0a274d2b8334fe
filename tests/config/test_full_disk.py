"""A disk that is really full: the start says so, a running product refuses with that sentence, and goes on by itself.

On a small file system in memory, which only root may mount. What the server itself does is PostgreSQL's; what is shown
for it is ours.
"""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from audit import disk
from gate.config import embedded
from tests.config import asking
from tests.config.supervised import Up, left_of, said_until, start, wait_until

pytestmark = pytest.mark.timeout(600)  # on a busy machine
PATIENCE = 90.0


@pytest.fixture(scope="module")
def volume() -> Iterator[Path]:
    """A disk of 260 MB."""
    place = Path(tempfile.mkdtemp(prefix="counterseal-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=260m,mode=0755", "tmpfs", place], capture_output=True, text=True
    )
    if mounted.returncode:
        place.rmdir()
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)
    place.rmdir()


def fill(volume: Path) -> Path:
    """A file that takes all the room there is."""
    filling = volume / "filling"
    with filling.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(b"\0" * 1_048_576)
        except OSError:
            pass
    return filling


def refused(var: Path) -> str:
    process = start(var).process
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "Traceback" not in said
    return said


@pytest.fixture(scope="module")
def running(volume: Path) -> Iterator[Up]:
    up = start(volume / "var")
    said_until(up.process)
    yield up
    if up.process.poll() is None:
        up.process.send_signal(signal.SIGINT)
    up.process.communicate(timeout=PATIENCE)


def demo(up: Up) -> dict[str, Any]:
    return dict(json.loads((up.var / "demo.json").read_text()))


def sign_in(up: Up) -> tuple[int, str]:
    return asking.sign_in(up.ports[0], "ada", demo(up)["people"]["ada"])


def sign_in_until_refused(up: Up) -> str:
    """The last pages that the tables have may still take an entry or two."""
    for _ in range(12):  # an address has twenty tries
        status, body = sign_in(up)
        if status == 503:
            return body
        assert status == 302
    raise AssertionError("The disk is full, and people go on signing in.")


def call(up: Up, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    return asking.post(up.ports[1], path, demo(up)["agent_token"], body)


def call_until_refused(up: Up) -> dict[str, Any]:
    for _ in range(60):
        status, said = call(up, "/api/v1/tools/find_job", {"arguments": {"job_id": 90412}})
        if status == 503:
            return said
        assert status == 409  # there is no investigation: that refusal is an entry, too
    raise AssertionError("The disk is full, and calls go on being recorded.")


def over_mcp(up: Up) -> str:
    params = {"name": "find_job", "arguments": {"job_id": 90412}}
    _, said = call(up, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    assert said["result"]["isError"] is True
    return str(said["result"]["content"][0]["text"])


def entries(up: Up) -> int:
    with embedded.superuser_connection(up.var / "run", "counterseal") as connection:
        row = connection.execute("select count(*) from audit_entry").fetchone()
    return int(row[0]) if row else 0


def wrong(up: Up) -> list[str]:
    return [one for port in up.ports for one in json.loads(asking.ask(port, "GET", "/healthz")[1])["wrong"]]


def is_well(up: Up) -> bool:
    try:
        return up.is_healthy() and sign_in(up)[0] == 302
    except OSError:
        return False


def test_a_start_on_a_full_disk_says_which(volume: Path) -> None:
    filling = fill(volume)
    said = refused(volume / "var")
    filling.unlink()
    assert f"The disk at {volume}, which holds {volume / 'var'}, has 0 MB left, and a start needs 200 MB." in said
    assert "Free some space on it, or move COUNTERSEAL_VAR to another disk." in said
    assert not (volume / "var").exists()


def test_what_cannot_be_recorded_is_refused_with_the_reason(running: Up, volume: Path) -> None:
    filling = fill(volume)
    try:
        problem = call_until_refused(running)
        page = sign_in_until_refused(running)
        recorded = entries(running)
        assert disk.NOTHING_CHANGED in page or disk.PARTLY_RECORDED in page  # the sign-in is an entry of its own
        assert "Free some space on it, and everything goes on by itself." in page
        assert problem["detail"].startswith(disk.NOTHING_CHANGED)
        assert over_mcp(running).startswith(disk.NOTHING_CHANGED)
        assert "The disk that holds the database is full." in wrong(running)
        assert [running.health(port) for port in running.ports] == [503, 503]
        assert entries(running) == recorded
        # Whoever only looks is served.
        assert asking.ask(running.ports[0], "GET", "/sign-in/")[0] == 200
    finally:
        filling.unlink()
    wait_until(lambda: is_well(running), "it is well again, with room")
    assert entries(running) > recorded


def stop_the_database(up: Up) -> None:
    """Fill its journal, as a busy day would: without room for the next file of it the server gives up."""
    with pytest.raises(psycopg.OperationalError):
        with embedded.superuser_connection(up.var / "run", "counterseal") as connection:
            for _ in range(200):
                connection.execute("select pg_logical_emit_message(false, 'x', repeat('y', 1000000))")


def test_a_database_that_a_full_disk_stopped_is_said_and_comes_back(running: Up, volume: Path) -> None:
    kept = entries(running)
    filling = fill(volume)
    try:
        stop_the_database(running)
        wait_until(lambda: disk.STOPPED in wrong(running), "both planes say why the database is gone")
        status, page = sign_in(running)
        assert (status, disk.STOPPED in page, "Check the log" in page) == (503, True, True)
        assert call(running, "/api/v1/tools/find_job", {"arguments": {"job_id": 1}})[1]["code"] == "disk_full"
    finally:
        filling.unlink()
    began = time.monotonic()
    wait_until(lambda: is_well(running), "it is well again, with room")
    assert time.monotonic() - began < 45
    assert entries(running) > kept


def test_it_stops_in_order_on_a_full_disk(running: Up, volume: Path) -> None:
    filling = fill(volume)
    running.process.send_signal(signal.SIGINT)
    said, _ = running.process.communicate(timeout=PATIENCE)
    filling.unlink()
    assert (running.process.returncode, left_of(running.var)) == (0, []), said
    assert "has 0 MB left, and a start needs 64 MB." in _refused_when_full(volume)


def _refused_when_full(volume: Path) -> str:
    filling = fill(volume)
    try:
        return refused(volume / "var")
    finally:
        filling.unlink()
