"""A real OpenID Connect provider in this process, and the people's plane in one of its own that knows it."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import flask
import httpx2
import oidc_provider_mock
from werkzeug.serving import make_server

from tests.machine import free_port

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct horse battery"
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
PATIENCE = 30.0


class Idp:
    """The provider: what it was asked, and a hand in what it answers."""

    def __init__(self) -> None:
        self.app = oidc_provider_mock.app()
        self.asked: list[dict[str, str]] = []
        self.alter: Callable[[dict[str, Any]], Any] = lambda claims: claims
        self.answer: Callable[[dict[str, Any]], Any] = lambda answer: answer
        self.describe: Callable[[dict[str, Any]], Any] = lambda description: description
        self.status = 200
        self.app.before_request(self._note)
        self.app.after_request(self._tamper)
        self.server = make_server("localhost", 0, self.app, threaded=True)
        self.url = f"http://localhost:{self.server.server_port}"

    def _note(self) -> None:
        if flask.request.path == "/oauth2/token":
            self.asked.append(dict(flask.request.form))

    def _tamper(self, response: flask.Response) -> flask.Response:
        if flask.request.path == "/oauth2/token" and response.status_code == 200:
            answer = response.get_json()
            answer["id_token"] = _altered(answer["id_token"], self.alter)
            response.set_data(json.dumps(self.answer(answer)))
        if flask.request.path == "/.well-known/openid-configuration":
            response.set_data(json.dumps(self.describe(response.get_json())))
            response.status_code = self.status
        return response

    def behave(self) -> None:
        """Answer as the standard says again."""
        self.asked.clear()
        self.status, self.describe = 200, (lambda description: description)
        self.alter, self.answer = (lambda claims: claims), (lambda answer: answer)


def _altered(token: str, alter: Callable[[dict[str, Any]], Any]) -> str:
    head, body, signature = token.split(".")
    claims = alter(json.loads(base64.urlsafe_b64decode(body + "==")))
    return f"{head}.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.{signature}"


@contextmanager
def idp() -> Iterator[Idp]:
    """A provider that runs."""
    made = Idp()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        thread.join(10)
        made.server.server_close()


@contextmanager
def plane(var: Path, database_url: str, provider: Idp, **more: str) -> Iterator[str]:
    """The people's plane with that provider: its origin."""
    port = free_port()
    told = {
        **{name: value for name, value in os.environ.items() if not name.startswith("COUNTERSEAL_")},
        "DATABASE_URL": database_url, "COUNTERSEAL_VAR": str(var), "COUNTERSEAL_PROCESS": "people",
        "COUNTERSEAL_SECRET_KEY": "k" * 50, "COUNTERSEAL_ORIGIN": f"http://localhost:{port}",
        "COUNTERSEAL_OIDC_URL": provider.url, "COUNTERSEAL_OIDC_CLIENT_ID": "counterseal",
        "COUNTERSEAL_OIDC_CLIENT_SECRET": "kept-secret-in-the-environment", **more,
    }  # fmt: skip
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "collectstatic", "--noinput", "--verbosity", "0"], env=told, check=True)
    with (var / "people.log").open("wb") as log:
        child = subprocess.Popen([*manage, "serve", "people", "--port", str(port)], env=told, stdout=log, stderr=log)
    try:
        _wait_for(port, var / "people.log")
        yield f"http://localhost:{port}"
    finally:
        child.terminate()
        child.wait(20)


def _wait_for(port: int, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        else:
            return


class Browser:
    """Somebody's browser: it keeps cookies, and follows nothing by itself."""

    def __init__(self, origin: str) -> None:
        self.client = httpx2.Client(base_url=origin, headers={"User-Agent": "Browser"}, timeout=20)

    def get(self, address: str) -> httpx2.Response:
        return self.client.get(address)

    def post(self, address: str, page: str, **typed: str) -> httpx2.Response:
        """Send the form of a page."""
        found = CSRF.search(self.get(page).text)
        assert found
        return self.client.post(address, data={"csrfmiddlewaretoken": found[1], **typed})

    def sign_in(self, username: str) -> None:
        """Through the door with the password."""
        answer = self.post("/sign-in/", "/sign-in/", username=username, password=PASSWORD)
        assert answer.status_code == 302, answer.text

    def there_and_back(self, subject: str, start: str = "/sign-in/provider/") -> httpx2.Response:
        """To the provider, sign in there as somebody, and come back."""
        return self.get(self.there(subject, start))

    def there(self, subject: str, start: str = "/sign-in/provider/") -> str:
        """To the provider, and the address that it sends the browser back to."""
        sent = self.get(start)
        assert sent.status_code == 302, sent.text
        return back_from(sent.headers["Location"], subject)

    def connect(self, subject: str) -> httpx2.Response:
        """Type the password once more, and connect somebody at the provider."""
        assert self.post("/me/identity/", "/me/", own_password=PASSWORD).status_code == 302
        return self.there_and_back(subject, "/me/identity/provider/")

    def is_in(self) -> bool:
        """Whether somebody is signed in here."""
        return self.get("/me/").status_code == 200


def back_from(address: str, subject: str) -> str:
    """Sign in at the provider's page: the address that it sends the browser back to."""
    answer = httpx2.post(address, data={"sub": subject})
    assert answer.status_code == 302, answer.text
    return answer.headers["Location"]


def query_of(address: str) -> dict[str, str]:
    """The query of an address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
