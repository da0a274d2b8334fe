"""The supervisor by itself; test_up.py runs the whole of it."""

from __future__ import annotations

from contextlib import suppress

import pytest

from gate.config import supervisor
from gate.config.supervisor import Supervisor


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Supervisor:
    """One without children, that leaves the test run's own signals alone."""
    monkeypatch.setattr(supervisor, "_ignore_signals", lambda: None)
    return Supervisor(port=1, agents_port=2, has_demo=False, say=lambda line: None)


def test_an_interrupt_that_python_forgot_stops_it_all_the_same(running: Supervisor) -> None:
    """As one that comes while a child is forked, where Python only prints what is raised."""
    running._watch(lambda: True)
    with suppress(KeyboardInterrupt):
        running._interrupt()
    looks = iter((False, True))
    with pytest.raises(KeyboardInterrupt):
        running._watch(lambda: next(looks))


def test_an_interrupt_waits_until_a_child_is_started(running: Supervisor) -> None:
    started = []
    with pytest.raises(KeyboardInterrupt), running._undisturbed():
        running._interrupt()
        started.append("a child")
    assert started == ["a child"]
    with pytest.raises(KeyboardInterrupt):
        running._interrupt()
