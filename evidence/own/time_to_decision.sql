with reached as (
  select s.incident as incident,
    min(case when s.step = 'opened' then s.at end) as opened,
    min(case when s.step = 'begun' then s.at end) as begun,
    min(case when s.step = 'handed_in' then s.at end) as handed_in,
    min(case when s.step = 'drafted' then s.at end) as drafted,
    min(case when s.step = 'settled' then s.at end) as settled
  from vis_step s
  where s.recorded_at <= :decision_point
    and (:scope ->> 'incident' is null or s.incident = (:scope ->> 'incident')::int8)
  group by s.incident
), spans as (
  select r.incident as incident, r.opened as opened, r.begun as begun, r.handed_in as handed_in,
    r.drafted as drafted, r.settled is null as is_open, coalesce(r.settled, :decision_point) as finished
  from reached r
  where r.opened >= (:scope ->> 'since')::timestamptz
)
select p.incident as entity, 'waiting_for_agent' as kind, extract(epoch from p.opened) as starts,
  extract(epoch from least(coalesce(p.begun, p.finished), p.finished)) as ends,
  extract(epoch from p.opened) as begins, extract(epoch from p.finished) as finishes, p.is_open as is_open
from spans p
union all
select p.incident as entity, 'gathering' as kind, extract(epoch from p.begun) as starts,
  extract(epoch from least(coalesce(p.handed_in, p.finished), p.finished)) as ends,
  extract(epoch from p.opened) as begins, extract(epoch from p.finished) as finishes, p.is_open as is_open
from spans p
where p.begun < p.finished
union all
select p.incident as entity, 'checking_by_code' as kind, extract(epoch from p.handed_in) as starts,
  extract(epoch from least(coalesce(p.drafted, p.finished), p.finished)) as ends,
  extract(epoch from p.opened) as begins, extract(epoch from p.finished) as finishes, p.is_open as is_open
from spans p
where p.handed_in < p.finished
union all
select p.incident as entity, 'waiting_for_person' as kind, extract(epoch from p.drafted) as starts,
  extract(epoch from p.finished) as ends,
  extract(epoch from p.opened) as begins, extract(epoch from p.finished) as finishes, p.is_open as is_open
from spans p
where p.drafted < p.finished
