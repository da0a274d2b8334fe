-- What investigators may see: no customer, no payload. Run each time, as shop_views, which owns only these views and
-- may read only the tables below: even a view with a mistake in it could not write.
create or replace view shop_read.jobs with (security_barrier) as
    select job_id, kind, state, attempts, locked_by, started_at, finished_at, last_error from shop.jobs;

create or replace view shop_read.job_attempts with (security_barrier) as
    select job_id, attempt, started_at, ended_at, outcome, error from shop.job_attempts;

create or replace view shop_read.log_lines with (security_barrier) as
    select line_id, at, job_kind, job_id, worker, error from shop.log_lines;

create or replace view shop_read.deploys with (security_barrier) as
    select deploy_id, service, version, deployed_by, deployed_at from shop.deploys;

create or replace view shop_read.charges with (security_barrier) as
    select charge_id, order_id, amount_cents, currency, captured, disputed, created_at from shop.charges;

create or replace view shop_read.refunds with (security_barrier) as
    select refund_id, charge_id, amount_cents, currency, status, failure_reason, created_at, settled_at
    from shop.refunds;
