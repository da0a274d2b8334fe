"""Everything that is observed about a write, by the names that questions of policies have."""

from __future__ import annotations

from gate.writes import targets
from gate.writes.models import WriteRequest
from gate.writes.probes import about_http, about_sql, around
from gate.writes.probes.fact import Fact, observed


def of(write: WriteRequest) -> dict[str, Fact]:
    """What each probe saw of a write. Never raises for what it could not see: then that fact is missing."""
    about = about_sql if targets.of(write.target).action is None else about_http
    return observed({**around.probes(write), **about.probes(write)})
