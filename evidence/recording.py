"""Entries of the agents' plane: committed before the agent is shown anything."""

from __future__ import annotations

from typing import Protocol, Unpack

import psycopg

from audit import disk, log
from audit.counting import Counting
from audit.kinds import Kind
from evidence.errors import Problem

RECORDED_EACH = 60  # refusals of one caller in a minute; from there on they are counted
Limited = tuple[log.Actor, str, str]  # a caller, the limit's code, and the source that it is of


class Caller(Protocol):
    """Someone with a token: an agent, or a monitor."""

    def actor(self) -> log.Actor:
        """The caller in the log's words."""


def commit(kind: Kind, caller: Caller, **about: Unpack[log.About]) -> log.Recorded:
    """One committed entry of a caller. Raises Problem when it could not be committed: then nothing may go on."""
    try:
        return log.record(kind, caller.actor(), **about)
    except psycopg.Error as error:
        why = disk.said_of(error) or "The log cannot be written now."
        raise Problem(503, "log_unavailable", f"{why} What is not recorded is not shown.") from error


def refusal(caller: Caller, problem: Problem, about: log.About) -> None:
    """The entry of a refusal. Raises Problem when it could not be committed.

    Of refusals over a limit that fills up again the first of a minute is an entry, and the others are one together.
    """
    problem.is_recorded = True
    if not _is_recorded_alone(caller.actor(), problem, about):
        return
    said: log.About = {**about, "status": "refused", "error_class": problem.code, "error": problem.sentence}
    commit(Kind.CALL_REFUSED, caller, **said)


def _is_recorded_alone(actor: log.Actor, problem: Problem, about: log.About) -> bool:
    if problem.retry_after:
        return limited.is_free((actor, problem.code, about.get("source", "")))
    return counting.is_free(actor)


def _record_count(actor: log.Actor, number: int) -> None:
    _record_many(actor, number, "too_many", "", f"{number} more refusals within a minute")


def _record_limited(caller: Limited, number: int) -> None:
    actor, code, source = caller
    _record_many(actor, number, code, source, f"{number} more refusals over the limit within a minute")


def _record_many(actor: log.Actor, number: int, code: str, source: str, summary: str) -> None:
    log.record(
        Kind.CALL_REFUSED, actor, summary=summary, status="refused", error_class=code, source=source,
        args={"refusals": number},
    )  # fmt: skip


counting = Counting(_record_count, free=RECORDED_EACH)
limited = Counting(_record_limited, free=1)
