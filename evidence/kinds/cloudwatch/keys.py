"""The credential of a source of AWS.

It stands in the variable that the source names, as ACCESS_KEY_ID:SECRET_KEY or, for a temporary one,
ACCESS_KEY_ID:SECRET_KEY:SESSION_TOKEN. Nothing else counts: no profile, no file, no role of the machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from audit.models import Definition
from evidence import credentials
from evidence.errors import Refused

LONGEST_SAID = 300  # characters of a service's own words that a sentence repeats


@dataclass(frozen=True)
class Key:
    """A credential as it is sent. Its first part is a name, not a secret."""

    number: str
    secret: str = field(repr=False)
    token: str | None = field(repr=False, default=None)


def of(source: Definition, which: str) -> Key:
    """The credential that the source names as `reader_env` or `doctor_env`. Raises Problem when unset, or Refused."""
    parts = credentials.secret(source, which).split(":")
    if len(parts) not in (2, 3) or not all(part.isascii() and part.isprintable() and part for part in parts):
        variable = source.body[which]
        raise Refused(
            "credential", f"{variable} holds ACCESS_KEY_ID:SECRET_KEY, and for a temporary one :TOKEN behind."
        )
    return Key(parts[0], parts[1], parts[2] if len(parts) == 3 else None)


def address(source: Definition, held: Key) -> str:
    """Where the credential leads, and as whom, without its secret."""
    return f"AWS {source.body['region']}, access key {held.number}"


def said(text: str, held: Iterable[Key]) -> str:
    """A service's own words for a sentence: short, printable, and without the credential."""
    words = "".join(letter if letter.isprintable() else " " for letter in text)
    for one in held:
        for secret in filter(None, (one.token, one.secret)):
            words = words.replace(secret, "[masked]")
    return words[:LONGEST_SAID].strip()
