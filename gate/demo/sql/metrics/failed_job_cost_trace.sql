select j.id as entity, extract(epoch from a.started_at) as at, extract(epoch from a.recorded_at) as recorded_at,
  a.id as id, 'started' as what, a.slot as actor, 'attempt' as relation
from vis_attempt a join vis_job j on j.id = a.job_id
where a.recorded_at <= :decision_point and j.recorded_at <= :decision_point and j.kind = :scope ->> 'job_kind'
union all
select j.id as entity, extract(epoch from e.ended_at) as at, extract(epoch from e.recorded_at) as recorded_at,
  a.id as id, coalesce(e.error_class, e.outcome) as what, a.slot as actor, 'attempt_end' as relation
from vis_attempt a join vis_attempt_end e on e.attempt_id = a.id join vis_job j on j.id = a.job_id
where a.recorded_at <= :decision_point and e.recorded_at <= :decision_point and j.recorded_at <= :decision_point
  and j.kind = :scope ->> 'job_kind'
