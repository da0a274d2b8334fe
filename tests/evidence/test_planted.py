"""Whatever is planted into a proven reader is found by the fact that speaks of it, and mended by what it says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from audit.models import Definition
from evidence import examining, facts, layers, sources, third_tier
from evidence.stating import Proven, Seen, Weight
from tests.evidence import bodies, scratch

DEFINER = "returns int language sql security definer as 'select 1'"
# What is planted, the fact that finds it, and what takes the rest away again.
PLANTED = [
    ("alter role strong_reader createrole", "attributes", ""),
    ("alter role strong_reader createdb", "attributes", ""),
    ("alter role strong_reader replication", "attributes", ""),
    ("alter role strong_reader bypassrls", "attributes", ""),
    ("alter role strong_reader inherit", "attributes", ""),
    ("grant app_worker to strong_reader", "memberships", ""),
    ("grant app_worker to strong_reader with admin option", "memberships", ""),
    ("grant app_worker to strong_reader with inherit false, set false", "memberships", ""),
    ("grant pg_write_all_data to strong_reader", "memberships", ""),
    ("grant pg_execute_server_program to strong_reader with inherit false", "memberships", ""),
    ("grant pg_monitor to strong_reader", "memberships", ""),
    ("create role planted_between; grant app_owner to planted_between; grant planted_between to strong_reader",
     "memberships", "drop role planted_between"),
    ("create view app.planted as select 1 as a; alter view app.planted owner to strong_reader", "ownership",
     "drop view app.planted"),
    ("create publication planted; alter publication planted owner to strong_reader", "ownership",
     "drop publication planted"),
    ("create type app.planted as (a int); alter type app.planted owner to strong_reader", "ownership",
     "drop type app.planted"),
    ("alter database scratch owner to strong_reader", "ownership", "alter database scratch owner to app_owner"),
    ("grant temporary on database scratch to strong_reader", "database", ""),
    ("grant temporary on database scratch to public", "database", ""),
    ("grant create on database scratch to strong_reader", "database", ""),
    ("grant create on schema app to strong_reader", "schemas", ""),
    ("grant create on schema public to public", "schemas", ""),
    ("grant delete on app.jobs to strong_reader", "tables", ""),
    ("grant insert on app.read_log to public", "tables", ""),
    ("grant truncate on app.jobs to strong_reader", "tables", ""),
    ("grant trigger on app.jobs to strong_reader", "tables", ""),
    ("grant references on app.jobs to strong_reader", "tables", ""),
    ("grant update on app_ro.jobs to strong_reader", "tables", ""),
    ("grant maintain on app.jobs to strong_reader", "maintenance", ""),
    ("grant update (state) on app.jobs to strong_reader", "columns", ""),
    ("grant insert (state) on app.jobs to public", "columns", ""),
    ("grant usage on sequence app.ticket_seq to strong_reader", "sequences", ""),
    ("grant update on sequence app.ticket_seq to public", "sequences", ""),
    ("grant select on app_ro.jobs to strong_reader with grant option", "grant_options", ""),
    ("grant usage on schema app_ro to strong_reader with grant option", "grant_options", ""),
    ("grant execute on function app_ro.find_job(bigint) to strong_reader with grant option", "grant_options", ""),
    ("grant connect on database scratch to strong_reader with grant option", "grant_options", ""),
    ("grant select (id) on app.tickets to strong_reader with grant option", "grant_options", ""),
    ("grant create on tablespace pg_default to strong_reader", "tablespaces", ""),
    ("grant set on parameter session_replication_role to strong_reader", "parameters", ""),
    ("grant alter system on parameter work_mem to strong_reader", "parameters", ""),
    ("grant update on large object 424242 to strong_reader", "large_objects", ""),
    ("grant select on large object 424242 to public", "large_objects", ""),
    ("alter default privileges for role app_owner in schema app grant insert on tables to strong_reader",
     "default_privileges", ""),
    ("alter default privileges for role app_owner grant usage on sequences to public", "default_privileges", ""),
    ("grant execute on function app.touch_job(bigint) to strong_reader", "definer_functions", ""),
    ("grant execute on procedure app.purge() to public", "definer_functions", ""),
    # In a schema that the reader does not see; a cast in one that it does would call it.
    (f"create schema hidden; create function hidden.planted() {DEFINER}", "definer_functions",
     "drop schema hidden cascade"),
    ("create function app_ro.planted() returns int language sql volatile as 'select 1'", "routines",
     "drop function app_ro.planted()"),
    ("grant usage on schema public to strong_reader; grant execute on function public.note_add(text) to strong_reader",
     "routines", "revoke usage on schema public from strong_reader"),
    ("grant execute on function pg_read_file(text) to strong_reader", "restricted_functions", ""),
    ("grant execute on function pg_reload_conf() to public", "restricted_functions", ""),
    ("grant execute on function lo_export(oid, text) to strong_reader", "restricted_functions", ""),
    ("grant execute on function lo_create(oid) to public", "large_object_functions", ""),
    ("grant execute on function nextval(regclass) to public", "writing_functions", ""),
    ("grant execute on function pg_logical_emit_message(boolean, text, text, boolean) to public", "writing_functions",
     ""),
    ("grant execute on function pg_drop_replication_slot(name) to strong_reader", "slot_functions", ""),
    ("grant execute on function pg_try_advisory_lock(bigint) to public", "lock_functions", ""),
    ("grant execute on function set_config(text, text, boolean) to public", "session_functions", ""),
    ("grant execute on function pg_terminate_backend(integer, bigint) to public", "neighbor_functions", ""),
    ("grant execute on function query_to_xml(text, boolean, boolean, text) to public", "hiding_functions", ""),
    ("grant execute on function pg_sleep(double precision) to public", "waiting_functions", ""),
    ("grant execute on function pg_control_system() to public", "server_functions", ""),
    ("grant select on pg_authid to strong_reader", "restricted_catalogs", ""),
    ("grant select on pg_roles to public", "catalog_views", ""),
    ("grant select (rolname) on pg_roles to strong_reader", "catalog_views",
     "revoke select (rolname) on pg_roles from strong_reader"),
    ("grant usage on language plpgsql to public", "languages", ""),
    ("create foreign data wrapper planted; grant usage on foreign data wrapper planted to strong_reader",
     "foreign_servers", "drop foreign data wrapper planted"),
    ("create foreign data wrapper planted; create server planted foreign data wrapper planted;"
     " grant usage on foreign server planted to public", "foreign_servers",
     "drop foreign data wrapper planted cascade"),
    ("create foreign data wrapper planted; create server planted foreign data wrapper planted;"
     " create user mapping for public server planted", "user_mappings", "drop foreign data wrapper planted cascade"),
    ("create foreign data wrapper planted; create server planted foreign data wrapper planted;"
     " create foreign table app_ro.planted (a int) server planted; grant select on app_ro.planted to strong_reader",
     "foreign_tables", "drop foreign data wrapper planted cascade"),
    ("create foreign data wrapper planted; create server planted foreign data wrapper planted;"
     " create foreign table app.planted (a int) server planted;"
     " create view app_ro.planted as select a from app.planted; grant select on app_ro.planted to strong_reader",
     "foreign_tables", "drop foreign data wrapper planted cascade"),
    ("create foreign data wrapper planted; create server planted foreign data wrapper planted;"
     " create table app_ro.planted (a int) partition by list (a); create foreign table app.planted_1"
     " partition of app_ro.planted for values in (1) server planted; grant select on app_ro.planted to strong_reader",
     "foreign_tables", "drop table app_ro.planted; drop foreign data wrapper planted cascade"),
    ("grant select on app_ro.jobs_audited to strong_reader", "views", ""),
    ("create view app_ro.planted as select * from app_ro.jobs_audited; grant select on app_ro.planted to strong_reader",
     "views", "drop view app_ro.planted"),
    ("alter default privileges for role app_owner grant execute on routines to public", "creators", ""),
    ("alter role strong_reader reset statement_timeout", "stored_settings", ""),
    ("alter role strong_reader set default_transaction_read_only = off", "stored_settings", ""),
    ("alter role strong_reader in database scratch set lock_timeout = 0", "stored_settings",
     "alter role strong_reader in database scratch reset lock_timeout"),
    ("alter role strong_reader connection limit -1", "connection_limit", ""),
    # A second round: by a longer way, through everyone, and in the corners of the catalog.
    ("create role planted_one; create role planted_two; grant pg_write_server_files to planted_two;"
     " grant planted_two to planted_one with admin option; grant planted_one to strong_reader", "memberships",
     "drop role planted_one, planted_two"),
    ("grant pg_maintain to strong_reader with inherit false, set false", "memberships", ""),
    ("grant pg_signal_backend to strong_reader with admin option", "memberships", ""),
    ("grant pg_create_subscription to strong_reader", "memberships", ""),
    ("create schema planted; grant create on schema planted to public", "schemas", "drop schema planted"),
    ("create schema planted; create table planted.t (a int); grant usage on schema planted to public;"
     " grant insert, delete on planted.t to public", "tables", "drop schema planted cascade"),
    ("create schema planted; create table planted.t (a int); grant update (a) on planted.t to public", "columns",
     "drop schema planted cascade"),
    ("grant update (relname) on pg_catalog.pg_class to strong_reader", "columns", ""),
    ("grant select on pg_catalog.pg_largeobject to strong_reader", "restricted_catalogs", ""),
    ("create sequence app.planted; alter sequence app.planted owner to strong_reader", "ownership",
     "drop sequence app.planted"),
    ("create schema planted; alter schema planted owner to strong_reader", "ownership", "drop schema planted"),
    ("alter large object 424242 owner to strong_reader", "ownership", "alter large object 424242 owner to postgres"),
    ("create function app.planted() returns int language sql as 'select 1';"
     " revoke execute on function app.planted() from public; alter function app.planted() owner to strong_reader",
     "ownership", "drop function app.planted()"),
    ("create foreign data wrapper planted; create server planted foreign data wrapper planted;"
     " alter server planted owner to app_worker; create user mapping for strong_reader server planted",
     "user_mappings", "drop foreign data wrapper planted cascade"),
    ("alter default privileges grant create on schemas to public", "default_privileges", ""),
    ("alter default privileges for role app_owner grant select on tables to strong_reader with grant option",
     "default_privileges", ""),
    ("alter default privileges grant update on large objects to strong_reader", "default_privileges", ""),
    ("alter role strong_reader set lo_compat_privileges = on", "large_objects", ""),
    ("alter role strong_reader in database scratch set lo_compat_privileges = yes", "large_objects", ""),
    ("create type app.planted as enum ('a'); grant usage on type app.planted to strong_reader with grant option",
     "grant_options", "drop type app.planted"),
    ("create procedure app_ro.planted() language sql security definer as 'select 1'", "definer_functions",
     "drop procedure app_ro.planted()"),
    ("create function app.planted(int, int) returns boolean language sql security definer as 'select true';"
     " create operator app_ro.<<< (function = app.planted, leftarg = int, rightarg = int)", "definer_functions",
     "drop function app.planted(int, int) cascade"),
    ("create function app.planted(int) returns boolean language sql security definer as 'select true';"
     " create domain app_ro.planted as int check (app.planted(value))", "definer_functions",
     "drop function app.planted(int) cascade"),
    ("create function app.planted(int, int) returns int language sql security definer as 'select 1';"
     " create aggregate app_ro.planted (int) (sfunc = app.planted, stype = int)", "definer_functions",
     "drop function app.planted(int, int) cascade"),
    ("create function app.planted() returns boolean language sql security definer as 'select true';"
     " alter table app.tickets enable row level security; create policy planted on app.tickets"
     " using (app.planted())", "definer_functions",
     "drop function app.planted() cascade; alter table app.tickets disable row level security"),
]  # fmt: skip


@pytest.fixture
def prove(monkeypatch: pytest.MonkeyPatch, dsn_of: Callable[[str], str]) -> Callable[..., Proven]:
    """A proof of the scratch database's reader, without a record of it."""
    monkeypatch.setenv("SCRATCH_READER_DSN", dsn_of("strong_reader"))
    monkeypatch.setenv("SCRATCH_DOCTOR_DSN", dsn_of("scratch_doctor"))
    return lambda **body: examining.prove(Definition(kind="source", name="scratch", body=bodies.source(**body)))


