"""The sealed tree's tables in SQL: leaves, stored nodes, signed checkpoints, and how the sealer does."""

TABLES = """
-- Transaction numbers mean something within one cluster alone. An epoch says which; a restore begins a new one.
create table audit_epoch (
  number int not null primary key,
  system_identifier bigint not null,
  opened_at timestamptz not null default clock_timestamp()
);
insert into audit_epoch (number, system_identifier) select 1, system_identifier from pg_control_system();

create table audit_leaf (
  idx bigint not null primary key check (idx >= 0),
  entry_id uuid not null unique,
  h bytea not null check (length(h) = 32)
);

-- Complete subtrees of 256, 65,536, … leaves. Everything between is worked out from them.
create table audit_node (
  lvl smallint not null check (lvl > 0 and lvl % 8 = 0),
  idx bigint not null check (idx >= 0),
  h bytea not null check (length(h) = 32),
  primary key (lvl, idx)
);

create table audit_checkpoint (
  size bigint not null primary key check (size > 0),
  at timestamptz not null default clock_timestamp(),
  root bytea not null check (length(root) = 32),
  note text not null,
  -- How far the sealer has looked: a hint for itself, signed by nobody.
  epoch int not null,
  last_xid xid8 not null,
  last_id uuid not null
);

create table audit_sealstate (
  id smallint not null primary key default 1 check (id = 1),
  state text not null,
  sentence text not null,
  at timestamptz not null
);
"""

TRIGGERS = "".join(
    f"""
create trigger refuse_change before update or delete on {table} for each row execute function audit_refuse();
create trigger refuse_truncate before truncate on {table} for each statement execute function audit_refuse();
alter table {table} enable always trigger refuse_change;
alter table {table} enable always trigger refuse_truncate;
"""
    for table in ("audit_epoch", "audit_leaf", "audit_node", "audit_checkpoint")
)

# Who may keep committed entries from being sealed: sessions of the whole cluster that write, and prepared transactions.
# A role sees its own sessions alone, so this runs as the owner, which can be made a member of pg_read_all_stats.
FUNCTIONS = """
create function audit_horizon() returns table (
    pid int, role text, database text, application text, since timestamptz, state text, query text)
  language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select pid, usename::text, datname::text, application_name, xact_start, state, left(query, 200)
    from pg_stat_activity
    where backend_xid is not null and pid <> pg_backend_pid()
  union all
  select null, owner::text, database::text, 'prepared transaction ' || gid, prepared, 'prepared', ''
    from pg_prepared_xacts
  order by 5
  limit 5
$$;
revoke execute on function audit_horizon() from public;
"""
