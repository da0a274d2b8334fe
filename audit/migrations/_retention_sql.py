"""Dropping months and redacting payloads, in SQL: functions with the owner's rights that check everything themselves.

Both want the entry that says what was done in the transaction that does it: they compare the entry's commitment with
the text that they are given, and that text with what they are about to do. There is no way to do either in silence.
"""

TABLES = """
create table audit_retained (
  month date not null primary key,
  first_leaf bigint not null,
  last_leaf bigint not null,
  entries bigint not null,
  first_number bigint not null,
  last_number bigint not null,
  recorded_as bigint not null,   -- the number of the entry that says so
  recorded_id uuid not null,
  at timestamptz not null default clock_timestamp()
);
"""

TRIGGERS = """
create trigger refuse_change before update or delete on audit_retained for each row execute function audit_refuse();
create trigger refuse_truncate before truncate on audit_retained execute function audit_refuse();
alter table audit_retained enable always trigger refuse_change;
alter table audit_retained enable always trigger refuse_truncate;

-- A request begins as waiting and is decided once; nobody writes one down as confirmed from the start.
create function audit_redaction_step() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' and new.status = 'waiting' and new.decided_by_id is null and new.recorded_as is null
      or tg_op = 'UPDATE' and old.status = 'waiting' and new.recorded_as is null
      or tg_op = 'UPDATE' and old.status = 'confirmed' and old.recorded_as is null and new.recorded_as is not null
        and new.status = old.status and new.decided_by_id = old.decided_by_id then
    return new;
  end if;
  raise exception 'A redaction is asked for, decided once, and never changed: % is refused.', tg_op
    using errcode = '42501';
end $$;
create trigger step before insert or update or delete on audit_redaction
  for each row execute function audit_redaction_step();
alter table audit_redaction enable always trigger step;
"""

# The trigger on payloads, in place of the one that refuses everything: the one change that it lets pass is a part set
# to null and its salt to zeros, for a request that one person made and another confirmed, once.
PAYLOAD_TRIGGER = """
create function audit_redacted_salt(salt bytea, part text) returns bytea language sql immutable as $$
  select case when part in ('args', 'both') then decode(repeat('00', 16), 'hex') else substring(salt for 16) end
    || case when part in ('result', 'both') then decode(repeat('00', 16), 'hex') else substring(salt from 17) end
$$;

create function audit_refuse_payload() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op = 'UPDATE' and exists (
    select from public.audit_redaction asked
    where asked.entry_id = old.entry_id and asked.status = 'confirmed' and asked.recorded_as is null
      and asked.decided_by_id <> asked.asked_by_id
      and new.entry_id = old.entry_id and new.codec = old.codec
      and new.salt = public.audit_redacted_salt(old.salt, asked.part)
      and new.args is not distinct from case when asked.part in ('args', 'both') then null else old.args end
      and new.result is not distinct from case when asked.part in ('result', 'both') then null else old.result end
  ) then return new; end if;
  raise exception 'The audit log is append-only: % of % is refused.', tg_op, tg_table_name using errcode = '42501';
end $$;
"""

