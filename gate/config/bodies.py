"""No request body is longer than what anything here reads. Django would put it on disk before it looks at the token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

ENVELOPE = 65_536  # bytes that a form may need around what is counted as its data
PLAIN = [(b"content-type", b"text/plain"), (b"connection", b"close")]


def limited(application: Application) -> Application:
    """The application behind a limit: a longer body is answered 413, and cut off when its length was not said."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + ENVELOPE
        if scope["type"] == "http" and _stated_length(scope) > most:
            await send({"type": "http.response.start", "status": 413, "headers": PLAIN})
            await send({"type": "http.response.body", "body": b"The body is too long; send less."})
            return
        await application(scope, _counted(receive, most), send)

    return serve


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
