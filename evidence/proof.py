"""The credential certificate: a source's reader is proven unable to write, from both sides.

The doctor, another credential, reads what the source knows about the reader's rights. And the reader itself tries to
write where only "permission denied" can stop it: that proves the credential, "read-only transaction" proves nothing.
How a kind of source does both stands in evidence.kinds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid4

import simplejson
from django.db import transaction
from django.utils import timezone

from audit import log, twohands, versions
from audit.at_once import Asked, Row, ask
from audit.kinds import Kind
from audit.models import Definition
from evidence import kinds, layers, written_reads
from evidence.errors import Problem
from evidence.models import Certificate, WrittenRead
from evidence.stating import Proven

VALID_FOR = timedelta(minutes=10)
# The source is named, or it is the one that a tool or a metric in force reads.
NOW = """
select asked.name, s.id, s.xmin::text, c.id, c.xmin::text, w.id from (select coalesce($1, (
  select body ->> 'source' from audit_definition where kind = $2 and name = $3 and status = 'active'
)) as name) asked
left join audit_definition s on s.kind = 'source' and s.name = asked.name and s.status = 'active'
left join lateral (
  select id, xmin from evidence_certificate where source = asked.name order by at desc limit 1
) c on true
left join lateral (
  select id from evidence_writtenread where source = asked.name and settled_at is null order by id limit 1
) w on true
"""


def certify(source: Definition) -> Certificate:
    """Prove the source's credential now, keep the certificate, and record that the source is certified or dark."""
    return _keep(source, kinds.of(source).prove(source))


def latest(source: str) -> Certificate | None:
    """The newest certificate of the source of this name, whether it holds or not."""
    return Certificate.objects.filter(source=source).order_by("-at").first()


def standings(definitions: Sequence[Definition]) -> dict[str, twohands.Standing]:
    """What the newest certificates of these sources say, by the sources' names, with two queries."""
    names = [source.name for source in definitions]
    newest = Certificate.objects.filter(source__in=names).order_by("source", "-at").distinct("source")
    found = {certificate.source: certificate for certificate in newest}
    written = written_reads.unsettled(names)
    return {source.name: _standing(source, found.get(source.name), written.get(source.name)) for source in definitions}


def _standing(source: Definition, certificate: Certificate | None, written: WrittenRead | None) -> twohands.Standing:
    why = _why_dark(source, certificate, written)
    if certificate is None or certificate.source_version != source.version:
        return twohands.Standing(False, "not proven yet", [], why)
    lines = [(fact["holds"], fact["sentence"], _detail(fact)) for fact in certificate.facts]
    is_old = timezone.now() - certificate.at > VALID_FOR
    is_dark = written is not None or not certificate.holds
    word = "proof too old" if is_old else "dark" if is_dark else "cannot write"
    said = f"certificate {certificate.pk}, role {certificate.role or 'unknown'}"
    return twohands.Standing(
        not is_dark and not is_old, word, lines, why, said, lines_of(source, certificate), certificate.at
    )


def lines_of(source: Definition, certificate: Certificate) -> list[tuple[str, str]]:
    """For each family of attacks on a source of this kind, the line that stops it first under the certificate."""
    return layers.report(kinds.of(source).attacks, certificate.facts)


def _detail(fact: dict[str, Any]) -> str:
    """What was seen, and where that is wrong, why it is served all the same or what mends it."""
    said = [fact["seen"]] if fact["holds"] else [fact["seen"], fact.get("excused"), fact["mend"]]
    return ". ".join(part for part in said if part)


def failing(certificate: Certificate) -> list[dict[str, Any]]:
    """The facts for which the source is not served."""
    # A certificate of before knew no excuses, so it has none.
    return [fact for fact in certificate.facts if not (fact["holds"] or fact.get("excused"))]


def require(source: Definition) -> Certificate:
    """The certificate under which the source may be read now. Raises Problem that says what is not proven."""
    return _required(source, ask(_now(source=source.name)))


