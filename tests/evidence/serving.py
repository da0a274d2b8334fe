"""The agents' plane under a real uvicorn, in a thread of the test's process, and stock clients for it."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2
import uvicorn
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client


@contextmanager
def running() -> Iterator[str]:
    """The plane's address. Each run has its own MCP application: one can be started only once."""
    from evidence import mcp
    from gate.config import asgi_agents

    asgi_agents.mcp_app = mcp.asgi_app()
    server = uvicorn.Server(uvicorn.Config(asgi_agents.application, host="127.0.0.1", port=0, log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


@asynccontextmanager
async def connected(url: str, token: str, mode: Any = "auto") -> AsyncIterator[Client]:
    """A stock MCP client with a bearer token."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=20) as http:
        async with Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client:
            yield client
