"""What must be true of a credential that only reads, and how each fact is seen in PostgreSQL's catalogs.

Every query names what is wrong: no row means that the fact holds. The role is $1; `has_*_privilege` already counts
what PUBLIC has and what memberships give.
"""

from __future__ import annotations

from dataclasses import dataclass

# Every role that the reader can become; that it does not inherit says nothing, for SET ROLE needs no inheritance.
_REACHED = """
with recursive reached(oid) as (
  select oid from pg_roles where rolname = $1
  union select m.roleid from pg_auth_members m join reached on m.member = reached.oid
)
"""
_TABLE_PRIVILEGES = "array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']"


@dataclass(frozen=True)
class Fact:
    """One thing that must be true: its name, its sentence, what finds the contrary, and what to do then."""

    name: str
    sentence: str
    contrary: str
    mend: str


FACTS = (
    Fact(
        "role_exists",
        "The role is known to the server.",
        "select $1::text where not exists (select from pg_roles where rolname = $1)",
        "Give the doctor a credential of the same server, with SELECT on pg_roles.",
    ),
    Fact(
        "attributes",
        "The role is no superuser, makes no roles or databases, does not replicate and obeys row security.",
        "select unnest(array_remove(array[case when rolsuper then 'superuser' end,"
        " case when rolcreaterole then 'createrole' end, case when rolcreatedb then 'createdb' end,"
        " case when rolreplication then 'replication' end, case when rolbypassrls then 'bypassrls' end], null))"
        " from pg_roles where rolname = $1",
        "ALTER ROLE … NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS.",
    ),
    Fact(
        "memberships",
        "The role is a member of no other role.",
        f"{_REACHED} select r.rolname from reached join pg_roles r using (oid) where r.rolname <> $1",
        "REVOKE these roles from the reader.",
    ),
    Fact(
        "ownership",
        "The role owns nothing, in any database.",
        f"{_REACHED} select coalesce(d.datname, 'the cluster') || ': ' || s.classid::regclass || ' ' || s.objid"
        " from pg_shdepend s join reached on reached.oid = s.refobjid left join pg_database d on d.oid = s.dbid"
        " where s.refclassid = 'pg_authid'::regclass and s.deptype = 'o'"
        " union all select 'database ' || datname from pg_database join reached on reached.oid = datdba",
        "REASSIGN OWNED to another role.",
    ),
    Fact(
        "database",
        "The role makes no schema and no temporary table in this database.",
        "select p from unnest(array['CREATE', 'TEMPORARY']) p"
        " where has_database_privilege($1::name, current_database(), p)",
        "REVOKE ALL ON DATABASE … FROM PUBLIC and from the reader, then GRANT CONNECT.",
    ),
    Fact(
        "schemas",
        "The role makes nothing in any schema.",
        "select nspname from pg_namespace where has_schema_privilege($1::name, oid, 'CREATE')",
        "REVOKE CREATE ON SCHEMA … FROM PUBLIC and from the reader.",
    ),
    Fact(
        "tables",
        "The role changes no table and no view.",
        f"select c.oid::regclass || ' ' || p from pg_class c, unnest({_TABLE_PRIVILEGES}) p"
        " where c.relkind in ('r', 'v', 'm', 'p', 'f') and has_table_privilege($1::name, c.oid, p)"
        # Everyone may UPDATE pg_settings: it stands for SET.
        " and c.oid <> 'pg_catalog.pg_settings'::regclass",
        "REVOKE ALL ON these relations, then GRANT SELECT.",
    ),
    Fact(
        "columns",
        "The role changes no single column.",
        "select c.oid::regclass || ' ' || p from pg_class c, unnest(array['INSERT', 'UPDATE', 'REFERENCES']) p"
        " where c.relkind in ('r', 'v', 'p', 'f') and has_any_column_privilege($1::name, c.oid, p)"
        " and not has_table_privilege($1::name, c.oid, p) and c.oid <> 'pg_catalog.pg_settings'::regclass",
        "REVOKE these privileges on the columns.",
    ),
    Fact(
        "sequences",
        "The role advances no sequence.",
        "select c.oid::regclass || ' ' || p from pg_class c, unnest(array['USAGE', 'UPDATE']) p"
        # A plain AND does not promise its order, and asking a table's oid here would be an error.
        " where case when c.relkind = 'S' then has_sequence_privilege($1::name, c.oid, p) else false end",
        "REVOKE ALL ON these sequences.",
    ),
    Fact(
        "definer_functions",
        "The role runs no function that acts with its owner's rights.",
        "select p.oid::regprocedure::text from pg_proc p where p.prosecdef and p.oid >= 16384"
        " and has_function_privilege($1::name, p.oid, 'EXECUTE')"
        " and has_schema_privilege($1::name, p.pronamespace, 'USAGE')",
        "REVOKE EXECUTE ON these functions FROM PUBLIC and from the reader.",
    ),
)

# PostgreSQL 17 and newer.
MAINTENANCE = Fact(
    "maintenance",
    "The role maintains no table.",
    "select c.oid::regclass || ' MAINTAIN' from pg_class c"
    " where c.relkind in ('r', 'm', 'p') and has_table_privilege($1::name, c.oid, 'MAINTAIN')",
    "REVOKE MAINTAIN ON these tables.",
)
