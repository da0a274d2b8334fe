from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection

from audit.models import Entry
from audit.verify.entries import Entry as VerifiedEntry
from audit.verify.entries import Part
from gate.config import fingerprint, provision

pytestmark = pytest.mark.django_db

LOOSENED = [
    "alter table audit_entry disable trigger refuse_change",
    "create or replace function audit_refuse() returns trigger language plpgsql as $$ begin return old; end $$",
    "grant delete on audit_entry to counterseal_people",
    "grant update (digest) on audit_entry to counterseal_people",
    "alter table triage_incident disable row level security",
    "create policy loose on triage_incident to counterseal_agents using (true)",
    "create rule quiet as on insert to audit_entry do instead nothing",
    "alter function audit_refuse() security definer",
    'grant insert ("draft.agreed") on audit_kind to counterseal_agents',
    "grant insert (at) on audit_append to counterseal_agents",
    "create or replace view audit_append as select * from audit_entry",
    "alter table audit_entry alter column db_role set default 'counterseal_people'",
    "alter table audit_entry alter column seq set generated always",
    "alter table audit_entry alter column epoch set default 2",
    "alter table audit_entry_{month} add constraint never check (kind <> 'call.refused') not valid",
    "alter table audit_entry_{month} alter column status set default 'ok'",
    "drop index audit_one_active_version",
    "create schema shadow create table more () inherits (public.audit_override)",
    "create schema counterseal_writer",
    "alter default privileges for role counterseal_owner in schema public grant delete on tables to public",
    "alter sequence audit_entry_number cache 100",
]


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize("statement", LOOSENED)
def test_loosening_a_guard_changes_the_fingerprint(statement: str) -> None:
    before = fingerprint.lines()
    with connection.cursor() as cursor:
        cursor.execute("select to_char(now() at time zone 'UTC', 'YYYYMM')")
        (month,) = cursor.fetchone()
    run(statement.replace("{month}", month))
    assert fingerprint.digest_of(fingerprint.lines()) != fingerprint.digest_of(before)


def test_upgrading_twice_leaves_the_fingerprint() -> None:
    provision.apply()
    before = fingerprint.lines()
    provision.apply()
    assert fingerprint.lines() == before


def test_months_do_not_change_the_fingerprint() -> None:
    """It would outgrow what an entry keeps; each month is held against the ways in which one may be guarded."""
    before = fingerprint.lines()
    run("select audit_ensure_partitions(30)")
    assert fingerprint.lines() == before


@pytest.mark.parametrize("result", [b"[1]", b'["a", null]', b"{}", b"[" * 100_000, b"", None])
def test_a_record_that_holds_no_guards_is_told(result: bytes | None) -> None:
    entry = VerifiedEntry("", 1, datetime.now(UTC), "", b"", {"tool_hash": "x"}, result=Part(kept=result))
    assert fingerprint.differences(entry) == [
        "It does not hold the guards that it was written about, so they cannot be compared."
    ]


def test_data_do_not_change_the_fingerprint(make_person: Any) -> None:
    before = fingerprint.lines()
    make_person("ada")
    assert fingerprint.lines() == before


@pytest.mark.django_db(transaction=True)
def test_it_is_recorded_only_when_it_changed() -> None:
    # The entry is written on a connection of its own, so the change is committed here and taken back.
    fingerprint.record_when_changed()
    assert fingerprint.record_when_changed() is None
    run("alter table audit_entry disable trigger refuse_change")
    try:
        entry = fingerprint.record_when_changed()
        assert entry is not None
        kept = Entry.objects.get(seq=entry.seq)
        assert (kept.kind, kept.tool_hash) == ("log.schema", fingerprint.digest_of(fingerprint.lines()))
    finally:
        run("alter table audit_entry enable always trigger refuse_change")
    assert fingerprint.record_when_changed() is not None
