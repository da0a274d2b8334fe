"""How far behind a hot standby's answer may be, for answers that say as of when they hold.

A primary is never behind itself. A standby has what was recorded until a decision point once it has replayed past that;
how much may be missing says its source, and without a word of it nothing may.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from audit.models import Definition
from evidence import credentials, reader

KEY = "replica_lag_seconds"
KIND = "postgresql"  # of the sources that can be asked
MOST = 24 * 3600
STANDBY = "select pg_is_in_recovery() as is_standby"
# Of a standby without traffic this is old although nothing is missing: whoever has one lets it be that old.
REPLAYED = "select extract(epoch from pg_last_xact_replay_timestamp())::numeric as replayed"


def check(body: Mapping[str, Any]) -> None:
    """Raise ValueError with a sentence unless what a source's body says about its replica is usable."""
    if KEY not in body:
        return
    if body["kind"] != KIND:
        raise ValueError(f"{KEY} is for sources of the kind {KIND}; leave it out.")
    if not (type(body[KEY]) is int and 0 <= body[KEY] <= MOST):
        raise ValueError(f"{KEY} is a whole number from 0 to {MOST:,}: how many seconds a standby may be behind.")


def is_behind(source: Definition, certificate: str, at: datetime) -> bool:
    """Whether rows recorded until `at` may be missing here. Raises Refused, and Problem for a missing credential."""
    dsn = credentials.secret(source, "reader_env")
    if not _is_standby(dsn, certificate):
        return False
    replayed: Decimal | int | None = reader.read(dsn, REPLAYED).rows[0]["replayed"]
    allowed = timedelta(seconds=source.body.get(KEY, 0))
    return replayed is None or replayed < Decimal(str((at - allowed).timestamp()))


@lru_cache(maxsize=64)
def _is_standby(dsn: str, certificate: str) -> bool:
    """What sort of server it is, asked once for each certificate: a server that is another one has another."""
    return bool(reader.read(dsn, STANDBY).rows[0]["is_standby"])
