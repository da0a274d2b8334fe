-- Counterseal's own record as a source, second half: two views over the log, once it is there. The log is only ever
-- added to, so when something happened is also when it became known. Who it was, what was asked and what came back
-- are not in them. A worked example of 1 January 2000, when there was no log, stands beside it: its numbers are known,
-- so the metrics' golden values are held against it.
create schema if not exists own_read;
create or replace view own_read.vis_step with (security_barrier) as
    select seq as id, incident_id as incident, at, at as recorded_at,
        case kind
            when 'incident.opened' then 'opened'
            when 'investigation.started' then 'begun'
            when 'findings.submitted' then 'handed_in'
            when 'verdict.rendered' then 'drafted'
            else 'settled'
        end as step
    from public.audit_entry
    where incident_id is not null and kind in (
        'incident.opened', 'investigation.started', 'findings.submitted', 'verdict.rendered', 'draft.agreed',
        'draft.overruled', 'incident.closed')
    union all
    select id, incident, at, at, step
    from (values
        (-1::bigint, -1::bigint, timestamptz '2000-01-01 00:00:00Z', 'opened'),
        (-2, -1, '2000-01-01 00:01:00Z', 'begun'),
        (-3, -1, '2000-01-01 00:05:00Z', 'handed_in'),
        (-4, -1, '2000-01-01 00:05:02Z', 'drafted'),
        (-5, -2, '2000-01-01 00:10:00Z', 'opened'),
        (-6, -2, '2000-01-01 00:11:00Z', 'begun'),
        (-7, -1, '2000-01-01 00:15:02Z', 'settled'),
        (-8, -2, '2000-01-01 01:00:00Z', 'settled')) as worked (id, incident, at, step);
create or replace view own_read.vis_call with (security_barrier) as
    select seq as id, actor_kind as asker, tool, source, status as outcome, duration_ms as taken, at,
        at as recorded_at
    from public.audit_entry
    where kind = 'call.finished' and duration_ms is not null
    union all
    select id, 'agent', 'worked_example', 'worked_example', outcome, taken, at, at
    from (values
        (-1::bigint, 'failed', 1500, timestamptz '2000-01-01 00:00:00Z'),
        (-2, 'ok', 900, '2000-01-01 00:01:00Z')) as worked (id, outcome, taken, at);
do $$
declare
    keeper name := (select tableowner from pg_tables where schemaname = 'public' and tablename = 'audit_entry');
begin
    -- They see with the eyes of the table's own keeper, so that the table itself is granted to nobody else.
    execute format('alter view own_read.vis_step owner to %I', keeper);
    execute format('alter view own_read.vis_call owner to %I', keeper);
end
$$;
grant usage on schema own_read to own_reader;
grant select on own_read.vis_step, own_read.vis_call to own_reader;
