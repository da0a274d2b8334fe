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
from evidence.stating import Proven, Seen, Weight, unreached

SHUT = (401, 403, 404)


@dataclass(frozen=True)
class Door:
    """A way to write: the fact that it is shut to the reader, where it is, and what shuts it."""

    name: str
    sentence: str
    path: str
    mend: str


DOORS = (
    Door("delete_api", "The reader deletes no lines.", "/loki/api/v1/delete",
         "Keep the path from the reader at the gateway, or set deletion_mode to disabled in Loki's limits."),
    Door("push_api", "The reader writes no lines.", "/loki/api/v1/push",
         "Keep the path from the reader at the gateway."),
    Door("ruler_api", "The reader changes no rules.", "/loki/api/v1/rules",
         "Keep the path from the reader at the gateway, or set enable_api to false in Loki's ruler."),
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
        return proving.proven(source, server, [_reached(server), *(_door(source, door, reader) for door in DOORS)])
    except (Refused, Problem) as error:
        return unreached(error.sentence)


def _server(answer: Any) -> str:
    match answer:
        case {"version": str(version)}:
            return f"version {version[:60]}"
    return "version unknown"


def _reached(server: str) -> Seen:
    return Seen("reached", "The reader's credential is let in.", True, server, "", Weight.WALL)


def _door(source: Definition, door: Door, reader: Site) -> Seen:
    status = client.status(reader, door.path)
    contrary = "" if status in SHUT else f"a GET of {door.path} is answered with {status}, so something is there"
    seen = f"a GET of {door.path} is answered with {status}"
    return proving.layer(source, door.name, door.sentence, contrary, seen, door.mend)


def script(source: Definition) -> list[str]:
    """What makes the strongest reader: what the gateway before Loki may pass."""
    found = site.of(source.name, source.body)
    return [
        f"# The strongest reader of {source.name}, {found.origin}{found.base}. Loki itself knows tenants and no roles:",
        "# let the reader in by a gateway that passes GET and nothing else, like this one of nginx:",
        "location ~ ^/loki/api/v1/(query|query_range|labels|label/[^/]+/values|series|index/stats|status/buildinfo)$ {",
        "    limit_except GET { deny all; }",
        "    proxy_pass http://loki:3100;",
        "}",
        "location ~ ^/prometheus/api/v1/(rules|alerts)$ {",
        "    limit_except GET { deny all; }",
        "    proxy_pass http://loki:3100;",
        "}",
        "location / { return 403; }",
    ]
