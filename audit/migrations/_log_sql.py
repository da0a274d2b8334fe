"""The log's tables in SQL: partitions, the stamp, and the triggers that refuse change."""

TABLES = """
create sequence audit_entry_number;

create table audit_rolekind (role text not null, kind text not null, primary key (role, kind));

create table audit_entry (
  id uuid not null default uuidv7(),
  seq bigint not null,
  at timestamptz not null default clock_timestamp(),
  xid xid8 not null default pg_current_xact_id(),
  epoch int not null default 1,
  db_role text not null default current_user,
  header_version smallint not null,
  kind text not null,
  actor_kind text not null,
  actor text not null,
  principal text not null,
  subject text not null,
  summary text not null,
  run_id text not null,
  call_id uuid,
  parent uuid,
  tool text not null,
  tool_version int,
  tool_hash text not null,
  source text not null,
  certificate text not null,
  incident_id bigint,
  status text not null,
  duration_ms int,
  error_class text not null,
  error text not null,
  args_c bytea not null,
  result_c bytea not null,
  args_bytes int not null,
  args_sha256 text not null,
  result_bytes int not null,
  result_sha256 text not null,
  truncated boolean not null,
  writer text not null,
  writer_run text not null,
  writer_seq bigint not null,
  digest bytea not null,
  primary key (id)
) partition by range (id);
alter sequence audit_entry_number owned by audit_entry.seq;

create table audit_payload (
  entry_id uuid not null primary key,
  salt bytea not null,
  args bytea,
  result bytea,
  codec text not null
) partition by range (entry_id);
alter table audit_payload alter column args set storage external;
alter table audit_payload alter column result set storage external;

create index audit_entry_seq on audit_entry (seq);
create index audit_entry_xid on audit_entry (epoch, xid, id);
create index audit_entry_actor on audit_entry (actor, seq);
-- What one agent did with one tool: the two are hardly ever independent; where they are, neither leads to the other.
create index audit_entry_actor_tool on audit_entry (actor, tool, seq) where tool <> '';
create index audit_entry_kind on audit_entry (kind, seq);
create index audit_entry_tool on audit_entry (tool, seq) where tool <> '';
create index audit_entry_incident on audit_entry (incident_id, seq) where incident_id is not null;
create index audit_entry_subject on audit_entry (subject, seq) where subject <> '';
create index audit_entry_bad on audit_entry (seq) where status <> 'ok';
create index audit_entry_call on audit_entry (call_id) where call_id is not null;
-- Holes in a writer's numbers are looked for on every view of an entry.
create index audit_entry_writer on audit_entry (writer_run, writer_seq);
"""

