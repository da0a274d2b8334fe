"""One agent class does not starve another: what it may hold of a source is bounded, and some is for newcomers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import agents
from audit.models import Definition, Entry
from evidence import gateway, reader, turns
from evidence.errors import Problem, Refused
from tests.evidence import bodies


def held(stack: ExitStack, given: turns.Turns, agent_class: int, count: int) -> int:
    """How many of `count` turns the class gets without waiting."""
    for number in range(count):
        try:
            stack.enter_context(given.take(agent_class, wait=0))
        except Refused:
            return number
    return count


def test_a_class_that_holds_all_it_may_leaves_another_served() -> None:
    one = turns.Turns()
    with ExitStack() as stack:
        assert held(stack, one, 1, 99) == turns.OF_A_CLASS
        assert held(stack, one, 2, 99) == turns.ALL - turns.FOR_NEWCOMERS - turns.OF_A_CLASS
        # Two greedy ones, and there is still a turn for each of some others.
        assert [held(stack, one, other, 99) for other in (3, 4, 5, 6, 7)] == [1, 1, 1, 1, 0]
    with ExitStack() as stack:
        assert held(stack, one, 7, 99) == turns.OF_A_CLASS


@given(st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=80))
def test_no_order_of_takes_and_returns_breaks_the_bounds(steps: list[tuple[int, bool]]) -> None:
    one, now = turns.Turns(), {number: list[Any]() for number in range(1, 6)}
    for agent_class, is_take in steps:
        if is_take:
            turn = one.take(agent_class, wait=0)
            try:
                turn.__enter__()
            except Refused:
                total = sum(map(len, now.values()))
                is_full = len(now[agent_class]) == turns.OF_A_CLASS or total == turns.ALL
                assert is_full or (now[agent_class] and total >= turns.ALL - turns.FOR_NEWCOMERS)
                continue
            now[agent_class].append(turn)
        elif now[agent_class]:
            now[agent_class].pop().__exit__(None, None, None)
        assert max(map(len, now.values())) <= turns.OF_A_CLASS
        assert sum(map(len, now.values())) <= turns.ALL


def test_who_waits_gets_the_next_turn_that_is_free() -> None:
    one, got = turns.Turns(), threading.Event()

    def wait() -> None:
        with one.take(1, wait=20):
            got.set()

    with ExitStack() as stack:
        held(stack, one, 1, 99)
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert not got.wait(0.05)
    assert got.wait(20)
    waiting.join()


def test_the_pool_of_a_source_has_a_connection_for_every_turn() -> None:
    assert reader.POOL_SIZE >= turns.ALL


@pytest.mark.django_db
def test_another_owners_agent_is_served_while_one_owners_agents_hold_all_that_they_may(
    certified: Any, define: Callable[..., Definition], make_agent: Any, scope_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    define("tool", "find_job", bodies.tool())
    greedy, other = (agents.authenticate(make_agent(name)[1]) for name in ("greedy", "other"))
    assert greedy is not None
    assert other is not None
    assert greedy.owner_id != other.owner_id
    monkeypatch.setattr(turns, "WAIT", 0.0)
    with ExitStack() as stack:
        held(stack, turns.of("scratch"), greedy.owner_id, 99)
        scope_of(greedy, "find_job")
        with pytest.raises(Problem) as caught:
            gateway.call(greedy, "find_job", {"job_id": 1}, None)
        assert (caught.value.status, caught.value.code) == (503, "busy")
        assert Entry.objects.get(seq=int(caught.value.audit_id[2:])).error_class == "busy"
        scope_of(other, "find_job")
        assert gateway.call(other, "find_job", {"job_id": 13}, None).result["job"]["id"] == 13
    scope_of(greedy, "find_job")
    assert gateway.call(greedy, "find_job", {"job_id": 13}, None).result["job"]["id"] == 13