def require_active(name: str) -> tuple[Definition, Certificate]:
    """The source in force under this name, and the certificate under which it may be read. Raises Problem.

    Callers MUST NOT change what they get.
    """
    return _active(ask(_now(source=name)))


def behind(kind: str, name: str) -> Asked[tuple[Definition, Certificate]]:
    """The same of the source that the tool or metric in force under this name reads, for who asks for more at once."""
    # An agent may ask for any text at all, also for what no statement can hold.
    return _now(kind=kind, name=name if twohands.NAME.fullmatch(name) else "").then(_active)


def _active(now: _Now) -> tuple[Definition, Certificate]:
    if now.source is None:
        raise Problem(503, "source_dark", f"The source {now.name} is not in force; an admin can activate it.")
    return now.source, _required(now.source, now)


@dataclass(frozen=True)
class _Now:
    """What there is of a source: the version in force, its newest certificate, and the first read that wrote."""

    name: str | None  # None for a tool that is not in force
    source: Definition | None
    certificate: Certificate | None
    written: WrittenRead | None


def _required(source: Definition, now: _Now) -> Certificate:
    why = _why_dark(source, now.certificate, now.written)
    if now.certificate is None or why:
        raise _dark(source, why)
    if now.certificate.address != kinds.of(source).address(source):
        # The reads worker proves, another process reads: both must hold the very same credential.
        raise _dark(source, "this process holds another reader credential than the one that was proven")
    return now.certificate


def _now(*, source: str | None = None, kind: str = "", name: str = "") -> Asked[_Now]:
    return Asked(NOW, [source, kind, name], _found)


def _found(rows: list[Row]) -> _Now:
    name, source, source_as_of, certificate, certificate_as_of, written = rows[0]
    return _Now(
        name,
        None if source is None else versions.kept(source, source_as_of),
        None if certificate is None else _read(certificate, certificate_as_of),
        None if written is None else WrittenRead.objects.get(pk=written),
    )


@lru_cache(maxsize=64)
def _read(pk: UUID, as_of: str) -> Certificate:
    """A certificate in full, once for each row: its facts are many, and nothing changes them."""
    return Certificate.objects.get(pk=pk)


def _why_dark(source: Definition, certificate: Certificate | None, written: WrittenRead | None) -> str:
    """Why the source is not read, as far as every process can tell; empty when it is."""
    if written is not None:
        return written_reads.why_dark(written)
    if certificate is None or certificate.source_version != source.version:
        return "its credential has not been proven yet; it is within two minutes"
    failed = failing(certificate)
    if failed or not certificate.holds:
        return f"this is not true: {failed[0]['sentence']}" if failed else "its proof did not hold"
    if timezone.now() - certificate.at > VALID_FOR:
        return "its proof is older than 10 minutes; look whether the reads worker runs"
    return ""


def _dark(source: Definition, why: str) -> Problem:
    return Problem(503, "source_dark", f"The source {source.name} is not read, for {why.rstrip('.')}.")


@transaction.atomic
def _keep(source: Definition, proven: Proven) -> Certificate:
    listed, now = [asdict(fact) for fact in proven.facts], timezone.now()
    stated = {"source": source.name, "source_version": source.version, "address": proven.address,
              "role": proven.role, "server": proven.server, "facts": listed, "at": now.isoformat()}  # fmt: skip
    certificate = Certificate.objects.create(
        id=uuid4(), source=source.name, source_version=source.version, address=proven.address, role=proven.role,
        server=proven.server, facts=listed, holds=proven.holds, digest=_digest(stated), at=now,
    )  # fmt: skip
    _record(source, certificate, stated)
    return certificate


def _digest(stated: dict[str, Any]) -> str:
    text = simplejson.dumps(stated, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"certificate/v1\0{text}".encode()).hexdigest()


def _record(source: Definition, certificate: Certificate, stated: dict[str, Any]) -> None:
    failed = [fact["fact"] for fact in failing(certificate)]
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
