"""What can be proven of a Loki, and of the gateway before it: which of its doors for writing the reader finds shut.

Each door is tried by a GET, which changes nothing behind it. Loki answers 405 where a path takes other methods alone,
and 404 where it has no such path; a gateway that keeps the reader out answers 401 or 403.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audit.models import Definition
from evidence.errors import Problem, Refused
from evidence.kinds.http import client, proving, site
from evidence.kinds.http.site import Site
from evidence.layers import Attack
from evidence.stating import Proven, Seen, unreached

SHUT = (401, 403, 404)


@dataclass(frozen=True)
class Door:
    """A way to write: the fact that it is shut to the reader, every path that leads in, and what shuts them."""

    name: str
    sentence: str
    paths: tuple[str, ...]
    mend: str


DOORS = (
    Door("delete_api", "The reader deletes no lines.", ("/loki/api/v1/delete",),
         "Keep the path from the reader at the gateway, or set deletion_mode to disabled in Loki's limits."),
    Door("push_api", "The reader writes no lines.",
         ("/loki/api/v1/push", "/api/prom/push", "/otlp/v1/logs"),
         "Keep these paths from the reader at the gateway."),
    Door("ruler_api", "The reader changes no rules.", ("/loki/api/v1/rules", "/api/prom/rules"),
         "Keep these paths from the reader at the gateway, or set enable_api to false in Loki's ruler."),
)  # fmt: skip
ACCEPTABLE = frozenset(door.name for door in DOORS)
ATTACKS = (
    Attack("Deleting lines", ("delete_api",), proving.CLIENT),
    Attack("Writing lines that never were", ("push_api",), proving.CLIENT),
    Attack("Changing or deleting rules", ("ruler_api",), proving.CLIENT),
    *proving.ATTACKS,
)


def prove(source: Definition) -> Proven:
    """Look who answers, whether the reader is let in, and which doors it finds shut."""
    reader = site.of(source.name, source.body)
    try:
        server = _server(client.get(reader, "/loki/api/v1/status/buildinfo").value)
        client.get(reader, "/loki/api/v1/labels")
        doors = [_door(source, door, reader) for door in DOORS]
        return proving.proven(source, server, [proving.reached(server), *doors])
    except (Refused, Problem) as error:
        return unreached(error.sentence)


def _server(answer: Any) -> str:
    match answer:
        case {"version": str(version)}:
            return f"version {version[:60]}"
    return "version unknown"


def _door(source: Definition, door: Door, reader: Site) -> Seen:
    answered = [(path, client.status(reader, path)) for path in door.paths]
    open_ones = [(path, status) for path, status in answered if status not in SHUT]
    contrary = f"{_said(open_ones)}, so something is there" if open_ones else ""
    return proving.layer(source, door.name, door.sentence, contrary, _said(answered), door.mend)


def _said(answered: list[tuple[str, int]]) -> str:
    return ", ".join(f"a GET of {path} is answered with {status}" for path, status in answered)