def failing(found: list[Seen]) -> dict[str, Seen]:
    return {fact.fact: fact for fact in found if not fact.holds}


@pytest.fixture(scope="module")
def look(scratch_cluster: Path) -> Iterator[Callable[[], list[Seen]]]:
    """What the doctor sees of the reader in the catalogs, over one session for all rows."""
    with psycopg.connect(scratch.dsn(scratch_cluster, "scratch_doctor"), autocommit=True) as doctor:
        doctor.execute("set search_path = pg_catalog")
        yield lambda: examining.from_catalogs(doctor, "strong_reader", bodies.source())


@pytest.fixture
def plant(scratch_owner: Any) -> Iterator[Callable[[str, str], None]]:
    """Plant something; what the mending left is taken away in the end."""
    left: list[str] = []

    def do(planted: str, away: str) -> None:
        left.append(away)
        scratch_owner.execute(planted)

    yield do
    for away in left:
        scratch_owner.execute(away)


@pytest.mark.parametrize(("planted", "fact", "away"), PLANTED, ids=[f"{row[1]}-{at}" for at, row in enumerate(PLANTED)])
def test_what_is_planted_is_found_and_mended_by_what_its_fact_says(
    look: Callable[[], list[Seen]], plant: Any, scratch_owner: Any, planted: str, fact: str, away: str
) -> None:
    plant(planted, away)
    found = failing(look())
    try:
        assert fact in found
        assert "could not be seen" not in found[fact].seen
    finally:
        for seen in found.values():
            if seen.mend.endswith(";"):
                scratch_owner.execute(seen.mend)
    assert failing(look()) == {}


