"""A local server that speaks the protocols of answering models, and answers as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "narrow-7b-2026-11-01"


def openai_body(text: str | None, **more: Any) -> dict[str, Any]:
    """A chat completion as the API reference shows one."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 312, "completion_tokens": 9, "total_tokens": 321}
    whole = {
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT", "object": "chat.completion", "created": 1741569952,
        "model": MODEL, "choices": [choice], "usage": usage, "service_tier": "default",
    }  # fmt: skip
    return whole | more


def anthropic_body(text: str, **more: Any) -> dict[str, Any]:
    """A message as the API reference shows one."""
    whole = {
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant", "model": MODEL,
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 312, "output_tokens": 9},
    }  # fmt: skip
    return whole | more


BODIES: dict[str, Callable[..., dict[str, Any]]] = {"openai": openai_body, "anthropic": anthropic_body}
PATHS = {"/v1/chat/completions": "openai", "/v1/messages": "anthropic"}


@dataclass
class Model:
    """What it answers: a text in the protocol that it is asked in, or a status with exact bytes."""

    url: str = ""
    says: Any = '{"answer": {"p": 0.97}}'  # a text, a body, (status, bytes), or a function of the message
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)

    def base(self, kind: str) -> str:
        return self.url + ("/v1" if kind == "openai" else "")

    def reply(self, kind: str, message: str) -> tuple[int, bytes]:
        said = self.says(message) if callable(self.says) else self.says
        if isinstance(said, tuple):
            return said
        body = said if isinstance(said, dict) else BODIES[kind](said)
        return 200, json.dumps(body).encode()


def message_of(asked: dict[str, Any]) -> str:
    found: str = asked["messages"][-1]["content"]
    return found


@contextmanager
def serving(model: Model) -> Iterator[Model]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.asked.append(asked)
            model.headers.append({name.lower(): value for name, value in self.headers.items()})
            if model.says is None:
                model.let_go.wait(10)  # it never answers, until the test is over
                return
            status, body = model.reply(PATHS[self.path], message_of(asked))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if 300 <= status < 400:
                self.send_header("Location", f"{model.url}/elsewhere")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield model
    finally:
        model.let_go.set()
        server.shutdown()
        server.server_close()
