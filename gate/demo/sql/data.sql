-- One morning at the shop, told from the moment of provisioning. Run once, as shop_owner, with the tables.
create temporary table clock on commit drop as select date_trunc('second', now()) as t;

insert into shop.jobs (job_id, kind, state, attempts, locked_by, run_after, started_at, finished_at, last_error, created_at)
select job_id, kind, state, attempts, locked_by, t - born, t - started, t - finished, last_error, t - born
from clock, (values
    -- two read timeouts of the payment provider, then success: the error has been away ever since
    (90412, 'settle_payouts', 'succeeded', 3, null, '4:21:00'::interval, '4:16:00'::interval, '4:15:26'::interval, null),
    (90418, 'settle_payouts', 'succeeded', 2, null, '4:20:00', '4:15:40', '4:15:04', null),
    -- two deadlocks, then success; so many lines since that no count of them finishes
    (90455, 'inventory_sync', 'succeeded', 3, null, '3:50:00', '3:27:20', '3:26:48', null),
    -- taken by a worker that then fell silent
    (90433, 'export_orders', 'running', 1, 'worker-7', '2:21:10', '2:21:00', null, null),
    (90470, 'update_search_index', 'succeeded', 1, null, '0:52:00', '0:51:30', '0:38:02', null),
    (90477, 'settle_payouts', 'failed', 5, null, '26:40:00', '25:02:00', '25:01:20', 'BankHolidayCalendarMissing'),
    (90481, 'export_orders', 'queued', 0, null, '0:08:00', null, null, null)
) as told (job_id, kind, state, attempts, locked_by, born, started, finished, last_error);

-- ordinary traffic: 60 jobs of the day before that nobody asks about
insert into shop.jobs (job_id, kind, state, attempts, run_after, started_at, finished_at, created_at)
select 90300 + n, (array['settle_payouts', 'inventory_sync', 'export_orders', 'update_search_index'])[1 + n % 4],
    'succeeded', 1, began, began + interval '4 seconds', began + interval '40 seconds', began
from clock, generate_series(1, 60) as n, lateral (select t - interval '30 hours' + n * interval '20 minutes') as at (began);

insert into shop.job_attempts (job_id, attempt, started_at, ended_at, outcome, error)
select job_id, attempt, t - started, t - ended, outcome, error
from clock, (values
    (90412, 1, '4:20:46'::interval, '4:20:16'::interval, 'failed', 'ReadTimeout'),
    (90412, 2, '4:18:56', '4:18:26', 'failed', 'ReadTimeout'),
    (90412, 3, '4:16:00', '4:15:26', 'succeeded', null),
    (90418, 1, '4:19:58', '4:19:28', 'failed', 'ReadTimeout'),
    (90418, 2, '4:15:40', '4:15:04', 'succeeded', null),
    (90455, 1, '3:39:20', '3:38:51', 'failed', 'DeadlockDetected'),
    (90455, 2, '3:37:50', '3:37:19', 'failed', 'DeadlockDetected'),
    (90455, 3, '3:27:20', '3:26:48', 'succeeded', null),
    (90433, 1, '2:21:00', null, 'running', null),
    (90470, 1, '0:51:30', '0:38:02', 'succeeded', null),
    (90477, 5, '25:02:00', '25:01:20', 'failed', 'BankHolidayCalendarMissing')
) as told (job_id, attempt, started, ended, outcome, error);

insert into shop.job_attempts (job_id, attempt, started_at, ended_at, outcome)
select job_id, 1, started_at, finished_at, 'succeeded' from shop.jobs where job_id between 90301 and 90360;

-- What the workers log anyway: 18,000 lines of payouts since the failures, more than twice as many of the stock.
insert into shop.log_lines (at, job_kind, worker, message)
select at, kind, 'worker-' || 1 + (n % 6), message
from clock, (values
    ('settle_payouts', interval '830 ms', 'payout batch acknowledged'),
    ('inventory_sync', interval '293 ms', 'stock level written'),
    ('update_search_index', interval '2500 ms', 'document indexed')
) as told (kind, step, message),
lateral (
    select t - interval '5 hours' + n * step as at, n from generate_series(1, floor(18000 / extract(epoch from step))::integer) as n
) as lines;

insert into shop.log_lines (at, job_kind, job_id, worker, message)
select t - interval '2:21:00' + n * interval '5 seconds', 'export_orders', 90433, 'worker-7', 'page exported'
from clock, generate_series(1, 25) as n;

insert into shop.log_lines (at, job_kind, job_id, worker, error, message)
select ended_at, kind, job_id, 'worker-3', error, 'attempt ' || attempt || ' ended with ' || error
from shop.job_attempts join shop.jobs using (job_id) where error is not null;

insert into shop.deploys (deploy_id, service, version, deployed_by, deployed_at)
select deploy_id, service, version, deployed_by, t - ago
from clock, (values
    (811, 'payouts', '4.18.0', 'jonas', '50:12:00'::interval),
    (812, 'storefront', '7.2.1', 'mia', '29:31:00'),
    (813, 'inventory', '2.40.3', 'mia', '8:05:00'),
    (814, 'search', '5.9.0', 'jonas', '0:54:00')
) as told (deploy_id, service, version, deployed_by, ago);

insert into shop.charges (charge_id, order_id, amount_cents, currency, captured, disputed, customer_email, created_at)
select charge_id, order_id, amount_cents, 'eur', captured, disputed, email, t - ago
from clock, (values
    ('ch_8841', 70031, 4200, true, false, 'r.haas@example.org', '76:10:00'::interval),
    ('ch_8846', 70018, 12950, true, false, 'l.moreau@example.org', '98:40:00'),
    ('ch_8853', 70044, 1999, true, true, 's.kim@example.org', '51:00:00'),
    ('ch_8877', 70062, 8800, true, false, 'p.nowak@example.org', '20:15:00'),
    ('ch_8880', 70066, 3150, false, false, 'a.silva@example.org', '3:02:00')
) as told (charge_id, order_id, amount_cents, captured, disputed, email, ago);

insert into shop.refunds (refund_id, charge_id, amount_cents, currency, status, failure_reason, created_at, settled_at)
select refund_id, charge_id, amount_cents, 'eur', status, reason, t - ago, t - settled
from clock, (values
    ('re_5521', 'ch_8841', 4200, 'failed', 'expired_or_canceled_card', '30:05:00'::interval, '2:40:00'::interval),
    ('re_5526', 'ch_8846', 12950, 'succeeded', null, '27:12:00', '3:31:00'),
    ('re_5530', 'ch_8853', 1999, 'pending', null, '1:10:00', null)
) as told (refund_id, charge_id, amount_cents, status, reason, ago, settled);
