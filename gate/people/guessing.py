"""Guessing a password takes tries, and tries run out: then 15 minutes' wait.

A try is counted before the password is looked at, so a hundred guesses sent at once are a hundred tries. Names that
exist and names that do not are counted alike: the wait tells nobody which is which.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from django.db import connection
from django.utils import timezone
from django.utils.crypto import salted_hmac

from audit.templatetags.ui import minutes_until
from gate.errors import NotAllowed

WAIT = timedelta(minutes=15)
TRIES = 5
# An office shares an address, and so may a proxy: one person's typing errors must not keep everybody out.
TRIES_PER_ADDRESS = 20

# One statement, so that of two tries at once one comes second. A try beyond the last does not make the wait longer.
_TAKE = """
insert into people_guessing (key, tries, until) values (%(key)s, 1, %(until)s)
on conflict (key) do update set
  tries = case when people_guessing.until <= %(now)s then 1
               else least(people_guessing.tries, %(most)s) + 1 end,
  until = case when people_guessing.until > %(now)s and people_guessing.tries >= %(most)s then people_guessing.until
               else excluded.until end
returning tries, until
"""
# What is over is cleared away by whoever comes next; what somebody else is at is left to them.
_CLEAR = """
delete from people_guessing where key in (
  select key from people_guessing where until <= %s order by key limit 100 for update skip locked)
"""


class TooManyTries(NotAllowed):
    """The tries are used up; the sentence says how long to wait."""


def take_sign_in(name: str, address: str) -> int:
    """Count a try of a name from an address. The tries left after it. Raises TooManyTries."""
    # The address first: once it waits, it adds no names.
    from_there = _take(f"address {_neighborhood(address)}", TRIES_PER_ADDRESS)
    return min(from_there, _take(_sign_in(name), TRIES))


def _neighborhood(address: str) -> str:
    """What one guesser can come from: an IPv4 address, or the /64 that any home has to itself in IPv6."""
    try:
        parsed = ip_address(address)
    except ValueError:  # a socket without addresses
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or ip_network((int(parsed), 64), strict=False))


def forget_sign_in(name: str) -> None:
    """The right password was typed. The address keeps its count: one known password must not buy guesses of others."""
    _forget(_sign_in(name))


def take_again(username: str) -> int:
    """Count a try of somebody who is signed in and types the password once more. Raises TooManyTries.

    Counted apart from sign-ins, so that a stranger who knows a name cannot keep its owner from approving.
    """
    return _take(_again(username), TRIES)


def forget_again(username: str) -> None:
    """The right password was typed."""
    _forget(_again(username))


def left_in_words(left: int) -> str:
    """What stands behind "wrong": 4 tries left, then 15 minutes' wait."""
    if left == 0:
        return "No tries left: wait 15 minutes."
    return f"{left} {'try' if left == 1 else 'tries'} left, then 15 minutes’ wait."


def _sign_in(name: str) -> str:
    return f"sign-in {name}"


def _again(username: str) -> str:
    return f"again {username}"


def _take(what: str, most: int) -> int:
    now = timezone.now()
    values: dict[str, str | int | datetime] = {"key": _key(what), "most": most, "now": now, "until": now + WAIT}
    with connection.cursor() as cursor:
        cursor.execute(_CLEAR, [now])
        cursor.execute(_TAKE, values)
        tries, until = cursor.fetchone()
    if tries > most:
        raise TooManyTries(_wait(until))
    return int(most - tries)


def _wait(until: datetime) -> str:
    return f"Too many wrong passwords. Try again in {minutes_until(until)}."


def _forget(what: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("delete from people_guessing where key = %s", [_key(what)])


def _key(what: str) -> str:
    # A password is sometimes typed into the wrong field: what was typed is not kept.
    return salted_hmac("counterseal.guessing", what, algorithm="sha256").hexdigest()
