"""The function that clears what triage repeats of a redacted entry, as its first version has it."""

# What triage repeats of a redacted entry goes with it. The request has to be one that the log's function has done:
# calling this by itself clears nothing that is not gone already. `read` in a receipt goes too, and so its own hash does
# not fit any more: a verdict whose evidence is gone is not earned, whatever its receipt says. A case that was made of
# the incident loses the payload of that entry, and so fails from then on.
FUNCTION = """
create function triage_cleared_checks(checks jsonb, ref text, said text) returns jsonb
  language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(jsonb_agg(case when line->'audit_ids' ? ref or line->'values' ? ref
      then line || jsonb_build_object('seen', 'redacted', 'values', (line->'values') - ref,
        'why', case when line->>'why' = '' then '' else said end)
      else line end order by n), '[]') from jsonb_array_elements(checks) with ordinality t(line, n)
$$;
create function triage_cleared_reasons(reasons jsonb, ref text, said text) returns jsonb
  language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(jsonb_agg(case when position(ref in one->>'sentence') > 0
      then one || jsonb_build_object('sentence', said) else one end order by n), '[]')
    from jsonb_array_elements(reasons) with ordinality t(one, n)
$$;
create function triage_cleared_rows(kept jsonb, ref text) returns jsonb
  language sql immutable set search_path = pg_catalog, pg_temp as $$
  select coalesce(jsonb_agg(one order by n), '[]')
    from jsonb_array_elements(kept) with ordinality t(one, n) where one->>'audit_id' <> ref
$$;
create function triage_cleared_case(document text, ref text) returns text
  language sql immutable set search_path = pg_catalog, pg_temp as $$
  select jsonb_set(document::jsonb, '{audit}', (select coalesce(jsonb_agg(case when one->>'id' = ref
      then (one - 'meta') || '{"args": null, "result": null}' else one end order by n), '[]')
    from jsonb_array_elements(document::jsonb->'audit') with ordinality t(one, n)))::text
$$;
create function triage_clear_copies(request bigint) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  asked public.audit_redaction;
  about public.audit_entry;
  ref text;
  said text;
begin
  select * into asked from public.audit_redaction where id = request and recorded_as is not null;
  if asked.id is null then
    raise exception 'That redaction is not done, so nothing is cleared.' using errcode = '42501';
  end if;
  select * into about from public.audit_entry where id = asked.entry_id;
  ref := 'A-' || asked.entry_seq;
  said := 'Redacted with ' || ref || '.';
  if about.kind = 'comment.added' and asked.part in ('args', 'both') then
    update public.triage_comment set text = said where entry_seq = asked.entry_seq;
  elsif about.kind = 'findings.submitted' and asked.part in ('args', 'both') and about.run_id ~ '^[0-9]{1,18}$' then
    update public.triage_investigation set answer = said where id = about.run_id::bigint;
    update public.triage_finding set note = said where investigation_id = about.run_id::bigint and note <> '';
  end if;
  -- A trace is the client's own account of all that was read and said, so it repeats whatever of that is redacted.
  if about.kind = 'trace.uploaded' then
    update public.triage_trace set content = null, report = null, why = said where entry_seq = asked.entry_seq;
  elsif about.kind in ('call.started', 'call.finished', 'findings.submitted', 'investigation.started')
      and about.run_id ~ '^[0-9]{1,18}$' then
    update public.triage_trace set content = null, report = null, why = said
      where investigation_id = about.run_id::bigint;
  end if;
  if about.kind in ('call.started', 'call.finished') then
    update public.triage_draft d set
      checks = public.triage_cleared_checks(d.checks, ref, said),
      reasons = public.triage_cleared_reasons(d.reasons, ref, said),
      receipt = case when jsonb_typeof(d.receipt->'checks') <> 'array' then d.receipt else jsonb_set(d.receipt,
        '{checks}', (select coalesce(jsonb_agg(case when line->'read' ? ref
          then line || jsonb_build_object('read', (line->'read') - ref) else line end order by n), '[]')
        from jsonb_array_elements(d.receipt->'checks') with ordinality t(line, n))) end
      where exists (select from jsonb_array_elements(d.checks) line
        where line->'audit_ids' ? ref or line->'values' ? ref);
    update public.triage_examination set rows = public.triage_cleared_rows(rows, ref)
      where rows @> jsonb_build_array(jsonb_build_object('audit_id', ref));
    update public.triage_trial set blind_spots = public.triage_cleared_rows(blind_spots, ref)
      where blind_spots @> jsonb_build_array(jsonb_build_object('audit_id', ref));
    update public.triage_flip set checks = public.triage_cleared_checks(checks, ref, said),
        reasons = public.triage_cleared_reasons(reasons, ref, said)
      where position(ref in checks::text) > 0 or position(ref in reasons::text) > 0;
    update public.triage_shadowresult set checks = public.triage_cleared_checks(checks, ref, said),
        reasons = public.triage_cleared_reasons(reasons, ref, said)
      where position(ref in checks::text) > 0 or position(ref in reasons::text) > 0;
    update public.triage_drift set value = 'redacted ' || id where entry_seq = asked.entry_seq and value <> '';
    update public.triage_promotedcase set document = public.triage_cleared_case(document, ref)
      where position('"' || ref || '"' in document) > 0;
  end if;
end $$
"""
REVOKE = """
revoke execute on function triage_clear_copies(bigint), triage_cleared_checks(jsonb, text, text),
  triage_cleared_reasons(jsonb, text, text), triage_cleared_rows(jsonb, text), triage_cleared_case(text, text)
  from public
"""
