"""Admins at their browsers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

PASSWORD = "correct horse battery"


@pytest.fixture
def sign_in() -> Callable[..., Client]:
    """Somebody's browser, signed in through the door."""

    def enter(person: Any, typed: str = PASSWORD, browser: str = "Browser") -> Client:
        client = Client(headers={"User-Agent": browser})
        answer = client.post("/sign-in/", {"username": person.username, "password": typed})
        assert answer.status_code == 302, answer.content.decode()
        return client

    return enter


@pytest.fixture
def ada(make_person: Callable[..., Any]) -> Any:
    """An admin."""
    return make_person("ada", "admin", "Ada Okafor")


@pytest.fixture
def ben(make_person: Callable[..., Any]) -> Any:
    """Another admin."""
    return make_person("ben", "admin", "Ben Iverson")


@pytest.fixture
def mia(make_person: Callable[..., Any]) -> Any:
    """On call."""
    return make_person("mia", "on_call", "Mia Lindqvist")
