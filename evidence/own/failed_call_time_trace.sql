select extract(epoch from c.at) as at, extract(epoch from c.recorded_at) as recorded_at, c.id as id, c.tool as what,
  c.asker as actor, 'call' as relation, c.id as entity
from vis_call c
where c.recorded_at <= :decision_point
  and c.outcome = 'failed'
  and c.at >= (:scope ->> 'since')::timestamptz
  and (:scope ->> 'tool' is null or c.tool = :scope ->> 'tool')
