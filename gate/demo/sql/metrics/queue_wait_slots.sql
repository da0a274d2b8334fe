select j.id as entity, extract(epoch from j.ready_at) as due, extract(epoch from s.started_at) as started,
  s.held_seconds as held, j.id = :scope ->> 'job_id' as is_asked, q.slots as slots
from vis_job j join vis_start s on s.job_id = j.id join vis_queue q on q.name = j.queue
where j.recorded_at <= :decision_point and s.recorded_at <= :decision_point and q.recorded_at <= :decision_point
