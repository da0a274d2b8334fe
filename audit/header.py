"""What the writer of an entry says of it, in the order of the statement that inserts it. The digest covers this."""

from __future__ import annotations

from functools import lru_cache

from audit import masking

FIELDS = (
    "header_version", "kind", "actor_kind", "actor", "principal", "subject", "summary", "run_id", "call_id", "parent",
    "tool", "tool_version", "tool_hash", "source", "certificate", "incident_id", "status", "duration_ms",
    "error_class", "error", "args_bytes", "args_sha256", "result_bytes", "result_sha256", "truncated",
    "writer", "writer_run", "writer_seq",
    "args_c", "result_c",
)  # fmt: skip
# What a role that writes entries inserts; everything else the server says.
COLUMNS = (*FIELDS, "digest")

LONGEST_TEXT = 500  # characters of a header's text: it stands in indexes, whose rows PostgreSQL limits
LONGEST_SUMMARY = 200
LONGEST_ERROR = 4000
LONGEST = {"summary": LONGEST_SUMMARY, "error": LONGEST_ERROR}
# Texts that somebody outside may have written, as the name that a stranger typed or a database's error. The digest is
# over them and no redaction reaches them: what looks like a secret must not get in.
MASKED = frozenset({"actor", "principal", "subject", "summary", "tool", "error"})
# These say the same in entry after entry, so what is stored of them is worked out once. A long one is some stranger's.
REPEATED = frozenset({"actor", "principal", "tool", "tool_hash", "source", "certificate", "run_id"})
LONGEST_REPEATED = 80


def storable(name: str, value: str) -> str:
    """Text that PostgreSQL can hold and index. An agent's tool name or a database's error may be anything at all."""
    if name in REPEATED and len(value) <= LONGEST_REPEATED:
        return _once(name, value)
    return _storable(name, value)


def _storable(name: str, value: str) -> str:
    # Whole: of half a secret, nothing would tell what it is. So callers hand in their texts uncut.
    text = masking.mask(value) if name in MASKED else value
    if not text.isascii() or "\0" in text:
        text = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    longest = LONGEST.get(name, LONGEST_TEXT)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


_once = lru_cache(maxsize=1024)(_storable)
