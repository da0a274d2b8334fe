-- Who may do what in the shop. Run each time, as the superuser: first everything is taken, then little is given.
revoke all on database shop from public;
revoke all on schema public from public;
revoke usage on language plpgsql from public;
alter default privileges for role shop_owner revoke execute on functions from public;
alter default privileges for role shop_views revoke execute on functions from public;

revoke all on all tables in schema shop from shop_reader, shop_doctor, shop_writer;
revoke all on all tables in schema shop_read from shop_reader, shop_doctor, shop_writer;
revoke all on all tables in schema history, held_out from public, shop_reader, shop_doctor, shop_writer;

grant connect on database shop to shop_reader, shop_doctor, shop_writer;

grant usage on schema shop_read to shop_reader;
grant select on shop_read.jobs, shop_read.job_attempts, shop_read.log_lines, shop_read.deploys, shop_read.charges,
    shop_read.refunds to shop_reader;
grant select on shop_read.vis_job, shop_read.vis_job_policy, shop_read.vis_attempt, shop_read.vis_attempt_end,
    shop_read.vis_queue, shop_read.vis_start, shop_read.vis_wait, shop_read.vis_minute, shop_read.vis_slo,
    shop_read.vis_deploy, shop_read.vis_charge, shop_read.vis_refund_event, shop_read.vis_dispute_event,
    shop_read.vis_delivery_event, shop_read.vis_charging to shop_reader;

-- What proves the reader, for the doctor; for everyone else the third tier closes it.
grant select on pg_catalog.pg_roles, pg_catalog.pg_auth_members, pg_catalog.pg_db_role_setting,
    pg_catalog.pg_largeobject_metadata to shop_doctor;
grant execute on function pg_catalog.pg_control_system() to shop_doctor;

-- What a job logged, when something was deployed and which writes ran is history: the writer adds to the last only.
grant usage on schema shop to shop_writer;
grant select, insert, update, delete on shop.jobs, shop.job_attempts, shop.charges, shop.refunds to shop_writer;
grant select on shop.job_events to shop_writer;
grant select, insert on shop.gate_ledger to shop_writer;