FUNCTIONS = """
-- The entry of this transaction that is of a kind and commits to a text as its arguments; null when there is none.
create function audit_said(wanted text, said text) returns public.audit_entry language sql volatile
  set search_path = pg_catalog, public, pg_temp as $$
  select e from public.audit_entry e join public.audit_payload p on p.entry_id = e.id
  where e.epoch = (select max(number) from public.audit_epoch) and e.xid = pg_current_xact_id() and e.kind = wanted
    and e.id >= public.audit_bound(clock_timestamp() - interval '1 day')
    and e.args_c = sha256(convert_to('audit-payload/v1', 'UTF8') || decode('00', 'hex')
                          || substring(p.salt for 16) || convert_to(said, 'UTF8'))
  limit 1
$$;

-- Which months have partitions that could go, and why one may not: empty when it may. The oldest first.
create function audit_retention(keep_months int) returns table (
    month date, entries bigint, first_leaf bigint, last_leaf bigint, first_number bigint, last_number bigint, why text)
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  sealed bigint := coalesce((select max(size) from public.audit_checkpoint), 0);
  until timestamptz;
  unsealed bigint;
  held text;
  starts uuid;
  ends uuid;
begin
  -- A month younger than one whole month is never dropped, whatever is asked for.
  keep_months := greatest(keep_months, 1);
  for month in
    select to_date(right(inhrelid::regclass::text, 6), 'YYYYMM') from pg_inherits
    where inhparent = 'public.audit_entry'::regclass and inhrelid::regclass::text ~ '^audit_entry_[0-9]{6}$' order by 1
  loop
    until := (month + interval '1 month')::timestamp at time zone 'UTC';
    continue when until > now();
    starts := public.audit_bound(month::timestamp at time zone 'UTC');
    ends := public.audit_bound(until);
    execute format('select count(*), min(l.idx), max(l.idx), min(e.seq), max(e.seq),
        count(*) filter (where l.idx is null or l.idx >= $1)
      from public.%I e left join public.audit_leaf l on l.entry_id = e.id', to_char(month, '"audit_entry_"YYYYMM'))
      into entries, first_leaf, last_leaf, first_number, last_number, unsealed using sealed;
    select string_agg(coalesce('I-' || h.incident_id, 'the month'), ', ' order by h.id) into held
      from public.audit_hold h where h.lifted_at is null and (h.month = audit_retention.month or exists (
        select from public.audit_entry e where e.incident_id = h.incident_id and e.id >= starts and e.id < ends));
    why := case
      when entries = 0 then 'It holds no entry.'
      when until + make_interval(months => keep_months) > now()
        then format('It is younger than %s months.', keep_months)
      when unsealed > 0 then format('%s of its entries are not sealed.', unsealed)
      when held is not null then format('A hold lies on it: %s.', held)
      when exists (select from public.audit_redaction r join public.audit_entry e on e.id = r.entry_id
          where r.recorded_as >= starts and r.recorded_as < ends and (e.id < starts or e.id >= ends))
        then 'It records a redaction of an entry that is still there.'
      when (select e.id >= starts and e.id < ends from public.audit_entry e where e.kind = 'log.schema'
          order by e.seq desc limit 1)
        then 'It holds the newest record of what guards the log; run manage.py upgrade, which writes it anew.'
      else '' end;
    return next;
  end loop;
end $$;

create function audit_drop_month(parent text, month date) returns void language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
declare
  part text := parent || to_char(month, '_YYYYMM');
begin
  if to_regclass('public.' || part) is null then return; end if;
  execute format('alter table public.%I detach partition public.%I', parent, part);
  execute format('drop table public.%I', part);
end $$;

-- Drop a month whose retention is over. Leaves, nodes and checkpoints stay, and every old proof with them.
create function audit_retain(month date, keep_months int, said text) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '5s' as $$
declare
  one record;
  record_of public.audit_entry;
  parent text;
begin
  -- A hold that is being put waits for us, or we for it.
  lock table public.audit_hold in share mode;
  select * into one from public.audit_retention(keep_months) r where r.month = audit_retain.month;
  if not found then
    raise exception 'There is no partition of % whose month is over.', to_char(month, 'YYYY-MM')
      using errcode = '42501';
  end if;
  if one.why <> '' then
    raise exception '% stays. %', to_char(month, 'YYYY-MM'), one.why using errcode = '42501';
  end if;
  record_of := public.audit_said('log.retained', said);
  if record_of.id is null or not said::jsonb @> jsonb_build_object(
      'partition', to_char(month, '"audit_entry_"YYYYMM'), 'first_leaf', one.first_leaf, 'last_leaf', one.last_leaf,
      'entries', one.entries) or said::jsonb -> 'restates' is distinct from public.audit_restated() then
    raise exception 'No entry of this transaction says what would be dropped.' using errcode = '42501';
  end if;
  foreach parent in array array['audit_search', 'audit_payload', 'audit_entry'] loop
    perform public.audit_drop_month(parent, month);
  end loop;
  -- Rows of the search that were made when the month had no partition for them.
  delete from public.audit_search where entry_id >= public.audit_bound(month::timestamp at time zone 'UTC')
    and entry_id < public.audit_bound((month + interval '1 month')::timestamp at time zone 'UTC');
  insert into public.audit_retained values (month, one.first_leaf, one.last_leaf, one.entries, one.first_number,
    one.last_number, record_of.seq, record_of.id, clock_timestamp());
end $$;

-- What earlier retentions dropped: each new one says it again, because the entry that did may go itself.
create function audit_restated() returns jsonb language sql stable security definer
  set search_path = pg_catalog, public, pg_temp as $$
  select coalesce(jsonb_agg(jsonb_build_object('partition', to_char(month, '"audit_entry_"YYYYMM'),
    'first_leaf', first_leaf, 'last_leaf', last_leaf, 'entries', entries,
    'first_number', first_number, 'last_number', last_number) order by month), '[]')
  from public.audit_retained
$$;

-- Take a part of a payload away, for a request that a second person has confirmed.
create function audit_redact(request bigint, said text) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '5s' as $$
declare
  asked public.audit_redaction;
  about public.audit_entry;
  record_of public.audit_entry;
begin
  -- Whoever fills the search holds this lock shared: no row is made from what we are about to take away.
  perform pg_advisory_xact_lock(hashtextextended('redaction', 0));
  lock table public.audit_hold in share mode;
  select * into asked from public.audit_redaction where id = request for update;
  if asked.id is null or asked.status <> 'confirmed' or asked.decided_by_id is null
      or asked.decided_by_id = asked.asked_by_id or asked.recorded_as is not null then
    raise exception 'No second person has confirmed this redaction, or it is done.' using errcode = '42501';
  end if;
  select * into about from public.audit_entry where id = asked.entry_id and seq = asked.entry_seq;
  if about.id is null or about.kind like 'log.%' then
    raise exception 'A-% is not there, or is about the log itself.', asked.entry_seq using errcode = '42501';
  end if;
  -- What these say of agents, tokens, definitions and citations, their rows are held against (audit/vouching.py).
  if asked.part <> 'result' and about.kind = any ('{agent.changed,token.issued,token.revoked,definition.drafted,'
      'definition.shadowed,definition.activated,definition.retired,verdict.rendered}'::text[]) then
    raise exception 'The arguments of A-% vouch for rows, so they are not redacted.', asked.entry_seq
      using errcode = '42501';
  end if;
  if exists (select from public.audit_hold h where h.lifted_at is null and (h.incident_id = about.incident_id
      or h.month = date_trunc('month', uuid_extract_timestamp(about.id) at time zone 'UTC')::date)) then
    raise exception 'A hold lies on A-%, so it is not redacted.', asked.entry_seq using errcode = '42501';
  end if;
  record_of := public.audit_said('log.redacted', said);
  if record_of.id is null or not said::jsonb @> jsonb_build_object(
      'entry', asked.entry_seq, 'entry_id', asked.entry_id, 'part', asked.part) then
    raise exception 'No entry of this transaction says what would be redacted.' using errcode = '42501';
  end if;
  update public.audit_payload set salt = public.audit_redacted_salt(salt, asked.part),
    args = case when asked.part in ('args', 'both') then null else args end,
    result = case when asked.part in ('result', 'both') then null else result end
    where entry_id = asked.entry_id;
  if not found then
    raise exception 'A-% has no arguments and no result any more.', asked.entry_seq using errcode = '42501';
  end if;
  delete from public.audit_search where entry_id = asked.entry_id;
  update public.audit_redaction set recorded_as = record_of.id where id = request;
end $$;

-- Rows that no month's partition was there for; counted no further than is of interest.
create function audit_default_rows() returns bigint language sql stable security definer
  set search_path = pg_catalog, public, pg_temp as $$
  select count(*) from (select from public.audit_entry_default union all select from public.audit_payload_default
    limit 10000) stray
$$;
revoke execute on function audit_said(text, text), audit_retention(int), audit_drop_month(text, date),
  audit_retain(date, int, text), audit_restated(), audit_redact(bigint, text), audit_default_rows() from public;
"""
