"""Every command of ours, run by each process that is no operator: with its role of the database it gets nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command, get_commands
from django.db import Error, connection

from gate.config.roles import PROCESSES
from gate.people.models import Person
from tests.doors import sealed
from tests.doors.conftest import World
from tests.doors.expected import COMMANDS

pytestmark = pytest.mark.django_db(transaction=True)
# An operator's command connects as one of these, by someone with an account on the machine.
OPERATORS = ("owner", "people")


def commands() -> set[str]:
    return {name for name, app in get_commands().items() if app.partition(".")[0] in ("audit", "evidence", "gate")}


def test_every_command_has_an_owner() -> None:
    assert commands() == set(COMMANDS), "Say in tests/doors/expected.py what a new command could be misused for."


@pytest.mark.parametrize("process", [process for process in PROCESSES if process not in OPERATORS])
def test_no_process_becomes_an_operator(process: str, world: World, as_role: Callable[[str], None]) -> None:
    before = sealed.everything()
    as_role(process)
    for name, words in COMMANDS.items():
        if words is not None:
            run(name, *words)
    connection.close()
    as_role("owner")
    assert sealed.everything() == before


def test_no_command_raises_a_role(world: World, as_role: Callable[[str], None]) -> None:
    before = sealed.everything()
    as_role("people")
    run("add_person", *COMMANDS["add_person"] or ())
    as_role("owner")
    assert Person.objects.get(username="viewer").role == "viewer"
    assert sealed.everything() == before


def run(name: str, *words: Any) -> None:
    with suppress(CommandError, Error):
        call_command(name, *words, stdout=StringIO(), stderr=StringIO())
