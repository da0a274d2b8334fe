"""Downloads through the server's own interface: they stream, and a receiver that goes away leaves nothing open."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client

from audit import export_rows, log
from audit.kinds import Kind
from audit.models import Entry

pytestmark = pytest.mark.django_db(transaction=True)
AGENT = log.Actor("agent", "download-agent", "mia")


def scope(path: str, query: str, cookies: str, length: int) -> dict[str, Any]:
    headers = [
        (b"host", b"localhost"), (b"cookie", cookies.encode()), (b"content-length", str(length).encode()),
        (b"content-type", b"application/x-www-form-urlencoded"),
    ]  # fmt: skip
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": path,
        "raw_path": path.encode(), "query_string": query.encode(), "headers": headers, "scheme": "http",
        "server": ("localhost", 8000), "client": ("127.0.0.1", 5), "root_path": "",
    }  # fmt: skip


class Receiver:
    """One caller of the ASGI application, who goes away after so many pieces."""

    def __init__(self, body: bytes, most: int | None = None) -> None:
        self.body, self.most = body, most
        self.pieces: list[bytes] = []
        self.status = 0
        self.gone = asyncio.Event()
        self.asked = False
        self.has_ended = False

    async def receive(self) -> dict[str, Any]:
        if not self.asked:
            self.asked = True
            return {"type": "http.request", "body": self.body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        if message.get("body"):
            self.pieces.append(message["body"])
        self.has_ended = not message.get("more_body", False)
        if self.most is not None and len(self.pieces) >= self.most:
            self.gone.set()
            await asyncio.sleep(3600)  # it reads nothing any more


@pytest.fixture
def download(client: Client, make_person: Any) -> Callable[..., Receiver]:
    client.force_login(make_person("ida", "auditor", "Ida Down"))
    page = client.get("/audit/?subject=none").content.decode()
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    (token,) = set(
        re.findall(
            r'action="/audit/export/[^>]*>\s*<input type="hidden" name="csrfmiddlewaretoken" value="(\w+)"', page
        )
    )

    def get(query: str, most: int | None = None) -> Receiver:
        async def call() -> Receiver:
            from gate.config.asgi_people import application

            body = f"format=jsonl&csrfmiddlewaretoken={token}".encode()
            receiver = Receiver(body, most)
            async with asyncio.timeout(60):
                await application(scope("/audit/export/", query, cookies, len(body)), receiver.receive, receiver.send)
            return receiver

        return asyncio.run(call())

    return get


def entries(count: int, tool: str) -> None:
    for _ in range(count):
        log.record(Kind.CALL_FINISHED, AGENT, tool=tool, result={"text": "x" * 2000})


def last_export() -> Entry:
    return Entry.objects.filter(kind=Kind.LOG_EXPORTED, actor="Ida Down").order_by("-seq")[0]


def open_transactions(superuser: Any) -> list[Any]:
    found = superuser.execute(
        "select state, query from pg_stat_activity where datname = %s"
        " and xact_start is not null and pid <> %s and backend_type = 'client backend'",
        [connection.settings_dict["NAME"], superuser.info.backend_pid],
    )
    return list(found.fetchall())


def test_it_streams_piece_by_piece(download: Any) -> None:
    assert django_settings.ROOT_URLCONF == "gate.config.urls_people"
    entries(170, "streamed")
    got = download("tool=streamed")
    assert (got.status, got.has_ended) == (200, True)
    assert len(got.pieces) >= 2 + 4
    assert max(map(len, got.pieces)) <= 65536
    lines = [json.loads(line) for line in b"".join(got.pieces).splitlines()]
    assert [line["type"] for line in lines] == ["export", *["entry"] * 170, "checkpoint"]
    assert last_export().summary == "170 entries left, as JSONL"


def test_a_receiver_that_goes_away_leaves_nothing_open_and_an_entry(
    download: Any, superuser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_rows, "BATCH", 10)
    entries(60, "left")
    got = download("tool=left", most=3)
    assert not got.has_ended
    assert open_transactions(superuser) == []
    assert (last_export().status, last_export().summary) == (
        "stopped",
        "20 entries left before it was stopped, as JSONL",
    )
