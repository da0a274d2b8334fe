"""What can be proven of a Prometheus: which of its doors for writing are open, by the flags that it was started with.

Prometheus knows no roles: what one who reaches it may do, all may. So a door that is open is a fact that does not hold,
and the line behind it is the client. Other servers of the same API tell no flags; then nothing of it is seen, which
does not hold either, until a source leaves it to the client by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.models import Definition
from evidence.errors import Problem, Refused
from evidence.kinds.http import client, proving, site
from evidence.layers import Attack
from evidence.stating import Proven, Seen, unreached


@dataclass(frozen=True)
class Door:
    """A way to write: the fact that it is shut, the flag that opens it, and the feature that once did."""

    name: str
    sentence: str
    flag: str
    feature: str = ""


DOORS = (
    Door("admin_api", "Nobody deletes series or takes snapshots through its API.", "web.enable-admin-api"),
    Door("lifecycle", "Nobody stops or reloads it through its API.", "web.enable-lifecycle"),
    Door("remote_write", "It takes no samples that are written to it.", "web.enable-remote-write-receiver",
         "remote-write-receiver"),
    Door("otlp", "It takes no metrics by OpenTelemetry.", "web.enable-otlp-receiver", "otlp-write-receiver"),
)  # fmt: skip
ACCEPTABLE = frozenset(door.name for door in DOORS)
ATTACKS = (
    Attack("Deleting series, taking snapshots", ("admin_api",), proving.CLIENT),
    Attack("Stopping or reloading the server", ("lifecycle",), proving.CLIENT),
    Attack("Writing samples that never were", ("remote_write", "otlp"), proving.CLIENT),
    *proving.ATTACKS,
)


def prove(source: Definition) -> Proven:
    """Look who answers, whether the reader is let in, and which doors stand open."""
    reader = site.of(source.name, source.body)
    try:
        server = _server(client.get(reader, "/api/v1/status/buildinfo").value)
        client.get(reader, "/api/v1/query?query=vector%281%29")
        flags = _flags(site.of(source.name, source.body, "doctor_env" if "doctor_env" in source.body else "reader_env"))
        doors = [_door(source, door, flags) for door in DOORS]
        return proving.proven(source, server, [proving.reached(server), *doors])
    except (Refused, Problem) as error:
        return unreached(error.sentence)


def _server(answer: Any) -> str:
    match answer:
        case {"data": {"version": str(version)}}:
            return f"version {version[:60]}"
    return "version unknown"


def _flags(doctor: site.Site) -> Mapping[str, Any] | str:
    """The server's flags, or why they are not seen."""
    try:
        answer = client.get(doctor, "/api/v1/status/flags").value
    except Refused as refused:
        return refused.sentence
    match answer:
        case {"status": "success", "data": {"web.enable-admin-api": str()} as flags}:
            return dict(flags)
    return "The server tells no flags of a Prometheus."


def _door(source: Definition, door: Door, flags: Mapping[str, Any] | str) -> Seen:
    mend = f"Start Prometheus without --{door.flag}, or let a proxy before it pass nothing but what reads."
    return proving.layer(source, door.name, door.sentence, _contrary(door, flags), f"{door.flag} is off", mend)


def _contrary(door: Door, flags: Mapping[str, Any] | str) -> str:
    if isinstance(flags, str):
        return f"could not be seen: {flags}"
    features = str(flags.get("enable-feature", "")).split(",")
    # A flag that a version does not list is one that it does not have, and the door with it.
    if flags.get(door.flag, "false") != "false":
        return f"{door.flag} is {str(flags[door.flag])[:20]}"
    return f"enable-feature has {door.feature}" if door.feature and door.feature in features else ""
