select m.version as kind, m.errors as numerator, m.requests * o.budget as denominator, m.n as tick,
  (:scope ->> 'first_minute')::int8 as first_tick, (:scope ->> 'last_minute')::int8 as last_tick
from vis_minute m cross join vis_slo o
where m.recorded_at <= :decision_point and o.recorded_at <= :decision_point
  and m.n between (:scope ->> 'first_minute')::int8 and (:scope ->> 'last_minute')::int8
