"""What the role may change: databases, schemas, relations, sequences, large objects, settings of the server."""

from __future__ import annotations

from evidence.stating import NO_MEND, Fact, Weight, holders

_TABLE_PRIVILEGES = "array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']"
_ROLE = "(select oid from pg_roles where rolname = $1)"
_SCHEMA = holders("has_schema_privilege(%s, oid, 'CREATE')")
_TABLESPACE = holders("has_tablespace_privilege(%s, oid, 'CREATE')")
# The word of ALTER DEFAULT PRIVILEGES for the letter of the catalog. USAGE on a type changes nothing.
_KINDS = "(values ('r', 'TABLES'), ('S', 'SEQUENCES'), ('f', 'ROUTINES'), ('n', 'SCHEMAS'), ('L', 'LARGE OBJECTS'))"


def _tables(name: str, sentence: str, privileges: str, kinds: str, *, since: int = 0) -> Fact:
    return Fact(
        name,
        sentence,
        f"select c.oid::regclass || ' ' || p, 'REVOKE ' || p || ' ON', c.oid::regclass::text,"
        f" {holders('has_table_privilege(%s, c.oid, p)')} from pg_class c, unnest({privileges}) p"
        f" where c.relkind in ({kinds}) and has_table_privilege($1::name, c.oid, p)"
        # Everyone may UPDATE pg_settings: it stands for SET.
        " and c.oid <> 'pg_catalog.pg_settings'::regclass",
        "REVOKE ALL ON these relations, then GRANT SELECT.",
        since=since,
    )


# What has rights of its own, by its catalog: how it is told, its rights, and how a statement names it.
_GRANTED = (
    ("pg_class where relkind <> 'S'", "oid::regclass::text", "relacl", "'TABLE'"),
    ("pg_class where relkind = 'S'", "oid::regclass::text", "relacl", "'SEQUENCE'"),
    ("pg_proc", "oid::regprocedure::text", "proacl", "'ROUTINE'"),
    ("pg_namespace", "quote_ident(nspname)", "nspacl", "'SCHEMA'"),
    ("pg_database", "quote_ident(datname)", "datacl", "'DATABASE'"),
    ("pg_language", "quote_ident(lanname)", "lanacl", "'LANGUAGE'"),
    ("pg_type", "oid::regtype::text", "typacl", "'TYPE'"),
    ("pg_foreign_data_wrapper", "quote_ident(fdwname)", "fdwacl", "'FOREIGN DATA WRAPPER'"),
    ("pg_foreign_server", "quote_ident(srvname)", "srvacl", "'FOREIGN SERVER'"),
    ("pg_tablespace", "quote_ident(spcname)", "spcacl", "'TABLESPACE'"),
    ("pg_attribute", "attrelid::regclass::text", "attacl", "'TABLE'"),
)  # fmt: skip
_COLUMN = {"pg_attribute": "' (' || quote_ident(attname) || ')'"}
_PASSED_ON = " union all ".join(
    f"select {named} as named, {acl} as acl, {word} as word, {_COLUMN.get(catalog, repr(''))} as of_column"
    f" from {catalog}"
    for catalog, named, acl, word in _GRANTED
)

