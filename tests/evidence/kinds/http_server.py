"""A small HTTP server in the test process that answers with what a test wrote down, byte by byte if it has to."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import simplejson

Script = Callable[["Asked"], Iterable[bytes]]


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Server:
    """What it was asked, and what it answers: by the path (or, with "", anything), else 404."""

    port: int
    scripts: dict[str, Script] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, path: str, value: Any, status: int = 200, **headers: str) -> None:
        """Answer a path with JSON, at once."""
        body = value if isinstance(value, bytes) else simplejson.dumps(value, use_decimal=True).encode()
        self.scripts[path] = lambda asked: [whole(body, status, **headers)]

    def script_for(self, target: str) -> Script:
        found = self.scripts.get(target.partition("?")[0], self.scripts.get(""))
        return found if found is not None else lambda asked: [whole(b'{"nothing": "here"}', 404)]


def whole(body: bytes, status: int = 200, **headers: str) -> bytes:
    """An answer with its length and type."""
    told = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return f"HTTP/1.1 {status} Said\r\n{lines}\r\n".encode() + body


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


@contextmanager
def running(tls: ssl.SSLContext | None = None, address: str = "127.0.0.1") -> Iterator[Server]:
    """A server on a free port, until the block ends."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.bind((address, 0))
        listening.listen(64)
        server = Server(listening.getsockname()[1])
        threading.Thread(target=_accept, args=(listening, server, tls), daemon=True).start()
        try:
            yield server
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)


def _accept(listening: socket.socket, server: Server, tls: ssl.SSLContext | None) -> None:
    with suppress(OSError):
        while True:
            peer, _ = listening.accept()
            server.connections += 1
            threading.Thread(target=_serve, args=(peer, server, tls), daemon=True).start()


def _serve(peer: socket.socket, server: Server, tls: ssl.SSLContext | None) -> None:
    with suppress(OSError, ValueError), peer:
        stream = tls.wrap_socket(peer, server_side=True) if tls else peer
        with stream.makefile("rb") as reading:
            while asked := _read(reading):
                server.asked.append(asked)
                for piece in server.script_for(asked.target)(asked):
                    stream.sendall(piece)


def _read(reading: Any) -> Asked | None:
    first = reading.readline().decode("latin-1").split()
    if len(first) != 3:
        return None
    headers: dict[str, str] = {}
    while (line := reading.readline().decode("latin-1").strip()) != "":
        name, _, value = line.partition(":")
        assert name.lower() not in headers, f"{name} was sent twice"
        headers[name.lower()] = value.strip()
    return Asked(first[0], first[1], headers, reading.read(int(headers.get("content-length", "0"))))
