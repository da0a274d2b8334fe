select extract(epoch from s.at) as at, extract(epoch from s.recorded_at) as recorded_at, s.id as id, s.step as what,
  null as actor, 'step' as relation, s.incident as entity
from vis_step s
where s.recorded_at <= :decision_point
  and s.at >= (:scope ->> 'since')::timestamptz
  and (:scope ->> 'incident' is null or s.incident = (:scope ->> 'incident')::int8)
