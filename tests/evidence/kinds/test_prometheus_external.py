"""A Prometheus of the system's packages, started without anything that writes, proven and read."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.models import Definition
from evidence.bounds import DEFAULT
from evidence.contracts import Contract
from evidence.kinds import KINDS
from evidence.kinds.http import client
from evidence.kinds.kind import Found

PROMETHEUS = shutil.which("prometheus")
pytestmark = [
    pytest.mark.external,
    pytest.mark.skipif(PROMETHEUS is None, reason="no prometheus in the path; Debian's package brings one"),
]
CONFIGURATION = """
global: {{scrape_interval: 1s}}
scrape_configs: [{{job_name: itself, static_configs: [{{targets: ["127.0.0.1:{port}"]}}]}}]
"""
KIND = KINDS["prometheus"]


def start(folder: Path, port: int, *flags: str) -> subprocess.Popen[bytes]:
    (folder / "prometheus.yml").write_text(CONFIGURATION.format(port=port))
    command = [str(PROMETHEUS), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
               f"--web.listen-address=127.0.0.1:{port}", *flags]  # fmt: skip
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def source(port: int) -> Definition:
    body = {"kind": "prometheus", "url": f"http://127.0.0.1:{port}", "environment": "test", "addresses": ["127.0.0.1"]}
    return Definition(name="metrics", version=1, kind="source", body=body)


@pytest.fixture(params=[(), ("--web.enable-admin-api",)], ids=["shut", "open"])
def running(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Definition, bool]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = start(tmp_path, port, *request.param)
    try:
        wait_for(lambda: KIND.prove(source(port)).server != "")
        yield source(port), bool(request.param)
    finally:
        server.terminate()
        server.wait(20)
        client.close()


def wait_for(ready: Any) -> None:
    deadline = time.monotonic() + 30
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def query(source: Definition, text: str) -> Found:
    request = {"endpoint": "query", "parameters": {"query": text}}
    tool = Contract("tool", 1, "", "", "metrics", "metric", {}, {}, "live", [], request=request)
    return KIND.read(source, tool, {}, DEFAULT)


def test_it_is_proven_and_read(running: tuple[Definition, bool]) -> None:
    metrics, is_open = running
    assert KIND.prove(metrics).holds is not is_open
    wait_for(lambda: query(metrics, "up").result["data"]["result"] != [])
    assert query(metrics, "up").incomplete == ()
    assert query(metrics, "sum(nothing_here) or vector(0)").incomplete == ("nothing_scanned",)
