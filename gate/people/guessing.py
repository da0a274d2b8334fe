"""Guessing a password takes tries, and tries run out: then 15 minutes' wait.

A try is counted before the password is looked at, so a hundred guesses sent at once are a hundred tries. Names that
exist and names that do not are counted alike: the wait tells nobody which is which.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from audit.templatetags.ui import minutes_until
from gate.errors import NotAllowed
from gate.people import limits

WAIT = timedelta(minutes=15)
TRIES = 5
# An office shares an address, and so may a proxy: one person's typing errors must not keep everybody out.
TRIES_PER_ADDRESS = 20
TRIPS_PER_ADDRESS = 100


class TooManyTries(NotAllowed):
    """The tries are used up; the sentence says how long to wait."""


def take_sign_in(name: str, address: str) -> int:
    """Count a try of a name from an address. The tries left after it. Raises TooManyTries."""
    # The address first: once it waits, it adds no names.
    from_there = _take(_address(address), TRIES_PER_ADDRESS)
    return min(from_there, _take(_sign_in(name), TRIES))


def _address(address: str) -> str:
    return f"address {_neighborhood(address)}"


def _neighborhood(address: str) -> str:
    """What one guesser can come from: an IPv4 address, or the /64 that any home has to itself in IPv6."""
    try:
        parsed = ip_address(address)
    except ValueError:  # a socket without addresses
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or ip_network((int(parsed), 64), strict=False))


def take_at_provider(address: str) -> None:
    """Count a browser that is sent to the sign-in provider; each keeps a session here. Raises TooManyTries."""
    try:
        limits.take(f"provider {_neighborhood(address)}", most=TRIPS_PER_ADDRESS, within=WAIT)
    except limits.UsedUp as used:
        raise TooManyTries(f"Too many sign-ins from here. Try again in {minutes_until(used.until)}.") from used


def forget_sign_in(name: str, address: str) -> None:
    """The right password was typed.

    The address gets this one try back and no more: an office that signs in is no guesser, and one known password must
    not buy guesses of others.
    """
    limits.forget(_sign_in(name))
    limits.give_back(_address(address))


def take_again(username: str) -> int:
    """Count a try of somebody who is signed in and types the password once more. Raises TooManyTries.

    Counted apart from sign-ins, so that a stranger who knows a name cannot keep its owner from approving.
    """
    return _take(_again(username), TRIES)


def forget_again(username: str) -> None:
    """The right password was typed."""
    limits.forget(_again(username))


def take_key(username: str) -> int:
    """Count a try of somebody's key. The tries left after it. Raises TooManyTries."""
    try:
        return limits.take(_key(username), most=TRIES, within=WAIT, anew=True)
    except limits.UsedUp as used:
        raise TooManyTries(f"Too many tries with a passkey. Try again in {minutes_until(used.until)}.") from used


def forget_key(username: str) -> None:
    """A key signed as it should."""
    limits.forget(_key(username))


def left_in_words(left: int) -> str:
    """What stands behind "wrong": 4 tries left, then 15 minutes' wait."""
    if left == 0:
        return "No tries left: wait 15 minutes."
    return f"{left} {'try' if left == 1 else 'tries'} left, then 15 minutes’ wait."


def _sign_in(name: str) -> str:
    return f"sign-in {name}"


def _again(username: str) -> str:
    return f"again {username}"


def _key(username: str) -> str:
    return f"key {username}"


def _take(what: str, most: int) -> int:
    try:
        return limits.take(what, most=most, within=WAIT, anew=True)
    except limits.UsedUp as used:
        raise TooManyTries(_wait(used.until)) from used


def _wait(until: datetime) -> str:
    return f"Too many wrong passwords. Try again in {minutes_until(until)}."
