"""Strangers are counted, not recorded one by one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from audit import reading
from audit.models import Entry
from evidence import strangers

pytestmark = pytest.mark.django_db


def entries(source: str) -> list[Any]:
    found = Entry.objects.filter(kind="call.refused", error_class="unknown_token", summary__contains=f"from {source} ")
    return [reading.payload_of(entry.pk).args for entry in found]


def test_many_refusals_of_one_source_are_one_entry() -> None:
    for _ in range(57):
        strangers.count("192.0.2.7")
    strangers.count("192.0.2.8")
    assert entries("192.0.2.7") == []
    strangers.flush()
    strangers.flush()
    assert entries("192.0.2.7") == [{"source": "192.0.2.7", "requests": 57}]
    assert entries("192.0.2.8") == [{"source": "192.0.2.8", "requests": 1}]


def test_many_sources_do_not_make_many_entries() -> None:
    for number in range(1000):
        strangers.count(f"198.51.100.{number}")
    strangers.flush()
    found = Entry.objects.filter(kind="call.refused", error_class="unknown_token", summary__contains="198.51.100.")
    assert found.count() == strangers.MOST_SOURCES
    assert entries("other addresses")[-1]["requests"] == 1000 - strangers.MOST_SOURCES


def test_the_plane_counts_every_401() -> None:
    from gate.config import asgi_agents

    async def ask() -> list[Any]:
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/api/v1/tools", "query_string": b"", "headers": [
            (b"host", b"localhost")], "client": ("203.0.113.5", 1), "root_path": "", "http_version": "1.1"}  # fmt: skip
        await asgi_agents._counting_strangers(scope, send)({"type": "http.response.start", "status": 401})
        await asgi_agents._counting_strangers(scope, send)({"type": "http.response.start", "status": 200})
        return sent

    assert len(asyncio.run(ask())) == 2
    strangers.flush()
    assert entries("203.0.113.5") == [{"source": "203.0.113.5", "requests": 1}]
