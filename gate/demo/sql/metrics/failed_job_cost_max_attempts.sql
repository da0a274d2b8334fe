select j.id as entity, a.n as attempt, e.outcome as outcome, extract(epoch from e.ended_at - a.started_at) as quantity,
  'slot_s' as unit, greatest(extract(epoch from e.ended_at - j.due_at), 0) as late, 's' as late_unit,
  'jobs' as lost_unit, p.max_attempts as max_attempts
from vis_job j
join vis_attempt a on a.job_id = j.id and a.recorded_at <= :decision_point
join vis_attempt_end e on e.attempt_id = a.id and e.recorded_at <= :decision_point
join vis_job_policy p on p.kind = j.kind and p.recorded_at <= :decision_point
where j.recorded_at <= :decision_point and j.kind = :scope ->> 'job_kind'
