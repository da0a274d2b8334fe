"""Log lines: one JSON object each, with the ids to follow something by, and no secret."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from audit import work
from gate.config import logs, requests

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def nothing_at_work() -> Iterator[None]:
    work.begin()
    yield
    work.begin()


def record(message: str, *args: Any, exc_info: Any = None) -> logging.LogRecord:
    return logging.LogRecord("gate.x", logging.WARNING, __file__, 1, message, args, exc_info)


def line(message: str, *args: Any, exc_info: Any = None) -> dict[str, Any]:
    return dict(json.loads(logs.JSONFormatter().format(record(message, *args, exc_info=exc_info))))


def test_a_line_says_when_how_bad_where_what_and_who(settings: Any) -> None:
    settings.PROCESS = "writer"
    found = line("W-%d is slow", 577)
    assert found.pop("time").endswith("+00:00")
    assert found == {"level": "warning", "logger": "gate.x", "message": "W-577 is slow", "process": "writer"}


def test_it_carries_what_the_process_is_at_work_on() -> None:
    work.begin(job="7", task="gate.triage.tasks.render_verdict", subject="318")
    work.also(subject="V-2041", entry="A-9", nothing="")
    found = line("done")
    assert (found["job"], found["subject"], found["entry"]) == ("7", "V-2041", "A-9")
    assert "nothing" not in found
    work.begin(request="abcdefgh")
    assert "job" not in line("next")


@given(st.text())
def test_whatever_is_said_is_one_line_of_json(said: str) -> None:
    work.begin(subject=said)
    written = logs.JSONFormatter().format(record("%s", said))
    assert "\n" not in written
    json.loads(written)


def test_a_subject_cannot_begin_a_line_of_text() -> None:
    work.begin(subject="tool x\n2026-11-29 INFO forged")
    assert "\n" not in logs.TextFormatter().format(record("said"))


@pytest.mark.parametrize("formatter", logs.FORMATTERS.values())
@pytest.mark.parametrize(
    "said",
    [
        "connection to postgresql://counterseal_people:hunter22@db/counterseal failed",
        "Authorization: Bearer csa_hunter22hunter22hunter22",
        "csi_hunter22hunter22hunter22 is unknown",
        'password="hunter22"',
    ],
)
def test_no_secret_is_written(formatter: Any, said: str) -> None:
    try:
        raise ValueError(said)
    except ValueError:
        written = formatter().format(record("It broke: %s", said, exc_info=sys.exc_info()))
    assert "hunter22" not in written
    assert "ValueError" in written


def answer(path: str = "/inbox/", status: int = 200, headers: tuple[tuple[bytes, bytes], ...] = ()) -> dict[str, Any]:
    """What a caller gets from an application behind `identified`, and what it knew of its request."""
    found: dict[str, Any] = {}

    async def application(scope: Any, receive: Any, send: Any) -> None:
        found["about"] = dict(work.about())
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Any) -> None:
        found.setdefault("messages", []).append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"q=1", "headers": list(headers)}
    asyncio.run(requests.identified(application)(scope, receive, send))
    return found


def echoed(found: dict[str, Any]) -> str:
    return str(dict(found["messages"][0]["headers"])[b"x-request-id"].decode())


def test_a_sane_request_id_is_taken_and_echoed() -> None:
    found = answer(headers=((b"x-request-id", b"proxy-0123.4_5"),))
    assert (echoed(found), found["about"]["request"]) == ("proxy-0123.4_5", "proxy-0123.4_5")


@pytest.mark.parametrize("given_id", [b"", b"short", b"a" * 65, b"with space in", b"line\nbreak-in-it", b"\xff" * 12])
def test_any_other_is_drawn_anew(given_id: bytes) -> None:
    found = answer(headers=((b"x-request-id", given_id),))
    assert echoed(found) != given_id.decode("latin-1")
    assert len(echoed(found)) == 32
    assert found["about"]["request"] == echoed(found)


def test_each_answer_is_one_line_without_its_query_or_a_secret_link(caplog: Any) -> None:
    with caplog.at_level("INFO"):
        answer("/invitations/Zk3o9vQm2kLxY7w-_Tn5r8pB-0123456/", 404)
        answer("/drafts/2041/\nforged")
    first, second = (one.getMessage() for one in caplog.records)
    assert first.startswith("GET /invitations/[masked]/ 404 in ")
    assert second.startswith("GET /drafts/2041/\\nforged 200 in ")


def test_questions_of_monitors_are_said_only_when_they_fail(caplog: Any) -> None:
    with caplog.at_level("INFO"):
        answer("/healthz")
        answer("/metrics")
        answer("/healthz", 503)
    assert [one.getMessage()[:16] for one in caplog.records] == ["GET /healthz 503"]


def test_the_form_is_chosen_by_the_environment_or_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COUNTERSEAL_LOG", raising=False)
    for is_terminal, form in ((True, "text"), (False, "json")):
        monkeypatch.setattr("sys.stderr", type("Stream", (), {"isatty": lambda self, so=is_terminal: so})())
        assert logs.chosen_format() == form
    monkeypatch.setenv("COUNTERSEAL_LOG", "text")
    assert logs.chosen_format() == "text"
    monkeypatch.setenv("COUNTERSEAL_LOG", "xml")
    with pytest.raises(ImproperlyConfigured, match="text or json"):
        logs.chosen_format()


@pytest.mark.parametrize("words", [["worker", "--queues", "verdicts", "--concurrency", "1"], ["beat", "--pidfile", ""]])
def test_celery_writes_no_other_kind_of_line(words: list[str]) -> None:
    environment = {
        **os.environ, "COUNTERSEAL_PROCESS": "worker", "COUNTERSEAL_LOG": "json", "PYTHONWARNINGS": "ignore",
        "DATABASE_URL": "postgresql://counterseal_worker:hunter22@/x?host=/nowhere",
        "COUNTERSEAL_BROKER_URL": "redis+socket:///nowhere",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "gate.config.celery", *words, "--loglevel", "INFO"],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    lines = [json.loads(one) for one in done.stderr.splitlines()]
    assert any(one["logger"] == "gate.config.celery" and one["level"] == "error" for one in lines)
    assert "hunter22" not in done.stderr + done.stdout