def test_every_fact_that_a_statement_can_break_is_planted() -> None:
    elsewhere = {"role_exists", "superuser", "prepared_transactions"}
    assert {row[1] for row in PLANTED} == {
        fact.name for fact in facts.FACTS if fact.weight is not Weight.NOTE
    } - elsewhere


def test_a_layer_is_left_to_later_lines_where_the_source_says_so_and_a_wall_never(
    prove: Callable[..., Proven], plant: Any
) -> None:
    plant("grant execute on function pg_sleep(double precision) to public",
          "revoke execute on function pg_sleep(double precision) from public")  # fmt: skip
    assert set(failing(prove().facts)) == {"waiting_functions", "tries"}
    left = prove(accepts=["waiting_functions"])
    assert (left.holds, set(failing(left.facts))) == (True, {"waiting_functions"})
    with pytest.raises(ValueError, match="tables cannot be left"):
        sources.check("scratch", bodies.source(accepts=["tables"]))
    sources.check("scratch", bodies.source(accepts=["waiting_functions", "stored_settings"]))


@pytest.mark.parametrize("planted", [
    "grant execute on function lo_create(oid) to public", "grant usage on language plpgsql to strong_reader",
    "grant update on app_ro.jobs to strong_reader", "grant insert (id) on app.tickets to strong_reader",
    "alter role strong_reader createrole",
])  # fmt: skip
def test_the_reader_itself_finds_what_it_can_do_and_nothing_of_it_stays(
    prove: Callable[..., Proven], scratch_owner: Any, planted: str
) -> None:
    scratch_owner.execute(planted)
    before = scratch.fingerprint(scratch_owner)
    found = failing(prove().facts)
    assert scratch.fingerprint(scratch_owner) == before
    assert "tries" in found
    for seen in found.values():
        if seen.mend.endswith(";"):
            scratch_owner.execute(seen.mend)


def test_the_report_says_which_line_stops_what(prove: Callable[..., Proven], plant: Any) -> None:
    def report() -> dict[str, str]:
        return dict(layers.report(layers.ATTACKS, [vars(fact) for fact in prove().facts]))

    proven = report()
    assert proven["Advisory locks that stop others"] == layers.CREDENTIAL
    assert proven["NOTIFY"] == layers.TRANSACTION
    plant("grant execute on function pg_advisory_lock(bigint) to public",
          "revoke execute on function pg_advisory_lock(bigint) from public")  # fmt: skip
    changed = {name for name, line in report().items() if line != proven[name]}
    assert {"Advisory locks that stop others"} < changed
    assert report()["Advisory locks that stop others"] == layers.PARSER


def test_each_family_tries_one_of_its_own_functions() -> None:
    for family in third_tier.FUNCTIONS:
        assert re.fullmatch(family.pattern, family.tried)


def test_every_fact_of_the_layers_is_a_fact() -> None:
    named = {name for attack in layers.ATTACKS for name in attack.facts}
    assert named <= {fact.name for fact in facts.FACTS} | {"tries"}
    assert {family.name for family in third_tier.FUNCTIONS} - {"session_functions", "server_functions"} <= named
