with ended as (
  select a.job_id as job_id, a.n as n, e.outcome as outcome, e.error_class as error_class, e.ended_at as ended_at,
    extract(epoch from e.ended_at - a.started_at) as seconds
  from vis_attempt a join vis_attempt_end e on e.attempt_id = a.id and e.recorded_at <= :decision_point
  where a.recorded_at <= :decision_point
), jobs as (
  select j.id as id, j.due_at as due_at, p.max_attempts as max_attempts,
    not exists (
      select 1 from ended d where d.job_id = j.id and (d.outcome = 'succeeded' or d.n = p.max_attempts)
    ) as is_open
  from vis_job j join vis_job_policy p on p.kind = j.kind and p.recorded_at <= :decision_point
  where j.recorded_at <= :decision_point and j.kind = :scope ->> 'job_kind'
)
select k.id as entity, 'wasted_compute' as kind, d.error_class as error_class, d.seconds as quantity, 'slot_s' as unit,
  k.is_open as is_open
from jobs k join ended d on d.job_id = k.id
where d.outcome = 'failed'
union all
select k.id as entity, 'delay_penalty' as kind, null as error_class,
  greatest(extract(epoch from d.ended_at - k.due_at), 0) as quantity, 's' as unit, k.is_open as is_open
from jobs k join ended d on d.job_id = k.id
where d.outcome = 'succeeded'
union all
select k.id as entity, 'permanent_loss' as kind, d.error_class as error_class, 1 as quantity, 'jobs' as unit,
  k.is_open as is_open
from jobs k join ended d on d.job_id = k.id
where d.outcome = 'failed' and d.n = k.max_attempts
