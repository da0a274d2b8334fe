"""The agents' plane over ASGI: MCP at /mcp, everything else Django's.

Django's handler knows no lifespan, and the MCP application needs one for its sessions, so it gets ours.
"""

import os
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")
django_app: Any = get_asgi_application()

from evidence import mcp, problems, strangers  # noqa: E402 - models can be imported only once Django is set up
from gate.config.bodies import Message, Receive, Send, Uploads, limited  # noqa: E402
from gate.config.requests import identified  # noqa: E402
from gate.triage import trace_uploads  # noqa: E402

mcp_app: Any = mcp.asgi_app()


async def _dispatch(scope: Message, receive: Receive, send: Send) -> None:
    """Send each connection to its application, and count those who come without a valid token."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1000})
    elif scope["type"] == "lifespan":
        await mcp_app(scope, receive, send)
    else:
        serve = mcp_app if scope["path"] == mcp.PATH else django_app
        await serve(scope, receive, _counting_strangers(scope, send))


def _counting_strangers(scope: Message, send: Send) -> Send:
    source = (scope.get("client") or ("unknown",))[0]

    async def watched(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 401:
            strangers.count(source)
        await send(message)

    return watched


uploads = Uploads(trace_uploads.OF_AGENTS, trace_uploads.LONGEST, lambda: problems.too_long(trace_uploads.LONGEST))
application = identified(limited(_dispatch, problems.too_long, uploads))
