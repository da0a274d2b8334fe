"""The function that lets a proposal in front of people, or stops it; and the trigger that leaves no other way."""

# What a policy made of a proposal stands here before anybody sees it. Once only: what was edited meanwhile, or was
# admitted by another delivery of the same job, is left alone.
FUNCTION = """
create function writes_admit(write bigint, edition_seen int, made jsonb) returns boolean
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  old public.writes_writerequest;
begin
  select * into old from public.writes_writerequest where id = write for update;
  if old.status is distinct from 'proposed' or old.edition <> edition_seen
     or old.proposal_digest <> made->>'proposal_digest' then
    return false;
  end if;
  insert into public.writes_admission (write_id, edition, proposal_digest, policy, version_id, verdict, decided,
      is_enforced, rule, escalations, answers, facts, model)
    values (old.id, old.edition, old.proposal_digest, made->>'policy', (made->>'version')::bigint,
      made->>'verdict', made->>'decided', (made->>'is_enforced')::boolean, made->>'rule', made->'escalations',
      made->'answers', made->'facts', made->'model');
  update public.writes_writerequest
     set status = case made->>'verdict' when 'ask' then 'waiting' else 'blocked' end, version = old.version + 1
   where id = old.id;
  return true;
end $$;
"""
REVOKE = "revoke execute on function writes_admit(bigint, int, jsonb) from public"

# Roles that may set a status move a write on. None of them lets one in, and none lets a blocked one out.
GATE = """
create function writes_keep_gate() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_user = (select pg_get_userbyid(relowner) from pg_class where oid = tg_relid) then
    return new;  -- the functions that admit, edit and place
  end if;
  if tg_op = 'INSERT' then
    if new.status <> 'proposed' then
      raise exception 'A write begins as proposed: admission judges it first.' using errcode = '42501';
    end if;
  elsif new.status is distinct from old.status then
    if new.status in ('waiting', 'blocked') or old.status = 'blocked'
       or (old.status = 'proposed' and new.status not in ('withdrawn', 'expired')) then
      raise exception 'W-% is %, and only admission decides whether it becomes %.', old.id, old.status, new.status
        using errcode = '42501';
    end if;
  end if;
  return new;
end $$;
"""
TRIGGER = """
create trigger writes_keep_gate before insert or update of status on writes_writerequest
  for each row execute function writes_keep_gate()
"""
