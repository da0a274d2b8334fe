"""Entries of the agents' plane: committed before the agent is shown anything."""

from __future__ import annotations

from typing import Unpack

import psycopg

from audit import log
from audit.agents import Principal
from audit.kinds import Kind
from evidence.errors import Problem


def commit(kind: Kind, principal: Principal, **about: Unpack[log.About]) -> log.Recorded:
    """One committed entry of an agent. Raises Problem when it could not be committed: then nothing may go on."""
    try:
        return log.record(kind, principal.actor(), **about)
    except psycopg.Error as error:
        raise Problem(503, "log_unavailable", "The log cannot be written now, so nothing is shown.") from error


def refusal(principal: Principal, problem: Problem, about: log.About) -> None:
    """The entry of a refusal. Raises Problem when it could not be committed."""
    said: log.About = {**about, "status": "refused", "error_class": problem.code, "error": problem.sentence}
    commit(Kind.CALL_REFUSED, principal, **said)
