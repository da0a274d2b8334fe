select c.id as entity, extract(epoch from c.charged_at) as at, extract(epoch from c.recorded_at) as recorded_at,
  c.id as id, 'charged' as what, null as actor, 'charge' as relation
from vis_charge c
where c.recorded_at <= :decision_point and c.charged_at >= (:scope ->> 'since')::timestamptz
union all
select c.id as entity, extract(epoch from r.recorded_at) as at, extract(epoch from r.recorded_at) as recorded_at,
  c.id as id, r.state as what, null as actor, 'refund_event' as relation
from vis_charge c join vis_refund_event r on r.charge_id = c.id and r.recorded_at <= :decision_point
where c.recorded_at <= :decision_point and c.charged_at >= (:scope ->> 'since')::timestamptz
union all
select c.id as entity, extract(epoch from d.recorded_at) as at, extract(epoch from d.recorded_at) as recorded_at,
  c.id as id, d.state as what, null as actor, 'dispute_event' as relation
from vis_charge c join vis_dispute_event d on d.charge_id = c.id and d.recorded_at <= :decision_point
where c.recorded_at <= :decision_point and c.charged_at >= (:scope ->> 'since')::timestamptz
union all
select c.id as entity, extract(epoch from y.recorded_at) as at, extract(epoch from y.recorded_at) as recorded_at,
  c.id as id, y.state as what, null as actor, 'delivery_event' as relation
from vis_charge c join vis_delivery_event y on y.charge_id = c.id and y.recorded_at <= :decision_point
where c.recorded_at <= :decision_point and c.charged_at >= (:scope ->> 'since')::timestamptz
