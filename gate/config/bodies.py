"""No request body is longer than what anything here reads. Django would put it on disk before it looks at the token."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpResponse

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

ENVELOPE = 65_536  # bytes that a form may need around what is counted as its data


@dataclass(frozen=True)
class Uploads:
    """The addresses that take more than a form, and how much."""

    addresses: re.Pattern[str]
    most: int
    refusal: Callable[[], HttpResponse]


def limited(
    application: Application, refusal: Callable[[], HttpResponse], uploads: Uploads | None = None
) -> Application:
    """The application behind a limit: a longer body is answered `refusal`, and cut off when its length was not said."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        most, refused = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + ENVELOPE, refusal
        if uploads is not None and uploads.addresses.fullmatch(scope.get("path", "")) is not None:
            most, refused = uploads.most + ENVELOPE, uploads.refusal
        if scope["type"] == "http" and _stated_length(scope) > most:
            await _answer(refused(), send)
            return
        await application(scope, _counted(receive, most), send)

    return serve


async def _answer(response: HttpResponse, send: Send) -> None:
    said = [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    headers = [*said, (b"connection", b"close")]  # what else the body holds is not read
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})


def _stated_length(scope: Message) -> int:
    said = dict(scope["headers"]).get(b"content-length", b"0")
    return int(said) if said.isdigit() else 0


def _counted(receive: Receive, most: int) -> Receive:
    size = 0

    async def watched() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        return message if size <= most else {"type": "http.disconnect"}

    return watched
