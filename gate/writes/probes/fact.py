"""A fact that a probe saw, or why it saw none: then its question has no answer, and a person is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg

from evidence.errors import Problem, Refused
from gate.writes.errors import Unfit


class Unknown(Exception):
    """What a probe asks about cannot be told; the sentence says why."""


@dataclass(frozen=True)
class Fact:
    """What a probe saw: the answer as policies name it, and what people read of it."""

    value: str | None  # None: it could not be told
    seen: str
    source: str  # where it looked

    def as_answer(self) -> dict[str, Any]:
        """As a reducer reads it."""
        if self.value is None:
            return {"abstain": True, "why": self.seen}
        return {"value": self.value, "by": "probe"}


Facts = Mapping[str, Fact]
Probe = Callable[[], Fact]


def yes_no(is_so: bool, seen: str, source: str) -> Fact:
    """A fact that is so, or is not."""
    return Fact("yes" if is_so else "no", seen, source)


def observed(probes: Mapping[str, Probe]) -> dict[str, Fact]:
    """What each probe saw. One that fails takes none of the others with it."""
    return {name: _observed(probe) for name, probe in probes.items()}


def _observed(probe: Probe) -> Fact:
    try:
        return probe()
    except (Unknown, Unfit) as why:
        return Fact(None, str(why), "probe")
    except (Refused, Problem) as why:
        return Fact(None, why.sentence, "probe")
    except psycopg.Error as error:
        # Only what the server said: a driver's message may hold parts of the connection string.
        said = (error.diag.message_primary or "The connection failed").splitlines()[0]
        return Fact(None, f"The source did not answer: {said}.", "probe")
