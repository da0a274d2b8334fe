"""The function that edits a write, as its first version has it."""

# Nobody may change what a proposal says, but for this one way: while it is open, into a next edition, with the earlier
# one kept. It is proposed anew then, and judged anew. What it says is checked by the writer against the digest that
# people approve.
FUNCTION = """
create function writes_edit(write bigint, edition_seen int, made jsonb, agent bigint, person bigint) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  old public.writes_writerequest;
begin
  select * into old from public.writes_writerequest where id = write for update;
  if old.status not in ('proposed', 'waiting', 'changes_requested') or old.edition <> edition_seen then
    raise exception 'W-% is not open in edition %, so it is not edited.', write, edition_seen
      using errcode = '42501';
  end if;
  if num_nonnulls(agent, person) <> 1 or old.proposed_by_agent_id is distinct from agent
     or old.proposed_by_person_id is distinct from person then
    raise exception 'Only whoever proposed W-% edits it.', write using errcode = '42501';
  end if;
  insert into public.writes_edition (write_id, number, target_id, title, statement, parameters, reason,
      proposal_digest, edited_by_agent_id, edited_by_person_id, edited_at)
    values (old.id, old.edition, old.target_id, old.title, old.statement, old.parameters, old.reason,
      old.proposal_digest, agent, person, now());
  update public.writes_writerequest set
      target_id = (made->>'target')::bigint, title = made->>'title', statement = made->>'statement',
      verb = made->>'verb', "table" = made->>'table', parameters = made->'parameters', reason = made->>'reason',
      expires_at = (made->>'expires_at')::timestamptz, proposal_digest = made->>'proposal_digest',
      answers = made->'answers', model = made->'model',
      edition = old.edition + 1, status = 'proposed', version = old.version + 1
    where id = old.id;
end $$;
"""
REVOKE = "revoke execute on function writes_edit(bigint, int, jsonb, bigint, bigint) from public"
