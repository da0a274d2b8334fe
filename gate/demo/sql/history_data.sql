-- One night at the shop, in seconds from its beginning. Run once, as shop_owner, with the tables.
create function pg_temp.night(seconds numeric) returns timestamptz language sql as
    $$ select timestamptz '2026-05-01 00:00:00+00' + seconds * interval '1 second' $$;

insert into history.job
select id, kind, queue, pg_temp.night(enqueued), pg_temp.night(ready), pg_temp.night(due), pg_temp.night(enqueued)
from (values
    ('j1', 'export_orders', null, 0, 0, 30),
    ('j2', 'export_feeds', 'feeds', 0, 0, 600),
    ('j3', 'export_feeds', 'feeds', 40, 40, 600),
    ('j4', 'export_orders', 'feeds', 62, 62, 600),
    ('j5', 'export_feeds', 'feeds', 200, 240, 600),  -- asked for ahead of its time
    ('j6', 'export_feeds', 'feeds', 0, 0, 600)
) as told (id, kind, queue, enqueued, ready, due);

insert into history.job_policy
select kind, 3, pg_temp.night(0) from (values ('export_orders'), ('export_feeds')) as told (kind);

with told (job_id, n, slot, started, ended, error) as (values
    ('j1', 1, 'a', 0, 40, 'ReadTimeout'), ('j1', 2, 'a', 100, 150, 'ReadTimeout'), ('j1', 3, 'a', 270, 330, null),
    ('j4', 1, 'c', 120, 145, 'Conflict'), ('j4', 2, 'c', 160, 185, 'Conflict'), ('j4', 3, 'c', 300, 325, 'Conflict')
), started as (
    insert into history.attempt
    select job_id || '.' || n, job_id, n, slot, pg_temp.night(started), pg_temp.night(started) from told
)
insert into history.attempt_end
select job_id || '.' || n, pg_temp.night(ended), case when error is null then 'succeeded' else 'failed' end, error,
    pg_temp.night(ended) from told;

-- Two slots. One stands idle from 90 on although j4 is ready: no row says why.
insert into history.queue values ('feeds', 2, pg_temp.night(0));
insert into history.start
select job_id, pg_temp.night(started), held, pg_temp.night(started)
from (values ('j2', 0, 65), ('j6', 0, 90), ('j3', 65, 60), ('j4', 120, 25), ('j5', 240, 20)) as told (job_id, started, held);
insert into history.wait
select job_id, reason, pg_temp.night(starts), pg_temp.night(ends), pg_temp.night(ends)
from (values
    ('j3', 'all_slots_busy', 40, 65), ('j4', 'all_slots_busy', 62, 90), ('j4', 'slot_idle', 90, 120),
    ('j5', 'not_due', 200, 240)
) as told (job_id, reason, starts, ends);

-- Fifteen minutes of traffic: both versions at first, the new one alone from the tenth on. Each row comes a little late.
insert into history.minute
select n, version, requests, errors, pg_temp.night(60 * n + 75)
from generate_series(0, 14) as n, lateral (values
    ('v1', 900, 1, n < 10), ('v2', case when n < 10 then 100 else 1000 end,
        case when n < 10 then 6 when n = 10 then 57 else 55 end, true)
) as served (version, requests, errors, is_up) where is_up;
insert into history.slo values (0.001, pg_temp.night(0));
insert into history.deploy values ('v2', pg_temp.night(0));

-- Amounts in cents.
insert into history.charge
select id, amount, repeats, pg_temp.night(at), pg_temp.night(at)
from (values
    ('ch1', 4200, null, 10), ('ch2', 4200, 'ch1', 20), ('ch3', 1500, null, 30), ('ch4', 9900, null, 40),
    ('ch5', 2500, null, 50)
) as told (id, amount, repeats, at);
insert into history.dispute_event values ('ch4', 'opened', pg_temp.night(500));
insert into history.delivery_event values ('ch4', 'lost', pg_temp.night(450));
insert into history.refund_event values
    ('ch3', 'pending', pg_temp.night(300)), ('ch5', 'succeeded', pg_temp.night(400)),
    ('ch5', 'failed', pg_temp.night(9000));  -- the bank returned it two hours later
insert into history.charging values ('off', pg_temp.night(0));

insert into held_out.job_outcome values ('j4', 'lost for good', pg_temp.night(86400));
drop function pg_temp.night(numeric);
