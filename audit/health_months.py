"""The months that are kept, with what they take."""

from __future__ import annotations

import json
from dataclasses import dataclass

# A JSON text, so that it can be asked for with other things.
MONTHS = """
select coalesce(json_agg(kept order by month desc), '[]')::text from (
select part.month, sum(pg_total_relation_size(part.oid))::bigint as size,
  max(part.reltuples::bigint) filter (where part.parent = 'audit_entry') as entries,
  exists (select from audit_hold h where h.lifted_at is null and h.month = to_date(part.month, 'YYYYMM')) as is_held
from (
  select c.oid, c.reltuples, i.inhparent::regclass::text as parent, substring(c.relname from '[0-9]{6}$') as month
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent in ('audit_entry'::regclass, 'audit_payload'::regclass, 'audit_search'::regclass)
) part
where part.month is not null group by part.month order by part.month desc limit 24
) kept
"""


@dataclass(frozen=True)
class Month:
    """A month's partitions: their size, about how many entries, and whether a hold lies on the month itself."""

    month: str  # 202611
    size: int
    entries: int
    is_held: bool

    @property
    def name(self) -> str:
        return f"{self.month[:4]}-{self.month[4:]}"


def months(found: str) -> list[Month]:
    """The months that are kept, newest first, from what the statement gave."""
    return [Month(**row) for row in json.loads(found)]
