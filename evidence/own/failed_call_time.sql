select c.id as entity, c.asker as kind, c.tool as tool, c.source as source, c.taken as quantity, 'ms' as unit
from vis_call c
where c.recorded_at <= :decision_point
  and c.outcome = 'failed'
  and c.at >= (:scope ->> 'since')::timestamptz
  and (:scope ->> 'tool' is null or c.tool = :scope ->> 'tool')