FACTS = (
    Fact(
        "grant_options",
        "The role passes on no right that it has: that would change the catalog.",
        "select privilege_type || of_column || ' on ' || named,"
        " 'REVOKE GRANT OPTION FOR ' || privilege_type || of_column || ' ON ' || word,"
        f" named, 'FROM ' || quote_ident($1) || ' CASCADE' from ({_PASSED_ON}) having_rights, aclexplode(acl)"
        f" where is_grantable and grantee = {_ROLE}",
        "REVOKE GRANT OPTION FOR these rights FROM the reader CASCADE.",
    ),
    Fact(
        "database",
        "The role makes no schema and no temporary table in this database.",
        "select p, 'REVOKE ' || p || ' ON DATABASE', quote_ident(current_database()),"
        f" {holders('has_database_privilege(%s, current_database(), p)')}"
        " from unnest(array['CREATE', 'TEMPORARY']) p where has_database_privilege($1::name, current_database(), p)",
        "REVOKE ALL ON DATABASE … FROM PUBLIC and from the reader, then GRANT CONNECT.",
    ),
    Fact(
        "schemas",
        "The role makes nothing in any schema.",
        "select nspname, 'REVOKE CREATE ON SCHEMA', quote_ident(nspname),"
        f" {_SCHEMA} from pg_namespace"
        " where has_schema_privilege($1::name, oid, 'CREATE')",
        "REVOKE CREATE ON SCHEMA … FROM PUBLIC and from the reader.",
    ),
    _tables("tables", "The role changes no table and no view.", _TABLE_PRIVILEGES, "'r', 'v', 'm', 'p', 'f'"),
    _tables("maintenance", "The role maintains no table.", "array['MAINTAIN']", "'r', 'm', 'p'", since=170000),
    Fact(
        "columns",
        "The role changes no single column.",
        "select c.oid::regclass || '.' || a.attname || ' ' || p, 'REVOKE ' || p || ' (' || quote_ident(a.attname)"
        " || ') ON', c.oid::regclass::text,"
        f" {holders('has_column_privilege(%s, c.oid, a.attnum, p)')}"
        " from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped,"
        " unnest(array['INSERT', 'UPDATE', 'REFERENCES']) p where c.relkind in ('r', 'v', 'p', 'f')"
        " and c.oid <> 'pg_catalog.pg_settings'::regclass and a.attacl is not null"
        " and has_column_privilege($1::name, c.oid, a.attnum, p) and not has_table_privilege($1::name, c.oid, p)",
        "REVOKE these privileges on the columns.",
    ),
    Fact(
        "sequences",
        "The role advances no sequence.",
        "select c.oid::regclass || ' ' || p, 'REVOKE ' || p || ' ON SEQUENCE', c.oid::regclass::text,"
        f" {holders('has_sequence_privilege(%s, c.oid, p)')} from pg_class c, unnest(array['USAGE', 'UPDATE']) p"
        # A plain AND does not promise its order, and asking a table's oid here would be an error.
        " where case when c.relkind = 'S' then has_sequence_privilege($1::name, c.oid, p) else false end",
        "REVOKE ALL ON these sequences.",
    ),
    Fact(
        "tablespaces",
        "The role puts nothing into a tablespace.",
        "select spcname, 'REVOKE CREATE ON TABLESPACE', quote_ident(spcname),"
        f" {_TABLESPACE} from pg_tablespace"
        " where has_tablespace_privilege($1::name, oid, 'CREATE')",
        "REVOKE CREATE ON TABLESPACE … from the reader.",
    ),
    Fact(
        "large_objects",
        "No large object is open to the role.",
        f"select 'large object ' || oid, 'REVOKE ALL ON LARGE OBJECT', oid::text, 'FROM PUBLIC, ' || quote_ident($1)"
        f" from pg_largeobject_metadata where exists (select from aclexplode(lomacl) where grantee in (0, {_ROLE}))"
        f" union all select 'lo_compat_privileges is on', {NO_MEND}"
        " where current_setting('lo_compat_privileges') = 'on'"
        # Stored for the role, it is no setting of the doctor's own session.
        " union all select entry || ' is stored for the role', 'ALTER ROLE', quote_ident($1)"
        " || coalesce(' IN DATABASE ' || quote_ident(d.datname), ''), 'RESET lo_compat_privileges'"
        " from pg_db_role_setting s left join pg_database d on d.oid = s.setdatabase, unnest(s.setconfig) entry"
        f" where s.setrole = {_ROLE} and split_part(entry, '=', 1) = 'lo_compat_privileges'"
        " and split_part(entry, '=', 2)::boolean",
        "ALTER SYSTEM SET lo_compat_privileges = off, then reload the server.",
    ),
    Fact(
        "parameters",
        "The role sets nothing that is the server's.",
        "select p || ' ' || parname, 'REVOKE ' || p || ' ON PARAMETER', quote_ident(parname),"
        f" {holders('has_parameter_privilege(%s, parname, p)')}"
        " from pg_parameter_acl, unnest(array['SET', 'ALTER SYSTEM']) p"
        " where has_parameter_privilege($1::name, parname, p)",
        "REVOKE SET, ALTER SYSTEM ON PARAMETER … from the reader.",
        since=150000,
    ),
    Fact(
        "default_privileges",
        "What others make later gives the role nothing but SELECT.",
        "select a.privilege_type || ' on new ' || lower(kind) || ' of ' || d.defaclrole::regrole,"
        " 'ALTER DEFAULT PRIVILEGES FOR ROLE ' || d.defaclrole::regrole"
        " || coalesce(' IN SCHEMA ' || quote_ident(n.nspname), '') || ' REVOKE ' || a.privilege_type || ' ON', kind,"
        " 'FROM PUBLIC, ' || quote_ident($1) from pg_default_acl d"
        f" join {_KINDS} kinds (letter, kind) on letter = d.defaclobjtype::text"
        " left join pg_namespace n on n.oid = d.defaclnamespace, aclexplode(d.defaclacl) a"
        f" where a.grantee in (0, {_ROLE}) and (a.is_grantable or a.privilege_type not in ('SELECT')"
        # Reading the way into a schema is what the reader has anyway, where it has it.
        " and not (d.defaclobjtype = 'n' and a.privilege_type = 'USAGE'))",
        "ALTER DEFAULT PRIVILEGES … REVOKE these from PUBLIC and from the reader.",
        Weight.LAYER,
    ),
)
