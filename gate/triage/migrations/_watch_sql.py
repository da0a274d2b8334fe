"""The function that opens again what a watched pass has closed, as its first version has it."""

# Whoever reports sees nothing that is closed. The function tells only that something was opened again, and it can do no
# more than the report itself could do, which would open an incident of its own.
FUNCTION = """
create function triage_reopen_watched(key text, class_name text, recovered timestamptz, told_by text) returns bigint
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  about public.triage_incident;
  passed public.triage_draft;
begin
  select i.* into about from public.triage_incident i
    join public.audit_definition d on d.id = i.incident_class_id
    where i.dedup_key = key and i.status = 'closed' and d.name = class_name
      and i.closed_at + make_interval(secs => (d.body->>'watch_seconds')::integer) > clock_timestamp()
    order by i.id desc limit 1 for update of i;
  if about.id is null then
    return null;
  end if;
  select r.* into passed from public.triage_draft r
    join public.triage_investigation v on v.id = r.investigation_id
    where v.incident_id = about.id order by r.id desc limit 1;
  if passed.id is null or passed.outcome <> 'pass' or passed.status <> 'agreed' or recovered <= passed.decided_at then
    return null;
  end if;
  update public.triage_incident set status = 'reopened', closed_at = null, reported_resolved_at = null,
    version = version + 1, came_back_at = coalesce(recovered, clock_timestamp()) where id = about.id;
  insert into public.triage_lateevent (draft_id, what, by, at)
    values (passed.id, case when recovered is null then 'firing' else 'resolved' end, left(told_by, 120),
      clock_timestamp())
    on conflict do nothing;
  return about.id;
end $$
"""
REVOKE = "revoke execute on function triage_reopen_watched(text, text, timestamptz, text) from public"
