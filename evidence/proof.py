"""The credential certificate: a source's reader is proven unable to write, from both sides.

The doctor, another credential, reads the catalogs. And the reader itself tries to write, in a transaction that is
read-write on purpose: only "permission denied" proves the credential, "read-only transaction" proves nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any
from uuid import uuid4

import simplejson
from django.db import transaction
from django.utils import timezone

from audit import log, twohands
from audit.kinds import Kind
from audit.models import Definition
from evidence import examining, layers, sources
from evidence.errors import Problem
from evidence.examining import Evidence
from evidence.models import Certificate

VALID_FOR = timedelta(minutes=10)


def certify(source: Definition) -> Certificate:
    """Prove the source's credential now, keep the certificate, and record that the source is certified or dark."""
    return _keep(source, examining.prove(source))


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
    lines = [(fact["holds"], fact["sentence"], _detail(fact)) for fact in certificate.facts]
    is_old = timezone.now() - certificate.at > VALID_FOR
    word = "proof too old" if is_old else "cannot write" if certificate.holds else "dark"
    said = f"certificate {certificate.pk}, role {certificate.role or 'unknown'}"
    return twohands.Standing(
        certificate.holds and not is_old, word, lines, why, said, layers.report(certificate.facts), certificate.at
    )


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
    failed = failing(certificate)
    if failed or not certificate.holds:
        return f"this is not true: {failed[0]['sentence']}" if failed else "its proof did not hold"
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
