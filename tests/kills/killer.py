"""Whatever runs may die at any moment, alone or two at once, or stand still for a while. How soon is it back?"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from tests.kills import victims
from tests.kills.diary import Diary, now
from tests.kills.pace import Pace, dice
from tests.kills.product import Product
from tests.kills.victims import Victim

# A worker is its main process and the child that runs the tasks; either may die without the other.
PARTS = dict.fromkeys(victims.WORKERS, ("all", "main", "child")) | {"database": ("main", "session", "session")}
LONGEST_RECOVERY = 180.0  # seconds; then it is said that it never came back
STANDS_STILL = (1.0, 25.0)  # seconds; a job is handed out again after 15


@dataclass(frozen=True)
class Blow:
    """What was done to whom, and the seconds until all was well again; None when that did not come."""

    name: str
    what: str
    at: datetime
    seconds: float | None


class Killer:
    """Deals blows at random moments, and waits after each until what was hit is back."""

    def __init__(self, product: Product, diary: Diary, pace: Pace, seed: str, longest_pause: float) -> None:
        self._product, self._diary, self._pace, self._random = product, diary, pace, dice(seed)
        self._longest_pause = longest_pause
        self.blows: list[Blow] = []

    def live(self) -> None:
        """Wait for a random moment and deal one blow."""
        self._pace.pause(self._random.uniform(0.2, self._longest_pause))
        if self._random.random() < 0.5:
            self._wait_for_act()
        names = self._random.sample(sorted(victims.WORDS), k=2 if self._random.random() < 0.2 else 1)
        hit = [self._find(name) for name in names]
        deal = self._stop if self._random.random() < 0.2 else self._kill
        deal([one for one in hit if one.pids])

    def _wait_for_act(self) -> None:
        """Until a client hands in or decides something, and a moment longer: then there is a job to be lost."""
        seen, deadline = self._diary.acts.total(), time.monotonic() + 8
        while self._diary.acts.total() == seen and time.monotonic() < deadline:
            self._pace.pause(0.02)
        self._pace.pause(self._random.uniform(0, 0.4))

    def _find(self, name: str) -> Victim:
        return victims.find(self._product, name, self._random.choice(PARTS.get(name, ("all",))))

    def _kill(self, hit: list[Victim]) -> None:
        at = now()
        _signal(hit, signal.SIGKILL)
        self._await(hit, at, "killed", lambda one: victims.is_back(self._product, one, at))

    def _stop(self, hit: list[Victim]) -> None:
        _signal(hit, signal.SIGSTOP)
        try:
            self._pace.pause(self._random.uniform(*STANDS_STILL))
        finally:
            at = now()
            _signal(hit, signal.SIGCONT)
        self._await(hit, at, "stopped", lambda one: victims.is_well(self._product, one, at))

    def _await(self, hit: list[Victim], at: datetime, how: str, is_back: Callable[[Victim], bool]) -> None:
        started, waiting, seconds = time.monotonic(), list(hit), 0.0
        while waiting and seconds < LONGEST_RECOVERY:
            waiting = [one for one in waiting if not is_back(one)]
            seconds = time.monotonic() - started
            if waiting:
                time.sleep(0.2)
        for one in hit:
            self.blows.append(Blow(one.name, f"{one} {how}", at, None if one in waiting else seconds))
        for one in waiting:
            self._diary.found(f"{one} was {how} at {at:%H:%M:%S} and was not back after {seconds:.0f} s.")


def _signal(hit: list[Victim], number: int) -> None:
    for one in hit:
        for pid in one.pids:
            with suppress(ProcessLookupError):  # it ended by itself meanwhile
                os.kill(pid, number)
