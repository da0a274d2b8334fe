"""How many calls read one source at once, and how many of them may be one agent class's.

An agent class is the agents that one person answers for: whoever wants more turns would otherwise only need more
agents. A class that holds all that it may leaves the rest to others, and the last few turns are only for classes that
hold none. So a few greedy classes together slow nobody but themselves.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from evidence.errors import Refused

ALL = 16  # of one source in this process: the strongest reader's role may have 20 sessions, and the proof needs some
OF_A_CLASS = 8
FOR_NEWCOMERS = 4
WAIT = 5.0  # seconds until a call is refused that gets no turn


class Turns:
    """The turns of one source. Safe from several threads."""

    def __init__(self) -> None:
        self._held: Counter[int] = Counter()  # by class
        self._changed = threading.Condition()

    @contextmanager
    def take(self, agent_class: int, wait: float | None = None) -> Iterator[None]:
        """Hold one turn as long as the block runs. Raises Refused when none becomes free in time."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_free(agent_class), WAIT if wait is None else wait):
                raise Refused("busy", "All connections that this call may use are taken; try again in a moment.")
            self._held[agent_class] += 1
        try:
            yield
        finally:
            with self._changed:
                self._held[agent_class] -= 1
                self._held += Counter()  # forgets classes that hold none
                self._changed.notify_all()

    def _is_free(self, agent_class: int) -> bool:
        held, own = self._held.total(), self._held[agent_class]
        return own < OF_A_CLASS and held < (ALL - FOR_NEWCOMERS if own else ALL)


_turns: dict[str, Turns] = {}
_lock = threading.Lock()


def of(source: str) -> Turns:
    """The turns of the source of this name. There are as many as there are sources."""
    with _lock:
        return _turns.setdefault(source, Turns())
