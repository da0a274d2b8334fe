"""The keys that a receipt is checked with: a JSON object on each line, as `manage.py pin_key --list` prints them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audit.verify import note
from gate.people.key_assertions import Party


class BadKeys(ValueError):
    """The sentence that says why the keys cannot be used."""


@dataclass(frozen=True)
class Pinned:
    """A person's key, and from when until when the writer believed it."""

    person: int
    username: str
    credential: str
    public_key: str
    pinned_at: datetime
    revoked_at: datetime | None

    def counted_at(self, moment: datetime) -> bool:
        """Whether the writer believed it then."""
        return self.pinned_at <= moment and (self.revoked_at is None or moment <= self.revoked_at)


@dataclass(frozen=True)
class Keys:
    """Whom keys sign for, the log's keys, and people's."""

    party: Party
    log: tuple[note.Key, ...]
    pinned: tuple[Pinned, ...]


def parse(text: str) -> Keys:
    """The keys of a file. Raises BadKeys."""
    lines = [_object(line) for line in text.splitlines() if line.strip()]
    try:
        origins = [line["origin"] for line in lines if line.get("type") == "origin"]
        if len(origins) != 1:
            raise BadKeys("The keys name no origin, or several.")
        return Keys(
            Party.of(origins[0]),
            tuple(note.parse_key(line["key"]) for line in lines if line.get("type") == "log"),
            tuple(_pinned(line) for line in lines if line.get("type") == "key"),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise BadKeys(f"The keys cannot be read: {problem}") from problem


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise BadKeys("A line of the keys is not JSON; keep what pin_key --list prints as it is.") from problem
    if not isinstance(value, dict):
        raise BadKeys("A line of the keys is no object.")
    return value


def _pinned(line: dict[str, Any]) -> Pinned:
    revoked = line["revoked_at"]
    return Pinned(
        int(line["person"]), str(line["username"]), str(line["credential"]), str(line["public_key"]),
        datetime.fromisoformat(line["pinned_at"]), datetime.fromisoformat(revoked) if revoked else None,
    )  # fmt: skip
