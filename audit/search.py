"""Finding entries by words of their arguments and results."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, Func, Value

from audit import search_text
from audit.models import Entry

MOST_FOUND = 2_000  # looked at for one page; further ones are on the pages after it
MOST_AWAITED = 1_000
# Entries that are written at once may have their keys and their numbers the other way around.
OUT_OF_ORDER = 100
DRIFT_MS = 120_000  # a key was drawn that near to the time of its entry

# Materialized, so that the planner cannot walk the whole log backwards in the hope of a hit. With the limit inside, it
# reads the newest rows alone for a word that stands in many, and the index for one that stands in few.
_HITS = """
with hit as materialized (
  select seq from audit_search
  where doc @@ %s::tsquery and {bound} and seq {beyond} %s order by entry_id {order} limit %s
)
select seq from hit
"""


@dataclass(frozen=True)
class Hits:
    """The numbers of entries that hold the words, nearest first, and whether there may be more beyond them."""

    seqs: list[int]
    is_more: bool


def below(typed: str, before: int | None) -> Hits:
    """The newest hits below a number."""
    if before is None:
        return _hits(typed, "true", "desc", "<", [], 1 << 62)
    return _hits(typed, "entry_id <= %s", "desc", "<", [_key_near(before, DRIFT_MS)], before)


def above(typed: str, after: int) -> Hits:
    """The oldest hits above a number."""
    return _hits(typed, "entry_id >= %s", "asc", ">", [_key_near(after, -DRIFT_MS)], after)


def _hits(typed: str, bound: str, order: str, beyond: str, keys: list[UUID], number: int) -> Hits:
    asked = search_text.question(typed)
    if not asked:
        return Hits([], is_more=False)
    with connection.cursor() as cursor:
        statement = _HITS.format(bound=bound, order=order, beyond=beyond)
        cursor.execute(statement, [asked, *keys, number, MOST_FOUND])
        seqs = [seq for (seq,) in cursor.fetchall()]
    if len(seqs) < MOST_FOUND:
        return Hits(seqs, is_more=False)
    end = seqs[-OUT_OF_ORDER:]
    return Hits([seq for seq in seqs if (seq > max(end) if order == "desc" else seq < min(end))], is_more=True)


def _key_near(seq: int, milliseconds: int) -> UUID:
    """A key that is surely on the other side of the entry with this number."""
    near = Entry.objects.filter(seq__lte=seq).order_by("-seq").values_list("id", flat=True).first()
    at = (near.int >> 80) if near else 0
    return UUID(int=max(0, at + milliseconds) << 80)


def holds(typed: str) -> Func:
    """The condition that an entry holds the words, for a walk that misses nothing, like an export."""
    return Func(Value(search_text.question(typed)), template=_HOLDS, output_field=BooleanField())


_HOLDS = "exists (select from audit_search s where s.entry_id = audit_entry.id and s.doc @@ %(expressions)s::tsquery)"


def among(seqs: list[int]) -> Func:
    """The condition that an entry has one of these numbers, as one parameter however many they are."""
    return Func(Value(seqs), template="audit_entry.seq = any(%(expressions)s)", output_field=BooleanField())


@dataclass(frozen=True)
class Progress:
    """How far the log goes, is sealed, and is searchable, by entries' numbers; and how many are not searchable yet."""

    newest: int
    sealed: int
    searchable: int
    waiting: int

    @property
    def words(self) -> str:
        """How many wait to be searchable, in words."""
        return f"{self.waiting:,}" if self.waiting <= MOST_AWAITED else f"more than {MOST_AWAITED:,}"


_PROGRESS = """
select
  coalesce((select seq from audit_entry order by seq desc limit 1), 0),
  coalesce((select seq from audit_entry where id = (select entry_id from audit_leaf order by idx desc limit 1)), 0),
  searchable.newest,
  (select count(*) from (select from audit_entry where seq > searchable.newest limit %s) waiting)
from audit_searchstate searchable
"""


def progress() -> Progress:
    """How far everything is, in one query."""
    with connection.cursor() as cursor:
        cursor.execute(_PROGRESS, [MOST_AWAITED + 1])
        return Progress(*cursor.fetchone())
