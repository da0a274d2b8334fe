with charges as (
  select c.id as id, c.amount as amount, c.repeats_id as repeats_id from vis_charge c
  where c.recorded_at <= :decision_point and c.charged_at >= (:scope ->> 'since')::timestamptz
)
select g.id as entity, 'dispute_open' as kind, g.amount as quantity, 'EUR_minor' as unit,
  g.repeats_id is not null as is_repeated, k.keys as keys
from charges g join vis_dispute_event d on d.charge_id = g.id and d.recorded_at <= :decision_point cross join vis_charging k
where d.state = 'opened' and k.recorded_at <= :decision_point
union all
select g.id as entity, case when r.state = 'failed' then 'refund_failed' else 'refund_pending' end as kind,
  g.amount as quantity, 'EUR_minor' as unit,
  g.repeats_id is not null as is_repeated, k.keys as keys
from charges g join vis_refund_event r on r.charge_id = g.id and r.recorded_at <= :decision_point cross join vis_charging k
where r.state in ('failed', 'pending') and k.recorded_at <= :decision_point
union all
select g.id as entity, 'duplicate_charge' as kind, g.amount as quantity, 'EUR_minor' as unit,
  g.repeats_id is not null as is_repeated, k.keys as keys
from charges g cross join vis_charging k
where g.repeats_id is not null and k.recorded_at <= :decision_point
union all
select g.id as entity, 'undelivered_paid' as kind, g.amount as quantity, 'EUR_minor' as unit,
  g.repeats_id is not null as is_repeated, k.keys as keys
from charges g join vis_delivery_event y on y.charge_id = g.id and y.recorded_at <= :decision_point cross join vis_charging k
where y.state = 'lost' and k.recorded_at <= :decision_point
