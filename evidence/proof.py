"""The credential certificate: a source's reader is proven unable to write, from both sides.

The doctor, another credential, reads the catalogs. And the reader itself tries to write, in a transaction that is
read-write on purpose: only "permission denied" proves the credential, "read-only transaction" proves nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import simplejson
from django.db import transaction
from django.utils import timezone
from psycopg import errors

from audit import log, twohands
from audit.kinds import Kind
from audit.models import Definition
from evidence import facts, sources, tries
from evidence.errors import Problem
from evidence.models import Certificate

VALID_FOR = timedelta(minutes=10)
MOST_SEEN = 5  # examples that a fact lists
SECONDS = 10  # for one query of the proof
Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Seen:
    """One fact of a certificate, as it is kept and shown."""

    fact: str
    sentence: str
    holds: bool
    seen: str
    mend: str


@dataclass(frozen=True)
class Evidence:
    """What one proof found."""

    address: str
    role: str
    server: str
    facts: list[Seen]

    @property
    def holds(self) -> bool:
        return bool(self.facts) and all(fact.holds for fact in self.facts)


def certify(source: Definition) -> Certificate:
    """Prove the source's credential now, keep the certificate, and record that the source is certified or dark."""
    return _keep(source, _prove(source))


def latest(source: str) -> Certificate | None:
    """The newest certificate of the source of this name, whether it holds or not."""
    return Certificate.objects.filter(source=source).order_by("-at").first()


def standings(definitions: Sequence[Definition]) -> dict[str, twohands.Standing]:
    """What the newest certificates of these sources say, by the sources' names, with one query."""
    names = [source.name for source in definitions]
    newest = Certificate.objects.filter(source__in=names).order_by("source", "-at").distinct("source")
    found = {certificate.source: certificate for certificate in newest}
    return {source.name: _standing(source, found.get(source.name)) for source in definitions}


def _standing(source: Definition, certificate: Certificate | None) -> twohands.Standing:
    why = _why_dark(source, certificate)
    if certificate is None or certificate.source_version != source.version:
        return twohands.Standing(False, "not proven yet", [], why)
    lines = [(fact["holds"], fact["sentence"], fact["seen"] if fact["holds"] else f"{fact['seen']}. {fact['mend']}")
             for fact in certificate.facts]  # fmt: skip
    if timezone.now() - certificate.at > VALID_FOR:
        return twohands.Standing(False, "proof too old", lines, why)
    return twohands.Standing(certificate.holds, "cannot write" if certificate.holds else "dark", lines, why)


def require(source: Definition) -> Certificate:
    """The certificate under which the source may be read now. Raises Problem that says what is not proven."""
    certificate = latest(source.name)
    why = _why_dark(source, certificate)
    if certificate is None or why:
        raise _dark(source, why)
    if certificate.address != sources.address(source):
        # The reads worker proves, another process reads: both must hold the very same credential.
        raise _dark(source, "this process holds another reader credential than the one that was proven")
    return certificate


def _why_dark(source: Definition, certificate: Certificate | None) -> str:
    """Why the source is not read, as far as every process can tell; empty when it is."""
    if certificate is None or certificate.source_version != source.version:
        return "its credential has not been proven yet; it is within two minutes"
    failed = next((fact for fact in certificate.facts if not fact["holds"]), None)
    if failed is not None or not certificate.holds:
        return f"this is not true: {failed['sentence']}" if failed else "its proof did not hold"
    if timezone.now() - certificate.at > VALID_FOR:
        return "its proof is older than 10 minutes; look whether the reads worker runs"
    return ""


def _dark(source: Definition, why: str) -> Problem:
    return Problem(503, "source_dark", f"The source {source.name} is not read, for {why.rstrip('.')}.")


@transaction.atomic
def _keep(source: Definition, evidence: Evidence) -> Certificate:
    listed, now = [asdict(fact) for fact in evidence.facts], timezone.now()
    stated = {"source": source.name, "source_version": source.version, "address": evidence.address,
              "role": evidence.role, "server": evidence.server, "facts": listed, "at": now.isoformat()}  # fmt: skip
    certificate = Certificate.objects.create(
        id=uuid4(), source=source.name, source_version=source.version, address=evidence.address, role=evidence.role,
        server=evidence.server, facts=listed, holds=evidence.holds, digest=_digest(stated), at=now,
    )  # fmt: skip
    _record(source, certificate, stated)
    return certificate


