"""When the clients work and when they stand still, so that what they were told can be compared with what there is."""

from __future__ import annotations

import random
import threading
import traceback
from collections.abc import Callable

from tests.kills.diary import Diary


def dice(seed: str) -> random.Random:
    """Chance that can be had again: nothing here is a secret."""
    return random.Random(seed)  # noqa: S311


class Pace:
    """A gate that all clients pass between two rounds of work, and a way to end them all."""

    def __init__(self) -> None:
        self._may_go, self._is_over = threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []
        self._idle: set[str] = set()
        self._changed = threading.Condition()

    def add(self, name: str, work: Callable[[], None], diary: Diary) -> None:
        """A client that does `work` again and again, while it may."""
        thread = threading.Thread(target=self._run, args=(name, work, diary), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self, name: str, work: Callable[[], None], diary: Diary) -> None:
        while not self._is_over.is_set():
            self._say_idle(name, not self._may_go.is_set())
            if not self._may_go.wait(0.2):
                continue
            self._say_idle(name, False)
            try:
                work()
            except Exception:  # noqa: BLE001 - a client that broke is a finding, and the others go on
                diary.found(f"The {name} broke:\n{traceback.format_exc()}")
                self.pause(5)

    def _say_idle(self, name: str, is_idle: bool) -> None:
        with self._changed:
            (self._idle.add if is_idle else self._idle.discard)(name)
            self._changed.notify_all()

    @property
    def is_over(self) -> bool:
        """Whether everybody shall end."""
        return self._is_over.is_set()

    def go(self) -> None:
        """Let the clients work."""
        self._may_go.set()

    def rest(self, seconds: float) -> bool:
        """Have them end what they are at. Whether all did in that time."""
        self._may_go.clear()
        names = {thread.name for thread in self._threads}
        with self._changed:
            return self._changed.wait_for(lambda: self._idle >= names, seconds)

    def end(self) -> None:
        """End them all."""
        self._may_go.clear()
        self._is_over.set()
        for thread in self._threads:
            thread.join(30)

    def pause(self, seconds: float) -> None:
        """Wait, or less when all is over."""
        self._is_over.wait(seconds)
