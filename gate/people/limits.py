"""How often something may be done within a time, counted in PostgreSQL: the planes run many processes.

What is counted is one statement, so that of two at once one comes second.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import salted_hmac

from gate.people.models import Tally

# One beyond the last does not make the wait longer. Where each starts the time anew, a slow guesser gains nothing.
_TAKE = """
insert into people_tally (key, number, until) values (%(key)s, 1, %(until)s)
on conflict (key) do update set
  number = case when people_tally.until <= %(now)s then 1
                else least(people_tally.number, %(most)s) + 1 end,
  until = case when people_tally.until > %(now)s and (people_tally.number >= %(most)s or not %(anew)s)
               then people_tally.until else excluded.until end
returning number, until
"""
# What is over is cleared away by whoever comes next; what somebody else is at is left to them.
_CLEAR = """
delete from people_tally where key in (
  select key from people_tally where until <= %s order by key limit 100 for update skip locked)
"""


class UsedUp(Exception):
    """It was done too often; `until` is when it may be done again."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"used up until {until:%H:%M}")
        self.until = until


def take(what: str, *, most: int, within: timedelta, anew: bool = False) -> int:
    """Count `what` once more, and say how many are left. With `anew` each one starts the time anew. Raises UsedUp."""
    now = timezone.now()
    values: dict[str, str | int | datetime] = {
        "key": _key(what), "most": most, "now": now, "until": now + within, "anew": anew,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_CLEAR, [now])
        cursor.execute(_TAKE, values)
        number, until = cursor.fetchone()
    if number > most:
        raise UsedUp(until)
    return int(most - number)


def give_back(what: str) -> None:
    """Count `what` once less: this one was not of the kind that is counted."""
    Tally.objects.filter(key=_key(what), number__gt=0, until__gt=timezone.now()).update(number=F("number") - 1)


def forget(what: str) -> None:
    """Begin counting at nothing again."""
    Tally.objects.filter(key=_key(what)).delete()


def _key(what: str) -> str:
    # A password is sometimes typed into the wrong field: what was typed is not kept.
    return salted_hmac("counterseal.limits", what, algorithm="sha256").hexdigest()