def _digest(stated: dict[str, Any]) -> str:
    text = simplejson.dumps(stated, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"certificate/v1\0{text}".encode()).hexdigest()


def _record(source: Definition, certificate: Certificate, stated: dict[str, Any]) -> None:
    failed = [fact["fact"] for fact in certificate.facts if not fact["holds"]]
    log.record_with(
        Kind.SOURCE_CERTIFIED if certificate.holds else Kind.SOURCE_DARKENED,
        log.Actor.process(),
        subject=f"source {source.name} v{source.version}",
        summary="cannot write" if certificate.holds else f"not proven: {', '.join(failed)}",
        status="ok" if certificate.holds else "failed",
        source=source.name,
        certificate=str(certificate.pk),
        tool_hash=source.digest,
        args={"role": certificate.role, "server": certificate.server},
        result={**stated, "digest": certificate.digest},
    )


def _prove(source: Definition) -> Evidence:
    """Both sides. A side that cannot be seen is a fact that does not hold."""
    try:
        with _session(source, "reader_env") as reader, _session(source, "doctor_env") as doctor:
            role = str(_value(reader, "select session_user"))
            found = [_same_server(reader, doctor), *_from_catalogs(doctor, role), *_from_tries(reader)]
            return Evidence(sources.address(source), role, _server(doctor), found)
    except (psycopg.Error, Problem) as error:
        why = error.sentence if isinstance(error, Problem) else _first_line(error)
        mend = "Look whether the database is up and both credentials are set and right."
        return Evidence("", "", "", [Seen("reached", "Both credentials reach the source.", False, why, mend)])


@contextmanager
def _session(source: Definition, key: str) -> Iterator[Connection]:
    dsn = sources.dsn(source, key)
    with psycopg.connect(dsn, autocommit=True, connect_timeout=5, application_name="counterseal proof") as connection:
        connection.prepare_threshold = None
        connection.execute(f"set statement_timeout = '{SECONDS}s'")
        connection.execute("set lock_timeout = '2s'")
        yield connection


def _value(connection: Connection, query: str) -> Any:
    row = connection.execute(query).fetchone()
    return row[0] if row else None


def _first_line(error: psycopg.Error) -> str:
    # Only what the server said: a driver's message may hold parts of the connection string.
    return (error.diag.message_primary or "The connection failed.").splitlines()[0]


def _same_server(reader: Connection, doctor: Connection) -> Seen:
    query = "select pg_postmaster_start_time()::text || ' ' || oid from pg_database where datname = current_database()"
    same = _value(reader, query) == _value(doctor, query)
    return Seen(
        "same_server", "Reader and doctor look at the same database.", same,
        "both are" if same else "they are in different databases",
        "Let both credentials name the same server and database.",
    )  # fmt: skip


def _server(doctor: Connection) -> str:
    database = _value(doctor, "select oid from pg_database where datname = current_database()")
    try:
        system = _value(doctor, "select system_identifier from pg_control_system()")
    except errors.InsufficientPrivilege:
        system = "unknown"
    return f"{system}/{database}"


def _from_catalogs(doctor: Connection, role: str) -> list[Seen]:
    newer = [facts.MAINTENANCE] if doctor.info.server_version >= 170000 else []
    return [_look(doctor, role, fact) for fact in [*facts.FACTS, *newer]]


def _look(doctor: Connection, role: str, fact: facts.Fact) -> Seen:
    try:
        rows = psycopg.RawCursor(doctor).execute(fact.contrary, [role]).fetchall()
    except psycopg.Error as error:
        return Seen(fact.name, fact.sentence, False, f"could not be seen: {_first_line(error)}", fact.mend)
    return Seen(fact.name, fact.sentence, not rows, _listed([str(row[0]) for row in rows]), fact.mend)


def _listed(found: list[str]) -> str:
    more = f" and {len(found) - MOST_SEEN} more" if len(found) > MOST_SEEN else ""
    return f"{', '.join(found[:MOST_SEEN])}{more}" if found else "nothing contrary"


def _from_tries(reader: Connection) -> list[Seen]:
    tried, came_through = tries.attempt(reader)
    return [
        Seen(
            "tries", "Every write that the reader itself tries is denied.", not came_through,
            _listed(came_through) if came_through else f"{tried} statements denied",
            "Take from the reader's role what let these through.",
        )
    ]  # fmt: skip
