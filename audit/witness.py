"""The witness as a server: a process of its own, in another hand than the log's, without the log's database.

`POST /add-checkpoint` takes checkpoints; `GET /checkpoint/ORIGIN` shows the newest, cosigned, to whoever asks.
"""

from __future__ import annotations

import http.server
import logging
import socketserver
import threading
from pathlib import Path
from urllib.parse import unquote

from audit import files
from audit.verify import note
from audit.witnessing import Answer, Witness, own_key

log = logging.getLogger(__name__)

LARGEST_BODY = 64 * 1024  # a note with some signatures and 63 lines of proof take a tenth of it
SECONDS_TO_SPEAK = 10.0
MOST_AT_ONCE = 32


class CannotWitness(Exception):
    """The sentence that says why the witness does not start."""


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Answers each caller in a thread of its own, so many at once and no more."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], witness: Witness) -> None:
        self.witness = witness
        self.free = threading.BoundedSemaphore(MOST_AT_ONCE)
        super().__init__(address, Handler)

    def process_request(self, request: object, client_address: object) -> None:
        """Hand a caller to a thread; whoever comes while all are busy is hung up on, and may come again."""
        if not self.free.acquire(blocking=False):
            self.shutdown_request(request)  # type: ignore[arg-type]
            return
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def process_request_thread(self, request: object, client_address: object) -> None:
        """Answer one caller, and be free for the next."""
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]
        finally:
            self.free.release()


class Handler(http.server.BaseHTTPRequestHandler):
    """One caller. It is heard for ten seconds, and for 64 KiB."""

    server: Server
    timeout = SECONDS_TO_SPEAK
    server_version, sys_version = "counterseal-witness", ""

    def do_POST(self) -> None:
        """A checkpoint that is offered."""
        length = self.headers.get("Content-Length", "")
        if self.path != "/add-checkpoint":
            self._answer(Answer(404, "Post to /add-checkpoint.\n"))
        elif not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            self._answer(Answer(411, "Say the Content-Length.\n"))
        elif len(length) > 9 or int(length) > LARGEST_BODY:
            self._answer(Answer(413, "That is longer than any checkpoint with its proof.\n"))
        else:
            self._add(self.rfile.read(int(length)), int(length))

    def _add(self, body: bytes, length: int) -> None:
        if len(body) != length:
            return  # whoever it was hung up
        answer = self.server.witness.add(body)
        log.log(logging.INFO if answer.status == 200 else logging.WARNING, "A checkpoint: %d", answer.status)
        self._answer(answer)

    def do_GET(self) -> None:
        """The newest note that was cosigned."""
        start, _, origin = self.path.partition("/checkpoint/")
        found = self.server.witness.latest(unquote(origin)) if not start and origin else None
        self._answer(Answer(404, "There is no such checkpoint.\n") if found is None else Answer(200, found))

    def _answer(self, answer: Answer) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Nothing of a stranger's text goes into the log; what was decided does."""


def server(listen: str, state: Path, keys: str, name: str) -> Server:
    """A witness that is ready to serve, for logs with these keys, a line each. Raises CannotWitness."""
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Held as long as the process lives.
        files.lock(state / "lock")
        return Server(_address(listen), Witness(state, note.parse_keys(keys), own_key(state, name)))
    except files.Taken:
        raise CannotWitness(f"Another witness keeps its notes in {state}; two would answer differently.") from None
    except (OSError, ValueError, OverflowError) as problem:
        raise CannotWitness(f"{problem}") from problem


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()):
        raise CannotWitness("Say where to listen like 127.0.0.1:8002.")
    return host.strip("[]"), int(port)
