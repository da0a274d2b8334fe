-- The shop's history as investigators read it, row by row as it was recorded. Run each time, as shop_views.
create or replace view shop_read.vis_job with (security_barrier) as
    select id, kind, queue, enqueued_at, ready_at, due_at, recorded_at from history.job;
create or replace view shop_read.vis_job_policy with (security_barrier) as
    select kind, max_attempts, recorded_at from history.job_policy;
create or replace view shop_read.vis_attempt with (security_barrier) as
    select id, job_id, n, slot, started_at, recorded_at from history.attempt;
create or replace view shop_read.vis_attempt_end with (security_barrier) as
    select attempt_id, ended_at, outcome, error_class, recorded_at from history.attempt_end;
create or replace view shop_read.vis_queue with (security_barrier) as
    select name, slots, recorded_at from history.queue;
create or replace view shop_read.vis_start with (security_barrier) as
    select job_id, started_at, held_seconds, recorded_at from history.start;
create or replace view shop_read.vis_wait with (security_barrier) as
    select job_id, reason, starts_at, ends_at, recorded_at from history.wait;
create or replace view shop_read.vis_minute with (security_barrier) as
    select n, version, requests, errors, recorded_at from history.minute;
create or replace view shop_read.vis_slo with (security_barrier) as select budget, recorded_at from history.slo;
create or replace view shop_read.vis_deploy with (security_barrier) as select version, recorded_at from history.deploy;
create or replace view shop_read.vis_charge with (security_barrier) as
    select id, amount, repeats_id, charged_at, recorded_at from history.charge;
create or replace view shop_read.vis_refund_event with (security_barrier) as
    select charge_id, state, recorded_at from history.refund_event;
create or replace view shop_read.vis_dispute_event with (security_barrier) as
    select charge_id, state, recorded_at from history.dispute_event;
create or replace view shop_read.vis_delivery_event with (security_barrier) as
    select charge_id, state, recorded_at from history.delivery_event;
create or replace view shop_read.vis_charging with (security_barrier) as
    select keys, recorded_at from history.charging;
