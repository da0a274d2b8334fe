"""The function that takes away what questions of metrics repeat of a redacted entry, as its first version has it."""

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
REVOKE = "revoke execute on function evidence_clear_copies(bigint) from public"
