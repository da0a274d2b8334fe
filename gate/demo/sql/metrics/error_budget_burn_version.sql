select m.version as kind, m.errors as numerator, m.requests as denominator, o.budget as per, m.n as tick,
  (:scope ->> 'first_minute')::int8 as first_tick, (:scope ->> 'last_minute')::int8 as last_tick,
  d.version as deployed
from vis_minute m cross join vis_slo o cross join vis_deploy d
where m.recorded_at <= :decision_point and o.recorded_at <= :decision_point and d.recorded_at <= :decision_point
  and m.n between (:scope ->> 'first_minute')::int8 and (:scope ->> 'last_minute')::int8
