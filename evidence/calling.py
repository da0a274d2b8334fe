"""A call on its way from the question to the read: what was asked, what was let in, and what is left after it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Unpack

from audit import log
from audit.agents import Principal
from audit.kinds import Kind
from audit.models import Definition
from evidence import recording
from evidence.bounds import Limits
from evidence.contracts import Contract


@dataclass(frozen=True)
class Left:
    """What is left after a call, and what its answer could have held at most."""

    investigation: int  # calls of it
    agent_this_hour: int  # calls of the agent's budget
    agent_this_minute: int  # calls of this source
    source_this_minute: int  # calls of this source by all agents
    rows_cap: int
    bytes_cap: int


@dataclass
class Asked:
    """A call on its way through the checks, with what its entries will say."""

    principal: Principal
    tool: str
    given: dict[str, Any]
    investigation: Any
    about: log.About

    def note(self, **more: Unpack[log.About]) -> None:
        """Something that the entries from here on say."""
        self.about = {**self.about, **more}

    def record(self, kind: Kind, **more: Unpack[log.About]) -> log.Recorded:
        """One entry of this call. Raises Problem when it could not be committed: then nothing may go on."""
        about: log.About = {**self.about, **more}
        return recording.commit(kind, self.principal, **about)


@dataclass(frozen=True)
class Admitted:
    """A call that may run."""

    contract: Contract
    source: Definition
    limits: Limits
    left: Left
    decision_point: datetime | None
