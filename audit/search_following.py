"""The follower that makes the search's rows: it goes by leaf, so it skips nothing, and may be told to begin again."""

from __future__ import annotations

import time
from typing import Any

from django.db import connection, transaction

from audit import reading, search_text
from audit.models import Entry, Leaf, Payload, SearchState
from audit.reading import Content

BATCH = 200
MOST_TEXT = 64 * 1024  # bytes of what cannot be parsed; a whole payload is bounded by its number of words

_INSERT = """
insert into audit_search (entry_id, seq, doc) values (%s, %s, %s::tsvector)
on conflict (entry_id) do update set doc = excluded.doc
"""


def follow(seconds: float) -> int:
    """Take in sealed entries for so long, or until there are no more; how many. One follower works at a time."""
    until, taken = time.monotonic() + seconds, 0
    while (batch := _next_batch()) and time.monotonic() < until:
        taken += batch
    _tell_planner()
    return taken + batch


@transaction.atomic
def begin_again() -> None:
    """Make all rows anew, from the first leaf. The old ones serve until theirs is made."""
    SearchState.objects.update(next_leaf=0, newest=0, analyzed=0)


@transaction.atomic
def _next_batch() -> int:
    state = SearchState.objects.select_for_update(skip_locked=True).first()
    if state is None:
        return 0
    with connection.cursor() as cursor:
        # A redaction waits for us and deletes what we wrote, or we wait and read what it has left.
        cursor.execute("select pg_advisory_xact_lock_shared(hashtextextended('redaction', 0))")
        # Before anything is read: a retention takes these locks in this order too.
        cursor.execute("lock table audit_search in row exclusive mode")
    leaves = list(Leaf.objects.filter(index__gte=state.next_leaf).order_by("index")[:BATCH])
    if leaves:
        _take([leaf.entry_id for leaf in leaves], state)
        state.next_leaf = leaves[-1].index + 1
        state.save(update_fields=["next_leaf", "newest"])
    return len(leaves)


def _take(keys: list[Any], state: SearchState) -> None:
    entries = Entry.objects.in_bulk(keys)
    stored = Payload.objects.in_bulk(keys)
    rows = [(one.pk, one.seq, _document(reading.check(one, stored.get(one.pk)))) for one in entries.values()]
    with connection.cursor() as cursor:
        cursor.executemany(_INSERT, [row for row in rows if row[2]])
    state.newest = max([state.newest, *(entry.seq for entry in entries.values())])


def _document(content: Content) -> str:
    if content.is_readable:
        return search_text.document(content.args, content.result)
    # Cut, damaged or partly redacted: what is there is found, and its page says what is wrong with it.
    raw = content.args_raw[:MOST_TEXT] + b" " + content.result_raw[:MOST_TEXT]
    return search_text.document_of_text(raw.decode("ascii", "replace"))


def _tell_planner() -> None:
    """After it was built, and whenever it has doubled: nobody else analyzes a partitioned table."""
    with transaction.atomic():
        state = SearchState.objects.select_for_update(skip_locked=True).first()
        if state is None or state.next_leaf < 2 * state.analyzed + 100:
            return
        with connection.cursor() as cursor:
            cursor.execute("select audit_analyze_search()")
        state.analyzed = state.next_leaf
        state.save(update_fields=["analyzed"])
