"""What the role may run or reach through: functions, languages, views, other servers."""

from __future__ import annotations

from evidence.stating import BEHIND, Fact, Weight, holders
from evidence.third_tier import FUNCTIONS, VIEWS, Family, chosen

_EXECUTE = holders("has_function_privilege(%s, p.oid, 'EXECUTE')")
_ROUTINE = f"p.oid::regprocedure::text, 'REVOKE EXECUTE ON ROUTINE', p.oid::regprocedure::text, {_EXECUTE}"
_LANGUAGE = holders("has_language_privilege(%s, oid, 'USAGE')")
_SERVER = holders("has_server_privilege(%s, oid, 'USAGE')")
_WRAPPER = holders("has_foreign_data_wrapper_privilege(%s, oid, 'USAGE')")
_RUNS = "has_function_privilege($1::name, p.oid, 'EXECUTE')"
_SELECT = holders("has_table_privilege(%s, c.oid, 'SELECT')")


def _family(family: Family) -> Fact:
    return Fact(
        family.name,
        family.sentence,
        f"select {_ROUTINE} from pg_proc p where {chosen(family)} and {_RUNS}",
        "REVOKE EXECUTE ON these functions FROM PUBLIC and from the reader.",
        family.weight,
        on_standby=family.on_standby,
    )


def _restricted(catalog: str) -> str:
    """SQL: what the server's own making gave to nobody but superusers, or to roles for a purpose."""
    return (
        f"exists (select from pg_init_privs i where i.classoid = '{catalog}'::regclass and i.objsubid = 0"
        " and i.privtype = 'i' and i.objoid = {oid} and not exists"
        " (select from aclexplode(i.initprivs) where grantee = 0))"
    )


