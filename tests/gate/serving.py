"""The people's plane under its own server, in a thread of the test's process, as the people role."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn
from django.test import Client

from audit import nudges as hub
from gate.config.management.commands import serve
from gate.people.models import Person
from gate.triage import nudges

LOOK = 0.2  # seconds between two looks at a session


@pytest.fixture
def server(as_role: Callable[[str], None], make_person: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The people's plane under its own server, as the people role; whoever needs persons makes them first."""
    from gate.config import asgi_people

    fresh = hub.Hub()
    monkeypatch.setattr(nudges, "HUB", fresh)
    monkeypatch.setattr(serve, "HUB", fresh)
    monkeypatch.setattr(nudges, "SECONDS_BETWEEN_LOOKS", LOOK)
    people = {name: make_person(name) for name in ("ada", "mia")}
    cookies = {name: session(person) for name, person in people.items()}
    as_role("people")
    configured = uvicorn.Config(asgi_people.application, host="127.0.0.1", port=0, log_config=None)
    running = serve.Server(configured)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    until(lambda: running.started)
    running.people, running.cookies, running.thread = people, cookies, thread
    running.url = f"http://localhost:{running.servers[0].sockets[0].getsockname()[1]}"
    yield running
    running.should_exit = True
    thread.join(10)


def session(person: Person) -> dict[str, str]:
    client = Client()
    client.force_login(person)
    return {name: morsel.value for name, morsel in client.cookies.items()}


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
