from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

import simplejson
from django.core.management.base import BaseCommand, CommandError

from audit import twohands
from audit.models import Definition
from evidence import credentials, kinds, proof
from evidence.errors import Problem
from evidence.models import Certificate

Lines = Sequence[tuple[str, str]]


class Command(BaseCommand):
    help = "Prove that a source's reader cannot write, print every fact, and keep the certificate."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source")
        parser.add_argument("--json", action="store_true", help="print the certificate as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        source = twohands.active("source", options["source"])
        if source is None:
            raise CommandError(f"There is no active source {options['source']}.")
        _check_credentials(source)
        certificate = proof.certify(source)
        lines = proof.lines_of(source, certificate)
        self.stdout.write(as_json(certificate, lines) if options["json"] else as_text(certificate, lines))
        if not certificate.holds:
            raise CommandError(f"The reader of {source.name} is not proven; the source stays dark.")


def _check_credentials(source: Definition) -> None:
    """Raises CommandError when this shell lacks a credential: that proves nothing, so nothing is recorded."""
    for variable in kinds.of(source).credentials(source):
        try:
            credentials.of_variable(source.name, variable)
        except Problem as unset:
            raise CommandError(f"{unset.sentence} Nothing was proven or recorded.") from unset


def as_json(certificate: Certificate, lines: Lines) -> str:
    """The certificate as one JSON object."""
    names = ("source", "source_version", "role", "server", "holds", "digest", "facts")
    stated = {name: getattr(certificate, name) for name in names}
    report = [{"attack": attack, "line": line} for attack, line in lines]
    more = {"id": str(certificate.pk), "at": certificate.at.isoformat(), "layers": report}
    return simplejson.dumps({**more, **stated}, indent=2)


def as_text(certificate: Certificate, layers: Lines) -> str:
    """The certificate as lines: each fact, and what to do where one does not hold."""
    lines = [f"{certificate.source} v{certificate.source_version}, role {certificate.role}, {certificate.server}"]
    for fact in certificate.facts:
        lines.append(f"{'holds ' if fact['holds'] else 'FAILS '} {fact['sentence']} ({fact['seen']})")
        lines += [f"       {said}" for said in (fact["excused"], fact["mend"]) if said and not fact["holds"]]
    lines += ["", "What stops which attack first:"]
    lines += [f"  {line}: {attack}" for attack, line in layers]
    return "\n".join([*lines, f"certificate {certificate.pk} {certificate.digest}"])
