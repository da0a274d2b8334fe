"""Whether the log can be relied upon for approving: what the last verifications found, and how the sealer does.

An alarm stands from a verification with findings until a later one of the whole log is clean, and while the sealer
finds the tree or its key wrong. Two people may override it; that covers what they saw, and nothing found later.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from audit import reading, sealing, vouching
from audit.models import Override as Row
from audit.verify.findings import CODES

OFF = "Approving and running writes is off."
UNTIL = "It is on again after a clean verification of the whole log, or when two admins override this with a reason."
ALARMING = ("tampered", "wrong_key")  # states of the sealer
NOT_ITS_DIGEST = {"D1", "D2"}


@dataclass(frozen=True)
class Override:
    """Who said that approving goes on in spite of an alarm, and why."""

    pk: int
    asked_by: str
    decided_by: str
    reason: str
    solo: bool

    @property
    def words(self) -> str:
        """Who it was, for a sentence."""
        return f"{self.asked_by}, alone" if self.solo else f"{self.asked_by} and {self.decided_by}"


@dataclass(frozen=True)
class Alarm:
    """What makes the log unreliable: a verification that has findings, or the sealer's state, or both."""

    verification: int | None
    at: datetime | None
    findings: tuple[dict[str, str], ...]
    count: int
    sealer: str  # "tampered 570": its state and how far it had sealed; empty while it is well
    sentence: str  # of the sealer
    override: Override | None

    @property
    def is_off(self) -> bool:
        """Whether approving is off."""
        return self.override is None

    @property
    def headline(self) -> str:
        """What is wrong, in one sentence: the first finding, or what the sealer says."""
        if not self.findings:
            return self.sentence or "The last verification of the log found what it does not say."
        first = self.findings[0]
        if first["code"] in NOT_ITS_DIGEST and first["subject"].startswith("A-"):
            return f"Entry {first['subject']} does not match its digest."
        subject = first["subject"]
        return f"{subject[:1].upper()}{subject[1:]}: {CODES.get(first['code'], first['sentence'])}"

    @property
    def entry(self) -> int | None:
        """The number of the entry that the headline is about, when it is about one."""
        return reading.seq_of(self.findings[0]["subject"]) if self.findings else None

    @property
    def effect(self) -> str:
        """What comes of it, in one sentence."""
        return f"Approving goes on: {self.override.words} overrode this." if self.override else OFF

    @property
    def why_off(self) -> str:
        """Why nothing is approved, previewed or run now; empty when two people have overridden it."""
        return f"{self.headline} {OFF} {UNTIL}" if self.is_off else ""


@dataclass(frozen=True)
class Standing:
    """How the log stands: how far it is sealed, and what is wrong with it."""

    seal: sealing.Status
    alarm: Alarm | None


# The newest verification with findings that no later clean one of the whole log has settled; and the newest override,
# when it covers everything that was found since: what was found after it has to be among what its people saw.
LOOK = f"""
with sealed (state, sentence, said_at, size, sealed_at) as ({sealing.STATUS}),
settled as (
  select coalesce((select id from audit_verification where is_full and is_clean order by id desc limit 1), 0) as id
),
failed as (
  select v.* from audit_verification v, settled where not v.is_clean and v.id > settled.id order by v.id desc limit 1
),
overridden as (
  select o.id, asked_by_name, decided_by_name, reason, solo, verification, sealer,
    verification > settled.id and not exists (
      select from audit_verification v where v.id > o.verification and not v.is_clean
        and (v.finding_count > jsonb_array_length(v.findings) or exists (
          select from jsonb_array_elements(v.findings) found where not
            (select seen.findings from audit_verification seen where seen.id = o.verification)
            @> jsonb_build_array(found - 'sentence')))
    ) as is_covering
  from audit_override o, settled where o.status = 'confirmed' order by o.id desc limit 1
)
select sealed.*, failed.id, failed.at, failed.findings::text, failed.finding_count, overridden.*
from sealed left join failed on true left join overridden on true
"""


def standing() -> Standing:
    """How the log stands now, in one query."""
    with connection.cursor() as cursor:
        cursor.execute(LOOK)
        row = cursor.fetchone()
    seal = sealing.status_of(row[:5])
    return Standing(seal, _alarm(row[:5], row[5:9], row[9:]))


def current() -> Alarm | None:
    """What is wrong with the log; None when nothing is."""
    return standing().alarm


def why_off() -> str:
    """Why nothing may be approved, previewed or run now, as a sentence; empty when nothing speaks against it."""
    found = current()
    return found.why_off if found else ""


def _alarm(sealed: Sequence[Any], failed: Sequence[Any], overridden: Sequence[Any]) -> Alarm | None:
    verification, at, findings, count = failed
    # What the sealer said last stands, also when it has fallen silent since.
    is_alarming = sealed[0] in ALARMING
    if verification is None and not is_alarming:
        return None
    sealer = f"{sealed[0]} {sealed[3] or 0}" if is_alarming else ""
    return Alarm(
        verification, at, tuple(json.loads(findings or "[]")), count or 0, sealer, sealed[1] if is_alarming else "",
        _override(overridden, verification, sealer),
    )  # fmt: skip


def _override(row: Sequence[Any], verification: int | None, sealer: str) -> Override | None:
    """The newest override, when it is about all that stands now."""
    pk, asked_by, decided_by, reason, solo, _, of_sealer, is_covering = row
    if pk is None or (sealer and sealer != of_sealer) or (verification is not None and not is_covering):
        return None
    # A row alone is no override: whoever can write into the database could put one there.
    if not vouching.is_vouched(Row(pk=pk), "log"):
        return None
    return Override(pk, asked_by, decided_by, reason, solo)
