"""Names of machines, as far as it takes to tell that two of them are not one machine."""

from __future__ import annotations

import re

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*", re.ASCII)
_ADDRESS = re.compile(r"[0-9.]+", re.ASCII)
_NOWHERE = frozenset(("localhost", "local"))
_OF_COPIES = frozenset(("restore", "restored", "restores", "staging", "sandbox", "drill"))
_IN_USE = frozenset(("prod", "production", "live", "primary", "replica", "standby"))


def is_of_a_copy(name: str) -> bool:
    """Whether a machine's name says that it is where copies are tried out, and not that it is in use."""
    parts = _labels(name)
    if parts is None:
        return False
    words = {word for part in parts for word in part.split("-")}
    return not words.isdisjoint(_OF_COPIES) and words.isdisjoint(_IN_USE)


def is_another(one: str, other: str) -> bool:
    """Whether two names surely mean two machines. An address may be anybody's, and a short name is part of a long."""
    mine, yours = _labels(one), _labels(other)
    if mine is None or yours is None:
        return False
    shorter = min(len(mine), len(yours))
    return mine[:shorter] != yours[:shorter]


def _labels(name: str) -> list[str] | None:
    """The parts of a name; None for what is none, or names no machine for certain."""
    plain = re.sub(r":\d{1,5}$", "", name).lower().removesuffix(".")
    if _NAME.fullmatch(plain) is None or _ADDRESS.fullmatch(plain) is not None or plain in _NOWHERE:
        return None
    return plain.split(".")
