"""No body is taken that nothing would read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.http import HttpResponse

from gate.config.bodies import ENVELOPE, Uploads, limited
from gate.triage import trace_uploads

MOST = 100 + ENVELOPE


async def taken(chunks: list[int], headers: list[tuple[bytes, bytes]]) -> tuple[int, list[Any]]:
    """How many bytes an application was given, and what was sent."""
    got, sent = 0, []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        nonlocal got
        while (message := await receive())["type"] == "http.request":
            got += len(message["body"])
            if not message["more_body"]:
                break

    messages = iter({"type": "http.request", "body": b"x" * size, "more_body": True} for size in chunks)

    async def receive() -> Any:
        return next(messages, {"type": "http.request", "body": b"", "more_body": False})

    async def send(message: Any) -> None:
        sent.append(message)

    await limited(application, lambda: HttpResponse(status=413))({"type": "http", "headers": headers}, receive, send)
    return got, sent


@pytest.mark.parametrize(
    ("chunks", "headers", "got", "status"),
    [
        ([MOST], [], MOST, None),
        ([10] * 9, [(b"content-length", b"90")], 90, None),
        ([MOST // 2] * 9, [], MOST // 2 * 2, None),
        ([], [(b"content-length", str(MOST + 1).encode())], 0, 413),
        ([MOST // 2] * 9, [(b"content-length", b"7")], MOST // 2 * 2, None),
    ],
)
def test_a_body_ends_where_nothing_reads_on(
    settings: Any, chunks: list[int], headers: Any, got: int, status: int | None
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    seen, sent = asyncio.run(taken(chunks, headers))
    assert seen == got
    assert [message["status"] for message in sent if "status" in message] == ([status] if status else [])


@pytest.mark.parametrize("plane", ["people", "agents"])
def test_both_planes_stand_behind_the_limit(settings: Any, plane: str) -> None:
    from importlib import import_module

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-length", b"99999999")]
    scope = {"type": "http", "method": "POST", "path": "/healthz", "query_string": b"", "headers": headers}
    asyncio.run(import_module(f"gate.config.asgi_{plane}").application(scope, None, send))
    assert sent[0]["status"] == 413


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/investigations/7/trace", None),
        ("/api/v1/investigations/7/findings", 413),
        ("/api/v1/investigations/7/trace/", 413),
        ("/x/api/v1/investigations/7/trace", 413),
        ("/api/v1/investigations/\u0667/trace", 413),
    ],
)
def test_an_upload_may_be_longer_and_nothing_else(settings: Any, path: str, status: int | None) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    uploads = Uploads(trace_uploads.OF_AGENTS, 1_000_000, lambda: HttpResponse(status=422))
    sent: list[Any] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    def ask(length: int) -> list[int]:
        sent.clear()
        scope = {"type": "http", "path": path, "headers": [(b"content-length", str(length).encode())]}
        served = limited(application, lambda: HttpResponse(status=413), uploads)

        async def serve() -> None:
            await served(scope, receive, send)

        asyncio.run(serve())
        return [message["status"] for message in sent if "status" in message]

    assert ask(900_000) == ([status] if status else [])
    assert ask(2_000_000) == [status or 422]  # with the sentence of its own