FUNCTIONS = """
-- The server decides number, time, transaction, epoch and role, and refuses a kind that this role may not write. It
-- runs as the owner, so that no role needs a right on the sequence; a column default or an identity could be overridden
-- by whoever may insert. So current_user is the owner here: who writes is the role that was set, or else who signed in.
-- It runs for each entry. Setting a search path would cost as much as the rest of it: instead every name and every
-- operator says where it is from. Each further statement costs a tenth of it, and so does a second trigger: one
-- statement does all, and asks in its condition what would be refused; a refused entry takes no number.
create function audit_stamp() returns trigger language plpgsql security definer as $$
declare
  -- Not nullif: its operator is looked up on the path of whoever writes, and would run as the owner.
  writer pg_catalog.text := case when pg_catalog.current_setting('role') operator(pg_catalog.=) 'none'
    then session_user else pg_catalog.current_setting('role') end;
begin
  select epoch.number, clock.now, pg_catalog.pg_current_xact_id(), writer,
      pg_catalog.nextval('public.audit_entry_number')
    into new.epoch, new.at, new.xid, new.db_role, new.seq
    from public.audit_rolekind allowed, public.audit_epoch epoch,
      (select pg_catalog.clock_timestamp() as now offset 0) clock
    where allowed.role operator(pg_catalog.=) writer and allowed.kind operator(pg_catalog.=) new.kind
      -- A key of another version carries no time, or carries it where the order of the keys does not show it.
      and pg_catalog.uuid_extract_version(new.id) operator(pg_catalog.=) 7
      and pg_catalog.uuid_extract_timestamp(new.id) operator(pg_catalog.>)
        (clock.now operator(pg_catalog.-) interval '60 s')
      and pg_catalog.uuid_extract_timestamp(new.id) operator(pg_catalog.<)
        (clock.now operator(pg_catalog.+) interval '60 s')
    order by epoch.number desc limit 1;
  if new.epoch is null then
    perform public.audit_refuse_entry(writer, new.kind);
  end if;
  -- What may change a number that pages show is announced, without a word of what it was. Calls are not: they change
  -- none, and transactions that notify commit one after the other.
  if pg_catalog.split_part(new.kind, '.', 1)
      operator(pg_catalog.=) any ('{verdict,draft,write,definition}'::pg_catalog.text[]) then
    perform pg_catalog.pg_notify('audit_counts', '');
  end if;
  return new;
end $$;

-- Says why, for an entry that the stamp found no leave for.
create function audit_refuse_entry(writer text, wanted text) returns void language plpgsql
  set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from public.audit_rolekind allowed where allowed.role = writer and allowed.kind = wanted) then
    raise exception 'The role % may not write entries of kind %.', writer, wanted using errcode = '42501';
  end if;
  raise exception 'The id of an entry must carry the present time.' using errcode = '22023';
end $$;
revoke execute on function audit_refuse_entry(text, text) from public;

create function audit_refuse() returns trigger language plpgsql as $$
begin
  raise exception 'The audit log is append-only: % of % is refused.', tg_op, tg_table_name using errcode = '42501';
end $$;

-- The smallest uuidv7 of a moment: the bound between two partitions.
create function audit_bound(moment timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Statement triggers are not cloned to partitions, so each gets its own guard against TRUNCATE.
create function audit_guard_partition(part regclass) returns void language plpgsql as $$
begin
  execute format('create trigger refuse_truncate before truncate on %s execute function audit_refuse()', part);
  execute format('alter table %s enable always trigger refuse_truncate', part);
end $$;

create function audit_ensure_partition(parent regclass, month date) returns void language plpgsql as $$
declare
  part text := parent::text || to_char(month, '_YYYYMM');
begin
  if to_regclass('public.' || part) is not null then return; end if;
  execute format('create table public.%I partition of %s for values from (%L) to (%L)', part, parent,
    public.audit_bound(month::timestamp at time zone 'UTC'),
    public.audit_bound((month + interval '1 month')::timestamp at time zone 'UTC'));
  perform public.audit_guard_partition(('public.' || part)::regclass);
end $$;

-- This month and the next ones: without a partition a call could not be recorded, so there is a default one too.
create function audit_ensure_partitions(months int) returns void language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
declare
  this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  month date;
  parent text;
begin
  for month in
    select generate_series(this_month, this_month + make_interval(months => months), '1 month')::date
  loop
    foreach parent in array array['audit_entry', 'audit_payload', 'audit_search'] loop
      perform public.audit_ensure_partition(('public.' || parent)::regclass, month);
    end loop;
  end loop;
end $$;
revoke execute on function audit_ensure_partitions(int), audit_ensure_partition(regclass, date),
  audit_guard_partition(regclass) from public;
"""

TRIGGERS = """
create table audit_entry_default partition of audit_entry default;
create table audit_payload_default partition of audit_payload default;

create trigger stamp before insert on audit_entry for each row execute function audit_stamp();
create trigger refuse_change before update or delete on audit_entry for each row execute function audit_refuse();
create trigger refuse_change before update or delete on audit_payload
  for each row execute function audit_refuse_payload();
create trigger refuse_truncate before truncate on audit_entry execute function audit_refuse();
create trigger refuse_truncate before truncate on audit_payload execute function audit_refuse();

-- ALWAYS: an ordinary trigger is skipped by a session with session_replication_role = replica.
alter table audit_entry enable always trigger stamp;
alter table audit_entry enable always trigger refuse_change;
alter table audit_entry enable always trigger refuse_truncate;
alter table audit_payload enable always trigger refuse_change;
alter table audit_payload enable always trigger refuse_truncate;
select audit_guard_partition('audit_entry_default'), audit_guard_partition('audit_payload_default');
select audit_ensure_partitions(3);
"""