FACTS = (
    Fact(
        "definer_functions",
        "The role runs no function that acts with its owner's rights.",
        # Whatever their schema: a cast, an operator or an aggregate in a visible one calls them all the same.
        f"select {_ROUTINE} from pg_proc p where p.prosecdef and {_RUNS}",
        "REVOKE EXECUTE ON these functions FROM PUBLIC and from the reader.",
    ),
    Fact(
        "routines",
        "The role runs no other routine of the database's own, but those of the exposed schema that change nothing.",
        f"select {_ROUTINE} from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.oid >= 16384"
        f" and not p.prosecdef and {_RUNS} and (n.nspname = $2::name or has_schema_privilege($1::name, n.oid, 'USAGE'))"
        " and (n.nspname <> $2::name or p.provolatile = 'v')",
        "REVOKE EXECUTE ON these routines FROM PUBLIC and from the reader.",
        Weight.LAYER,
    ),
    Fact(
        "restricted_functions",
        "The role runs none of the server's functions that are for its keepers.",
        f"select {_ROUTINE} from pg_proc p where {_restricted('pg_proc').format(oid='p.oid')} and {_RUNS}",
        "REVOKE EXECUTE ON these functions from the reader.",
    ),
    *map(_family, FUNCTIONS),
    Fact(
        "restricted_catalogs",
        "The role reads none of the server's tables that are for its keepers.",
        f"select c.oid::regclass::text, 'REVOKE SELECT ON', c.oid::regclass::text, {_SELECT} from pg_class c"
        f" where {_restricted('pg_class').format(oid='c.oid')} and has_table_privilege($1::name, c.oid, 'SELECT')",
        "REVOKE SELECT ON these tables from the reader.",
    ),
    Fact(
        "catalog_views",
        "The role does not read of other roles, sessions and statistics in the catalog.",
        f"select c.relname, 'REVOKE SELECT ON', c.oid::regclass::text, {_SELECT} from pg_class c"
        f" where c.relnamespace = 'pg_catalog'::regnamespace and c.relname in {VIEWS}"
        " and has_any_column_privilege($1::name, c.oid, 'SELECT')",
        "REVOKE SELECT ON these views FROM PUBLIC and from the reader.",
        Weight.LAYER,
    ),
    Fact(
        "languages",
        "The role writes no code of its own: no language in which DO would run is open to it.",
        "select lanname, 'REVOKE USAGE ON LANGUAGE', quote_ident(lanname),"
        f" {_LANGUAGE} from pg_language"
        " where lanpltrusted and lanname not in ('internal', 'sql') and has_language_privilege($1::name, oid, 'USAGE')",
        "REVOKE USAGE ON LANGUAGE … FROM PUBLIC and from the reader.",
        Weight.LAYER,
    ),
    Fact(
        "foreign_servers",
        "The role uses no foreign server and no wrapper for one.",
        "select 'server ' || srvname, 'REVOKE USAGE ON FOREIGN SERVER', quote_ident(srvname),"
        f" {_SERVER} from pg_foreign_server"
        " where has_server_privilege($1::name, oid, 'USAGE')"
        " union all select 'wrapper ' || fdwname, 'REVOKE USAGE ON FOREIGN DATA WRAPPER', quote_ident(fdwname),"
        f" {_WRAPPER} from pg_foreign_data_wrapper"
        " where has_foreign_data_wrapper_privilege($1::name, oid, 'USAGE')",
        "REVOKE USAGE ON FOREIGN SERVER … FROM PUBLIC and from the reader.",
    ),
    Fact(
        "user_mappings",
        "No foreign server knows the role.",
        "select srvname || ' knows ' || case umuser when 0 then 'PUBLIC' else $1::text end, 'DROP USER MAPPING FOR',"
        " case umuser when 0 then 'PUBLIC' else quote_ident($1) end, 'SERVER ' || quote_ident(srvname)"
        " from pg_user_mappings where umuser in (0, (select oid from pg_roles where rolname = $1))",
        "DROP USER MAPPING for the reader and for PUBLIC.",
    ),
    Fact(
        "foreign_tables",
        "No table that the role reads lies on another server.",
        f"{BEHIND} select distinct f.oid::regclass"
        " || case when f.oid = c.oid then '' else ' through ' || c.oid::regclass end,"
        f" 'REVOKE SELECT ON', c.oid::regclass::text, {_SELECT} from behind join pg_class f using (oid)"
        " join pg_class c on c.oid = behind.door where f.relkind = 'f'",
        "REVOKE SELECT ON these foreign tables, and on what stands before them.",
    ),
    Fact(
        "views",
        "No view that the role reads calls a function that changes something or acts with its owner's rights.",
        f"{BEHIND} select distinct c.oid::regclass || ' calls ' || p.oid::regprocedure, 'REVOKE SELECT ON',"
        f" c.oid::regclass::text, {_SELECT} from behind join pg_class c on c.oid = behind.door"
        " join pg_rewrite w on w.ev_class = behind.oid"
        " join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid"
        " and d.refclassid = 'pg_proc'::regclass join pg_proc p on p.oid = d.refobjid"
        " where (p.prosecdef or p.provolatile = 'v') and p.oid >= 16384",
        "REVOKE SELECT ON these views, or take the function out of them.",
    ),
    Fact(
        "creators",
        "A function that others make later is not open to everyone.",
        "select r.rolname || ' makes functions for everyone', 'ALTER DEFAULT PRIVILEGES FOR ROLE',"
        " quote_ident(r.rolname), 'REVOKE EXECUTE ON ROUTINES FROM PUBLIC' from pg_roles r"
        " where r.rolcanlogin and not r.rolsuper and r.rolname <> $1 and exists (select from pg_namespace n"
        " where n.nspname !~ '^pg_' and has_schema_privilege(r.oid, n.oid, 'CREATE')"
        " and (n.nspname = $2::name or has_schema_privilege($1::name, n.oid, 'USAGE')))"
        " and not exists (select from pg_default_acl d"
        " where d.defaclrole = r.oid and d.defaclobjtype = 'f' and d.defaclnamespace = 0"
        " and not exists (select from aclexplode(d.defaclacl) a where a.grantee = 0))",
        "ALTER DEFAULT PRIVILEGES FOR ROLE … REVOKE EXECUTE ON ROUTINES FROM PUBLIC.",
        Weight.LAYER,
    ),
)
