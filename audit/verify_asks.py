"""Wishes for a whole verification: a person has one on a page, and the verifier, who alone may, takes it up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from audit.refusing import NotAllowed, recorded_refusal

PERMISSION = "audit.verify"
SILENT_AFTER = timedelta(minutes=2)  # without a sign of life, while nothing long is being done
LONGEST_RUN = timedelta(hours=2)
WHOLE, NEW = "whole", "new"


@dataclass(frozen=True)
class State:
    """What the verifier does now, what it is asked for, and how its last run over new leaves went."""

    at: datetime | None
    doing: str
    since: datetime | None
    answered: int
    new_at: datetime | None
    new_from: int | None
    new_size: int | None
    new_findings: int | None
    asked: int | None  # the newest wish
    asked_at: datetime | None
    asked_by: str | None

    @property
    def is_waiting(self) -> bool:
        """Whether somebody's wish was not taken up yet. Who writes down a later one as answered would undo them all."""
        return self.asked is not None and self.asked != self.answered

    @property
    def is_whole_running(self) -> bool:
        """Whether the whole log is being verified."""
        return self.doing == WHOLE and not self.is_silent

    @property
    def is_silent(self) -> bool:
        """Whether no verifier is at work, or it hangs."""
        patience = LONGEST_RUN if self.doing == WHOLE else SILENT_AFTER
        return self.at is None or timezone.now() - self.at > patience


STATE = """
select said.at, coalesce(said.doing, '') as doing, said.since, coalesce(said.answered, 0) as answered, said.new_at,
  said.new_from, said.new_size, said.new_findings, asked.id as asked, asked.at as asked_at, asked.asked_by
from (select 1) one
left join audit_verifierstate said on true
left join (select id, at, asked_by from audit_verificationask order by id desc limit 1) asked on true
"""


def state() -> State:
    """How the verifier does, in one query."""
    with connection.cursor() as cursor:
        cursor.execute(STATE)
        return State(*cursor.fetchone())


def check_can_ask(by: Any) -> None:
    """Raises NotAllowed when the role of `by` has nothing verified."""
    if not by.has_perm(PERMISSION):
        raise NotAllowed("Your role has no verification run; an admin or an auditor does.")


@transaction.atomic
def ask(*, by: Any) -> bool:
    """Ask for a whole verification; False when one is asked for or runs already. Raises NotAllowed."""
    with connection.cursor() as cursor:
        # Two at once would both find that nobody has asked.
        cursor.execute("select pg_advisory_xact_lock(hashtextextended('verification', 0))")
    with recorded_refusal(Kind.LOG_VERIFICATION_ASKED, by, "log", act="ask"):
        check_can_ask(by)
    now = state()
    if now.is_waiting or now.is_whole_running:
        return False
    with connection.cursor() as cursor:
        cursor.execute("insert into audit_verificationask (asked_by) values (%s)", [str(by)])
    log.record_with(Kind.LOG_VERIFICATION_ASKED, log.Actor.person(by), subject="log", summary="of the whole log, now")
    return True


_SAY = """
insert into audit_verifierstate (id, at, {names}) values (1, clock_timestamp(), {values})
on conflict (id) do update set at = excluded.at, {changes}
"""


def say(**values: Any) -> None:
    """The verifier's own words about what it does, with its sign of life."""
    names = ", ".join(values)
    changes = ", ".join(f"{name} = excluded.{name}" for name in values)
    with connection.cursor() as cursor:
        statement = _SAY.format(names=names, values=", ".join(["%s"] * len(values)), changes=changes)
        cursor.execute(statement, list(values.values()))
