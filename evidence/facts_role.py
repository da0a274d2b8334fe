"""What the role is: its attributes, what it can become, what is its own, and what is stored for it."""

from __future__ import annotations

from evidence.stating import NEWEST, NO_MEND, REACHED, Fact, Weight

_ATTRIBUTES = (
    ("rolcreaterole", "NOCREATEROLE"),
    ("rolcreatedb", "NOCREATEDB"),
    ("rolreplication", "NOREPLICATION"),
    ("rolbypassrls", "NOBYPASSRLS"),
    ("rolinherit", "NOINHERIT"),
)
_ATTRIBUTE_ROWS = ", ".join(f"('{column[3:]}', {column}, '{word}')" for column, word in _ATTRIBUTES)

# Setting, what a good value matches, and the value that is proposed. A stored setting is only a default: the guarded
# read sets its own limits on every call, and these stand for whatever else logs in as the reader.
_SETTINGS = (
    ("default_transaction_read_only", "^(on|true|yes|1)$", "on"),
    ("statement_timeout", "^[1-9]", "5s"),
    ("lock_timeout", "^[1-9]", "500ms"),
    ("idle_in_transaction_session_timeout", "^[1-9]", "10s"),
    ("temp_file_limit", "^[1-9]", "64MB"),
)
_NEWER_SETTINGS = (*_SETTINGS, ("transaction_timeout", "^[1-9]", "15s"))


def proposed(is_17: bool) -> tuple[tuple[str, str], ...]:
    """The settings that are stored for a reader, on a server of version 17 or newer or before."""
    return tuple((name, value) for name, _, value in (_NEWER_SETTINGS if is_17 else _SETTINGS))


def _settings(wanted: tuple[tuple[str, str, str], ...], *, since: int, until: int) -> Fact:
    rows = ", ".join(f"('{name}', '{good}', '{value}')" for name, good, value in wanted)
    return Fact(
        "stored_settings",
        "Limits of time and size, and read-only as the default, are stored for the role.",
        "with stored as (select distinct on (name) name, value, setdatabase from (select"
        " split_part(entry, '=', 1) as name, substr(entry, strpos(entry, '=') + 1) as value, setdatabase"
        " from pg_db_role_setting, unnest(setconfig) entry"
        " where setrole = (select oid from pg_roles where rolname = $1) and setdatabase in"
        " (0, (select oid from pg_database where datname = current_database()))) entries"
        # What is stored for the role in this database goes before what is stored for it everywhere.
        " order by name, setdatabase desc)"
        f" select w.name || coalesce(' is ' || s.value, ' is not stored'), 'ALTER ROLE', quote_ident($1)"
        " || case when s.setdatabase <> 0 then ' IN DATABASE ' || quote_ident(current_database()) else '' end,"
        f" 'SET ' || w.name || ' = ' || quote_literal(w.proposed) from (values {rows}) w (name, good, proposed)"
        " left join stored s using (name) where s.value is null or s.value !~ w.good",
        "ALTER ROLE … SET these settings.",
        Weight.LAYER,
        since,
        until,
    )


def _memberships(options: str, *, since: int, until: int) -> Fact:
    """With what each membership allows, where the server tells it; whatever it is, the membership fails."""
    return Fact(
        "memberships",
        "The role is a member of no other role.",
        f"{REACHED} select r.rolname || coalesce(' (' || nullif(concat_ws(', ', {options}), '') || ')', ''),"
        " case when m.member is not null then 'REVOKE' end, quote_ident(r.rolname), 'FROM ' || quote_ident($1)"
        " from reached join pg_roles r using (oid) left join pg_auth_members m"
        " on m.roleid = r.oid and m.member = (select oid from pg_roles where rolname = $1) where r.rolname <> $1",
        "REVOKE these roles from the reader.",
        since=since,
        until=until,
    )


_ADMIN = "case when m.admin_option then 'admin' end"

FACTS = (
    Fact(
        "role_exists",
        "The role is known to the server.",
        f"select $1::text, {NO_MEND} where not exists (select from pg_roles where rolname = $1)",
        "Give the doctor a credential of the same server, with SELECT on pg_roles.",
    ),
    Fact(
        "superuser",
        "The role is no superuser, whom no privilege holds back.",
        "select 'it is a superuser', 'ALTER ROLE', quote_ident(rolname), 'NOSUPERUSER' from pg_roles"
        " where rolname = $1 and rolsuper",
        "Let the source name a role that was made for reading: manage.py reader_role prints one.",
    ),
    Fact(
        "attributes",
        "The role makes no roles or databases, does not replicate, inherits nothing and obeys row security.",
        f"select word, 'ALTER ROLE', quote_ident(rolname), mend from pg_roles, lateral (values {_ATTRIBUTE_ROWS})"
        " held (word, yes, mend) where rolname = $1 and yes",
        "ALTER ROLE … NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS NOINHERIT.",
    ),
    _memberships(_ADMIN, since=0, until=160000),
    _memberships(
        f"case when m.inherit_option then 'inherit' end, case when m.set_option then 'set' end, {_ADMIN}",
        since=160000,
        until=NEWEST,
    ),
    Fact(
        "ownership",
        "The role owns nothing, in any database.",
        f"{REACHED} select case when s.dbid in (0, here.oid) then pg_describe_object(s.classid, s.objid, s.objsubid)"
        " else 'in the database ' || d.datname || ': ' || s.classid::regclass || ' ' || s.objid end,"
        " case when r.rolname = $1 then 'REASSIGN OWNED BY' end, quote_ident($1),"
        " 'TO ' || case when r.oid = here.datdba then 10::oid::regrole else here.datdba::regrole end"
        " from pg_shdepend s join reached on reached.oid = s.refobjid join pg_roles r on r.oid = reached.oid"
        " join pg_database here on here.datname = current_database() left join pg_database d on d.oid = s.dbid"
        " where s.refclassid = 'pg_authid'::regclass and s.deptype = 'o' and s.classid <> 'pg_database'::regclass"
        " union all select 'the database ' || datname, 'ALTER DATABASE', quote_ident(datname),"
        # The new owner takes what the old one was granted, and with it the reader's way in.
        " 'OWNER TO ' || 10::oid::regrole || '; GRANT CONNECT ON DATABASE ' || quote_ident(datname) || ' TO '"
        " || quote_ident($1)"
        " from pg_database join reached on reached.oid = datdba",
        "REASSIGN OWNED to another role.",
    ),
    _settings(_SETTINGS, since=0, until=170000),
    _settings(_NEWER_SETTINGS, since=170000, until=NEWEST),
    Fact(
        "connection_limit",
        "The number of the role's sessions is limited.",
        "select 'no limit', 'ALTER ROLE', quote_ident(rolname), 'CONNECTION LIMIT 20' from pg_roles"
        " where rolname = $1 and rolconnlimit < 0",
        "ALTER ROLE … CONNECTION LIMIT 20.",
        Weight.LAYER,
    ),
)
