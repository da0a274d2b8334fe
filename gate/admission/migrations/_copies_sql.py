"""The function that takes away what admission repeats of a redacted entry, as its first version has it."""

# What the answering model was sent goes with the entry that says it. A label keeps what a person said; of the answer
# that it was said of, which stands among the arguments of the decision, it keeps nothing. The request has to be one
# that the log's function has done.
FUNCTION = """
create function admission_clear_copies(request bigint) returns void
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  asked public.audit_redaction;
begin
  select * into asked from public.audit_redaction where id = request and recorded_as is not null;
  if asked.id is null then
    raise exception 'That redaction is not done, so nothing is cleared.' using errcode = '42501';
  end if;
  delete from public.admission_answerask where entry = asked.entry_seq;
  if asked.part in ('args', 'both') then
    update public.admission_answerlabel
      set answer = jsonb_build_object('abstain', true, 'why', 'Redacted with A-' || asked.entry_seq || '.')
      where decision = asked.entry_seq;
  end if;
end $$
"""
REVOKE = "revoke execute on function admission_clear_copies(bigint) from public"
