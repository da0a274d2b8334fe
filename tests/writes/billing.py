"""A small HTTP service with refunds, on a port of this machine: it can lose its answers, and worse."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Billing:
    """What the service holds, what was sent to it, and how it behaves."""

    refunds: dict[str, str] = field(default_factory=lambda: {"r-1": "pending"})
    got: list[dict[str, Any]] = field(default_factory=list)
    mode: str = "answers"
    reads: str = "answers"
    port: int = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def sent(self) -> list[dict[str, Any]]:
        return [one for one in self.got if one["method"] != "GET"]


@contextmanager
def running() -> Iterator[Billing]:
    """The service, until the block ends."""
    state = Billing()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    state.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


def _handler(state: Billing) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._keep()
            if state.reads == "lost":
                self.connection.close()
                return
            status = state.refunds[self.path.rsplit("/", 1)[1]]
            body = b"x" * 300_000 if state.reads == "huge" else json.dumps({"refund": {"status": status}}).encode()
            self._answer(500 if state.reads == "broken" else 200, body)

        def do_POST(self) -> None:
            self._keep()
            number = self.path.rsplit("/", 1)[1]
            if state.mode not in ("refuses", "loses the request", "accepts only"):
                state.refunds[number] = "refunded"
            if state.mode.startswith("loses"):
                self.connection.close()
                return
            if state.mode == "dawdles":
                time.sleep(1.5)
            codes = {"refuses": 422, "breaks": 500, "redirects": 303, "conflicts": 409}
            self._answer(codes.get(state.mode, 200), b'{"ok": true}')

        def _keep(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            state.got.append({
                "method": self.command, "path": self.path, "headers": dict(self.headers),
                "body": self.rfile.read(length),
            })  # fmt: skip

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            if status == 303:
                self.send_header("Location", f"http://{state.host}/elsewhere/x")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Handler
