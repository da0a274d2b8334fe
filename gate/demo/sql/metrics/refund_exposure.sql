with charges as (
  select c.id as id, c.amount as amount, c.repeats_id as repeats_id from vis_charge c
  where c.recorded_at <= :decision_point and c.charged_at >= (:scope ->> 'since')::timestamptz
)
select g.id as entity, 'dispute_open' as kind, g.amount as quantity, 'EUR_minor' as unit
from charges g join vis_dispute_event d on d.charge_id = g.id and d.recorded_at <= :decision_point
where d.state = 'opened'
union all
select g.id as entity, case when r.state = 'failed' then 'refund_failed' else 'refund_pending' end as kind,
  g.amount as quantity, 'EUR_minor' as unit
from charges g join vis_refund_event r on r.charge_id = g.id and r.recorded_at <= :decision_point
where r.state in ('failed', 'pending')
union all
select g.id as entity, 'duplicate_charge' as kind, g.amount as quantity, 'EUR_minor' as unit
from charges g
where g.repeats_id is not null
union all
select g.id as entity, 'undelivered_paid' as kind, g.amount as quantity, 'EUR_minor' as unit
from charges g join vis_delivery_event y on y.charge_id = g.id and y.recorded_at <= :decision_point
where y.state = 'lost'
