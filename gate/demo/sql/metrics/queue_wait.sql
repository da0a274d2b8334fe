select w.job_id as entity, w.reason as kind, extract(epoch from w.starts_at) as starts,
  extract(epoch from w.ends_at) as ends, extract(epoch from j.enqueued_at) as begins,
  extract(epoch from s.started_at) as finishes
from vis_wait w join vis_job j on j.id = w.job_id join vis_start s on s.job_id = j.id
where w.recorded_at <= :decision_point and j.recorded_at <= :decision_point and s.recorded_at <= :decision_point
  and j.id = :scope ->> 'job_id'
