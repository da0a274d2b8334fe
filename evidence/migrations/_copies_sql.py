"""The functions that take away what questions of metrics repeat of entries, as their first version has them."""

# A call's entries all hold what was asked, so with one of them the question goes, and its answer: a run of golden
# values is a question of several calls. The request has to be one that the log's function has done.
FUNCTION = """
create function evidence_clear_copies(request bigint) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  asked public.audit_redaction;
begin
  select * into asked from public.audit_redaction where id = request and recorded_as is not null;
  if asked.id is null then
    raise exception 'That redaction is not done, so nothing is cleared.' using errcode = '42501';
  end if;
  delete from public.evidence_metricask m using public.audit_entry about, public.audit_entry e
    where about.id = asked.entry_id and e.call_id = about.call_id and (m.audit_id = 'A-' || e.seq
      or m.answer @> jsonb_build_object('golden', jsonb_build_array(jsonb_build_object('audit_id', 'A-' || e.seq))));
end $$
"""
# A question goes with the month in which the log had its call; one that was never answered, with that of its asking.
# It takes no word from whoever calls it: what was dropped stands in the log's own table.
FORGET = """
create function evidence_forget_copies() returns void
  language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  with refs as (
    select id, audit_id as ref from public.evidence_metricask
    union all
    select m.id, line ->> 'audit_id' from public.evidence_metricask m,
      jsonb_array_elements(case when jsonb_typeof(m.answer -> 'golden') = 'array' then m.answer -> 'golden' end) line
  )
  delete from public.evidence_metricask m where exists (
    select from public.audit_retained r
    where (m.audit_id = '' and date_trunc('month', m.asked_at at time zone 'UTC')::date = r.month)
      or exists (select from refs where refs.id = m.id
        and substring(refs.ref from '^A-([0-9]+)$')::bigint between r.first_number and r.last_number))
$$
"""
REVOKE = "revoke execute on function evidence_clear_copies(bigint), evidence_forget_copies() from public"
