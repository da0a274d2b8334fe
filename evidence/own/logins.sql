-- Counterseal's own record as a source, first half: a reader and a doctor. A superuser runs both halves in
-- Counterseal's own database, and again whenever their text has changed; `manage.py upgrade` then records that others
-- may connect.
do $$
declare
    routine regprocedure;
begin
    if not exists (select from pg_roles where rolname = 'own_reader') then
        create role own_reader login noinherit;
    end if;
    if not exists (select from pg_roles where rolname = 'own_doctor') then
        create role own_doctor login noinherit;
    end if;
    execute format('grant connect on database %I to own_reader, own_doctor', current_database());
    -- What would let the reader write a large object; nothing of Counterseal's uses one.
    for routine in select oid from pg_proc where pronamespace = 'pg_catalog'::regnamespace
        and proname ~ '^(lo_.*|loread|lowrite)$'
    loop
        execute format('revoke execute on routine %s from public', routine);
    end loop;
end
$$;
grant execute on function pg_catalog.pg_control_system() to own_doctor;

alter role own_reader nosuperuser nocreatedb nocreaterole noreplication nobypassrls connection limit 10;
alter role own_reader set default_transaction_read_only = 'on';
alter role own_reader set statement_timeout = '5s';
alter role own_reader set lock_timeout = '500ms';
alter role own_reader set idle_in_transaction_session_timeout = '10s';
alter role own_reader set temp_file_limit = '64MB';
alter role own_reader set transaction_timeout = '15s';
alter role own_reader set row_security = 'on';
alter role own_reader set search_path = 'own_read';
alter role own_doctor nosuperuser nocreatedb nocreaterole noreplication nobypassrls connection limit 5;
alter role own_doctor set default_transaction_read_only = 'on';
alter role own_doctor set search_path = 'pg_catalog';
