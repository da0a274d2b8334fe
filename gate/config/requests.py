"""Each request has an id: the one that the proxy or the caller gave it, or one of our own. Its log lines carry it."""

from __future__ import annotations

import logging
import re
import time
import uuid

from audit import work
from gate.config.bodies import Application, Message, Receive, Send

HEADER = b"x-request-id"
SANE = re.compile(rb"[A-Za-z0-9._-]{8,64}")
# A segment of a path that may be a secret, as in the link of an invitation: long, and no word of ours.
SECRET = re.compile(r"(?<=/)[\w:-]{30,}(?=/|$)")
PRINTED = 200  # characters of a path
QUIET = ("/healthz", "/metrics")  # asked every few seconds; said only when they fail
log = logging.getLogger(__name__)


def identified(application: Application) -> Application:
    """The application, with an id for each request, which is echoed, and a log line for each answer."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        request = _request_id(scope)
        work.begin(request=request)
        began = time.monotonic()

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), (HEADER, request.encode())]}
                _say(scope, message["status"], time.monotonic() - began)
            await send(message)

        await application(scope, receive, answer)

    return serve


def _request_id(scope: Message) -> str:
    given = dict(scope["headers"]).get(HEADER, b"")
    return given.decode() if SANE.fullmatch(given) else uuid.uuid4().hex


def _say(scope: Message, status: int, seconds: float) -> None:
    if scope["path"] in QUIET and status < 400:
        return
    # The query is left out: what people search for and what callers put there is not the log's business.
    path = SECRET.sub("[masked]", scope["path"])[:PRINTED].encode("unicode_escape", "replace").decode()
    log.info("%s %s %d in %.0f ms", scope["method"], path, status, seconds * 1000)
