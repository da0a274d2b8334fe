"""Tamperings with what guards the log: no row is changed, and from then on somebody may change one unseen."""

from __future__ import annotations

from audit.drill import forging
from audit.drill.tampering import Tampering, codes, run

GUARDS: tuple[Tampering, ...] = (
    Tampering(
        "one row for each leaf no more wanted",
        run("alter table audit_leaf drop constraint audit_leaf_entry_id_key"),
        codes("M1"),
        loosens=True,
    ),
    Tampering("leaves that a crash empties", run("alter table audit_leaf set unlogged"), codes("M1"), loosens=True),
    Tampering(
        "a function that lets nothing be read",
        run(
            "create or replace function audit_newest_number() returns bigint language plpgsql as "
            "$$ begin raise exception 'not today'; end $$"
        ),
        codes("M1"),
        loosens=True,
    ),
    Tampering("a month under a name that is none", forging.rename_month, codes("I2"), loosens=True),
    Tampering(
        "a trigger that refuses disabled",
        run("alter table audit_entry disable trigger refuse_change"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "a trigger made to fire for replicas alone",
        run("alter table audit_entry enable replica trigger refuse_change"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "a role that may say when an entry was written",
        run("grant insert (at) on audit_append to counterseal_worker"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "a role that may write one kind more",
        run('grant insert ("write.approved") on audit_kind to counterseal_worker'),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "the check of who writes which kind taken away",
        run("create or replace view audit_append as select * from audit_entry"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "entries stamped with an epoch that has passed",
        run("alter table audit_entry alter column epoch set default 0"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "entries numbered by whoever inserts them",
        run("alter table audit_entry alter column seq drop identity"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "a trigger that refuses dropped",
        run("drop trigger refuse_truncate on audit_leaf"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "the function that refuses emptied",
        run(
            "create or replace function audit_refuse() returns trigger language plpgsql as $$ begin return old; end $$",
        ),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "the verifier led to other tables",
        run(
            "create schema shadow",
            "do $$ begin execute format('alter role counterseal_auditor in database %I set search_path = shadow, "
            "public', current_database()); end $$",
        ),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "every session led to other tables",
        run(
            "do $$ begin execute format('alter database %I set search_path = shadow, public', current_database()); "
            "end $$"
        ),
        codes("M1"),
        loosens=True,
    ),
    Tampering("a partition without its guard", forging.drop_guard_of_month, codes("M1"), loosens=True),
    Tampering(
        "everyone may delete leaves",
        run("grant delete on audit_leaf to public"),
        codes("M1"),
        loosens=True,
    ),
    Tampering("a month that takes no refusals", forging.check_on_month, codes("M1"), loosens=True),
    Tampering(
        "a second version in force let in", run("drop index audit_one_active_version"), codes("M1"), loosens=True
    ),
    Tampering(
        "rows of a table that nothing guards among overrides",
        run("create schema shadow", "create table shadow.more () inherits (audit_override)"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "a process led to a schema of its name",
        run("create schema counterseal_writer", "create table counterseal_writer.audit_override (id int)"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "what is made later changed by everyone",
        run("alter default privileges for role counterseal_owner in schema public grant delete on tables to public"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "a role that may turn triggers off",
        run("grant set on parameter session_replication_role to counterseal_agents"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "keys compared with text by a cast",
        run("create cast (text as uuid) with inout as implicit"),
        codes("M1"),
        loosens=True,
    ),
    Tampering(
        "an index that sorts by an order of somebody's own",
        run(
            "create operator class odd for type text using btree as operator 3 =, function 1 bttextcmp(text, text)",
            "create index odd on audit_entry (kind odd)",
        ),
        codes("M1"),
        loosens=True,
    ),
)
