"""The function that proposes a planned canary, as its first version has it."""

# The agents' plane proposes canaries and may call nothing one: what is proposed here is what was planned by another
# role, each plan is used once, and the write is a new one. What the caller adds is held against the plan.
FUNCTION = """
create function writes_place_canary(canary bigint, made jsonb) returns bigint
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  planned public.writes_canary;
  placed bigint;
begin
  select * into planned from public.writes_canary where id = canary and write_id is null for update skip locked;
  if not found then
    return null;
  end if;
  if made->'said' is distinct from planned.proposal
     or not exists (select from public.audit_definition where id = (made->>'target')::bigint and kind = 'target'
       and name = planned.proposal->>'target')
     or not exists (select from public.audit_agent where id = (made->>'agent')::bigint
       and name = planned.proposal->>'agent')
     or coalesce('I-' || (made->>'incident'), '') <> planned.proposal->>'incident' then
    raise exception 'Another canary was planned than this one.' using errcode = '42501';
  end if;
  insert into public.writes_writerequest (target_id, title, statement, verb, "table", parameters, reason, incident_id,
      proposed_by_agent_id, proposed_at, expires_at, proposal_digest, edition, answers, model, status, version)
    values ((made->>'target')::bigint, planned.proposal->>'title', planned.proposal->>'statement', made->>'verb',
      made->>'table', planned.proposal->'parameters', planned.proposal->>'reason', (made->>'incident')::bigint,
      (made->>'agent')::bigint, now(), (made->>'expires_at')::timestamptz, made->>'proposal_digest', 1, '{}', '{}',
      'proposed', 1)
    returning id into placed;
  update public.writes_canary set write_id = placed where id = planned.id;
  return placed;
end $$;
"""
REVOKE = "revoke execute on function writes_place_canary(bigint, jsonb) from public"
