"""A large log for benchmarks, made by the server from numbers: as many entries as wanted, with words to search for."""

from __future__ import annotations

from typing import Any

from django.db import connection

from audit.drill.tampering import triggers_off

BATCH = 100_000
ENTRIES = """
insert into audit_entry (seq, at, header_version, kind, actor_kind, actor, principal, subject, summary, run_id,
  call_id, parent, tool, tool_version, tool_hash, source, certificate, incident_id, status, duration_ms,
  error_class, error, args_c, result_c, args_bytes, args_sha256, result_bytes, result_sha256, truncated,
  writer, writer_run, writer_seq, digest)
select n, clock_timestamp(), 1, case when n %% 50 = 0 then 'write.proposed' else 'call.finished' end, 'agent',
  'agent-' || n %% 20, 'mia', case when n %% 7 = 0 then 'I-' || n %% 5000 else '' end, 'Read 3 rows', '',
  gen_random_uuid(), null, 'tool_' || n %% 40, 1, '', 'shop', '', n %% 5000,
  case when n %% 30 = 0 then 'failed' else 'ok' end, 12,
  '', '', sha256('a'), sha256('r'), 20, '', 400, '', false,
  'agents', 'bench', n, sha256(int8send(n))
from generate_series(%s::bigint, %s::bigint) n
"""
# A word in every entry, one in a thousandth, and one that is its own.
WORDS = """
insert into audit_search (entry_id, seq, doc)
select id, seq, to_tsvector('simple', 'timeout common' || seq %% 10 || ' mid' || seq %% 1000 || ' rare' || seq)
from audit_entry where seq between %s and %s
"""


def fill(entries: int, *, has_words: bool = False) -> None:
    """Bring the log up to so many entries."""
    with connection.cursor() as cursor, triggers_off(_session()):
        cursor.execute("select coalesce(max(seq), 0) from audit_entry")
        start = cursor.fetchone()[0] + 1
        for first in range(start, entries + 1, BATCH):
            cursor.execute(ENTRIES, [first, min(first + BATCH - 1, entries)])
        cursor.execute(
            "select setval('audit_entry_number', greatest(%s, (select max(seq) from audit_entry)))", [entries]
        )
        cursor.execute("select coalesce(max(seq), 0) from audit_search")
        start = cursor.fetchone()[0] + 1
        for first in range(start, entries + 1, BATCH) if has_words else ():
            cursor.execute(WORDS, [first, min(first + BATCH - 1, entries)])
    with connection.cursor() as cursor:
        cursor.execute("vacuum (analyze) audit_entry")
        cursor.execute("vacuum (analyze) audit_search")


def _session() -> Any:
    connection.ensure_connection()
    return connection.connection
