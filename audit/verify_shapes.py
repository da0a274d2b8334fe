"""The tables as the verifier reads them: a column of another name or type would not mean what it is taken for."""

from __future__ import annotations

from audit import verify_rows
from audit.verify.entries import FIELDS
from audit.verify.findings import Report

OF_HEADER = {
    **dict.fromkeys(FIELDS[1], "text"),
    **dict.fromkeys(("call_id", "parent"), "uuid"),
    **dict.fromkeys(("tool_version", "duration_ms", "args_bytes", "result_bytes"), "integer"),
    **dict.fromkeys(("incident_id", "writer_seq"), "bigint"),
    **dict.fromkeys(("args_c", "result_c"), "bytea"),
    "header_version": "smallint",
    "truncated": "boolean",
}
TIME = "timestamp with time zone"
# What is read of each table, with its type.
TYPES = {
    "audit_entry": {
        "id": "uuid", "seq": "bigint", "at": TIME, "xid": "xid8", "epoch": "integer", "db_role": "text",
        "digest": "bytea", **OF_HEADER,
    },
    "audit_payload": {"entry_id": "uuid", "salt": "bytea", "args": "bytea", "result": "bytea", "codec": "text"},
    "audit_leaf": {"idx": "bigint", "entry_id": "uuid", "h": "bytea"},
    "audit_node": {"lvl": "smallint", "idx": "bigint", "h": "bytea"},
    "audit_checkpoint": {
        "size": "bigint", "at": TIME, "root": "bytea", "note": "text", "epoch": "integer", "last_xid": "xid8",
        "last_id": "uuid",
    },
    "audit_epoch": {"number": "integer", "system_identifier": "bigint"},
    "audit_retained": {
        "month": "date", "recorded_id": "uuid", **dict.fromkeys(
            ("first_leaf", "last_leaf", "entries", "first_number", "last_number", "recorded_as"), "bigint"
        ),
    },
    "audit_verification": {
        "id": "bigint", "at": TIME, "size": "bigint", "is_full": "boolean", "findings": "jsonb",
        "finding_count": "integer", "is_clean": "boolean",
    },
}  # fmt: skip
# A column more in one of these would be part of an entry that nothing vouches for.
CLOSED = ("audit_entry", "audit_payload", "audit_leaf")
FOUND = """
select relname, attname, format_type(atttypid, atttypmod)
from pg_attribute a join pg_class c on c.oid = a.attrelid
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and relname = any(%s)
  and attnum > 0 and not attisdropped
"""


def check(report: Report) -> bool:
    """Report columns that are not as they should be; whether the rows can be read all the same."""
    found: dict[str, dict[str, str]] = {table: {} for table in TYPES}
    for table, column, kind in verify_rows.rows(FOUND, [list(TYPES)]):
        found[table][column] = kind
    differing = {table: _differing(found[table], known) for table, known in TYPES.items()}
    for table, columns in differing.items():
        unknown = set(found[table]) - set(TYPES[table]) if table in CLOSED else set()
        if columns | unknown:
            named = ", ".join(sorted(columns | unknown))
            report.add("M1", table, f"Its columns are not those that the log is made of: {named}.")
    return not any(differing.values())


def _differing(found: dict[str, str], known: dict[str, str]) -> set[str]:
    return {column for column, kind in known.items() if found.get(column) != kind}
