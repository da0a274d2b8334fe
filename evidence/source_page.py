"""What the pages of sources show: of any kind, for certificates state their facts the same way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import Count, Sum
from django.utils import timezone

from audit import definition_pages, twohands
from audit.definition_pages import Row
from audit.kinds import Kind
from audit.models import Definition, Entry
from evidence import agent_activity, layers, proof, rate
from evidence.models import CallSlot, Certificate
from evidence.stating import Weight

DAY = timedelta(days=1)
RENEWED_EVERY = timedelta(minutes=2)  # as gate.config.settings has beat ask for it
MOST_PROOFS = 2_000  # looked at for changes: of nearly three days
MOST_CHANGES = 15
MOST_SLOTS = 10_000
# Notes that say what kind of server it is, in the order in which one is taken.
SERVER_FACTS = ("standby", "server", "version")

# The proofs that say something else than the one before them. The index on source and time finds the newest.
CHANGES = """
select id, at, holds, source_version, role from (
  select id, at, holds, source_version, role,
    lag(holds) over (order by at) is distinct from holds
      or lag(source_version) over (order by at) is distinct from source_version
      or lag(role) over (order by at) is distinct from role as is_new
  from (select id, at, holds, source_version, role from evidence_certificate where source = %s
        order by at desc limit %s) newest
) told where is_new order by at desc limit %s
"""


@dataclass(frozen=True)
class Listed:
    """One source in the list."""

    row: Row
    standing: twohands.Standing | None
    certificate: Certificate | None
    tools: int
    calls: int

    @property
    def server(self) -> str:
        return server_of(self.certificate)


@dataclass(frozen=True)
class Change:
    """A proof that said something else than the one before it."""

    certificate: str
    at: datetime
    holds: bool
    version: int
    role: str


def server_of(certificate: Certificate | None) -> str:
    """What server the proof found, in its own words: a hot standby is one of them."""
    facts = certificate.facts if certificate else []
    said = {fact["fact"]: fact["seen"] for fact in facts if fact.get("weight") == Weight.NOTE}
    return next((said[name] for name in SERVER_FACTS if name in said), "")


def listed() -> list[Listed]:
    """Every source by name, with a fixed number of queries."""
    rows = definition_pages.rows("source")
    standings = proof.standings([row.in_force for row in rows if row.in_force])
    newest = Certificate.objects.order_by("source", "-at").distinct("source")
    certificates = {one.source: one for one in newest.filter(source__in=[row.name for row in rows])}
    tools = dict(_tools().values_list("body__source").annotate(Count("pk")))
    calls = dict(
        CallSlot.objects.filter(since__gte=timezone.now() - DAY).exclude(outcome="refused")
        .values_list("source").annotate(Sum("calls"))
    )  # fmt: skip
    return [
        Listed(row, standings.get(row.name), certificates.get(row.name), tools.get(row.name, 0), calls.get(row.name, 0))
        for row in rows
    ]


def _tools() -> Any:
    return Definition.objects.filter(kind="tool", status=Definition.Status.ACTIVE)


class SourcePage:
    """What the page of one source shows."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.now = timezone.now()

    @cached_property
    def standing(self) -> twohands.Standing | None:
        """How it stands; None while no version is in force."""
        found = self.row.in_force
        return proof.standings([found]).get(found.name) if found else None

    @cached_property
    def certificate(self) -> Certificate | None:
        """The newest proof of the version in force."""
        newest = proof.latest(self.row.name)
        found = self.row.in_force
        return newest if newest and found and newest.source_version == found.version else None

    @property
    def server(self) -> str:
        return server_of(self.certificate)

    @cached_property
    def entry(self) -> Entry | None:
        """The entry of that proof. Of each subject an index has the newest, and a proof is recorded once."""
        certificate = self.certificate
        if certificate is None:
            return None
        subject = f"source {certificate.source} v{certificate.source_version}"
        kinds = (Kind.SOURCE_CERTIFIED, Kind.SOURCE_DARKENED)
        newest = Entry.objects.filter(subject=subject, kind__in=kinds).order_by("-seq").first()
        return newest if newest and newest.certificate == str(certificate.pk) else None

    @property
    def facts(self) -> Sequence[dict[str, Any]]:
        return self.certificate.facts if self.certificate else []

    @property
    def failing(self) -> Sequence[dict[str, Any]]:
        """The facts for which it is not served."""
        return proof.failing(self.certificate) if self.certificate else []

    @property
    def excused(self) -> Sequence[dict[str, Any]]:
        """Facts that do not hold, and for which it is served all the same."""
        return [fact for fact in self.facts if not fact["holds"] and fact.get("excused")]

    @property
    def holding(self) -> Sequence[dict[str, Any]]:
        return [fact for fact in self.facts if fact["holds"]]

    @property
    def mends(self) -> Sequence[tuple[str, str]]:
        """The statements that mend what fails, each with its fact."""
        return [(fact["sentence"], fact["mend"]) for fact in (*self.failing, *self.excused) if fact["mend"]]

    @property
    def next_proof(self) -> datetime | None:
        """When it is proven again, if the reads worker runs."""
        return self.certificate.at + RENEWED_EVERY if self.certificate else None

    @property
    def first_lines(self) -> Sequence[tuple[str, int]]:
        """How many families of attacks each line stops first; the credential comes first."""
        sums: dict[str, int] = {layers.CREDENTIAL: 0}
        for _, line in self.standing.layers if self.standing else ():
            sums[line] = sums.get(line, 0) + 1
        return list(sums.items())

    @cached_property
    def changes(self) -> Sequence[Change]:
        """When it began to hold and when it went dark, newest first."""
        with connection.cursor() as cursor:
            cursor.execute(CHANGES, [self.row.name, MOST_PROOFS, MOST_CHANGES])
            return [Change(str(key), at, holds, version, role) for key, at, holds, version, role in cursor.fetchall()]

    @cached_property
    def tools(self) -> Sequence[Definition]:
        """The tools in force that read it."""
        return list(_tools().filter(body__source=self.row.name).order_by("name"))

    @cached_property
    def calls(self) -> Sequence[agent_activity.Row]:
        """The calls of the last day by tool."""
        slots = CallSlot.objects.filter(source=self.row.name, since__gte=self.now - DAY).order_by("-since")[:MOST_SLOTS]
        return agent_activity.rows_of(slots)

    @property
    def rates(self) -> rate.Rates:
        return rate.rates_of(self.row.shown.body)

    @cached_property
    def used_now(self) -> int:
        """Calls in the minute that runs."""
        return rate.used(self.row.name)

    @property
    def said(self) -> Iterator[tuple[str, str]]:
        """What the definition says, key by key; a credential never stands in it."""
        for key, value in sorted(self.row.shown.body.items()):
            yield key.replace("_", " "), _in_words(value)


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(child)}" for key, child in value.items())
    return ", ".join(map(_in_words, value)) if isinstance(value, list) else str(value)
