"""Tamperings with rows that decide something: one that nobody made, one that is gone, and one that was changed."""

from __future__ import annotations

from collections.abc import Callable

from audit.drill import forging
from audit.drill.tampering import Session, Tampering, codes

NOBODY, SOMEBODY, ROW = 999_999_001, 999_999_002, 999_999_000
# A row of each table as nobody has made it: the values of what a row must have.
ROWS = {
    "audit_hold": "(id, incident_id, reason, held_by_id, held_at, why_lifted) values ({row}, 7, 'x', {one}, now(), '')",
    "audit_definition": (
        "(id, kind, name, version, body, digest, reason, status, drafted_by_id, drafted_at, solo) "
        "values ({row}, 'tool', 'forged', 1, '{{}}', 'x', 'x', 'active', {one}, now(), false)"
    ),
    "audit_override": (
        "(id, sealer, reason, asked_by_id, asked_by_name, asked_at, status, decided_by_id, decided_by_name, solo) "
        "values ({row}, '', 'x', {one}, 'x', now(), 'confirmed', {other}, 'y', false)"
    ),
    "audit_redaction": (
        "(id, entry_seq, entry_id, part, reason, asked_by_id, asked_at, status) "
        "values ({row}, 1, uuidv7(), 'both', 'x', {one}, now(), 'waiting')"
    ),
    "audit_agent": (
        "(id, name, owner_id, owner_name, created_at, calls_per_hour, open_investigations, proposals_per_day) "
        "values ({row}, 'forged', {one}, 'x', now(), 1000000, 1000000, 1000000)"
    ),
    "audit_agenttoken": (
        "(id, agent_id, label, digest, scopes, issued_at, expires_at) "
        "values ({row}, {one}, 'x', 'forged', '[\"propose\"]', now(), now() + interval '9 years')"
    ),
    "audit_link": "(id, entry_seq, subject, url, note, paths) values ({row}, 1, 'V-1', '/drafts/1/', 'pass: x', '[]')",
}
NAMED = {
    "audit_hold": ("a hold", "H1"),
    "audit_definition": ("a definition in force", "H1"),
    "audit_override": ("an override", "H2"),
    "audit_redaction": ("a request for a redaction", "H2"),
    "audit_agent": ("an agent", "H3"),
    "audit_agenttoken": ("a token", "H3"),
    "audit_link": ("a citation", "H4"),
}


def _slip_in(table: str) -> Callable[[Session], None]:
    def do(session: Session) -> None:
        values = ROWS[table].format(row=ROW, one=NOBODY, other=SOMEBODY)
        session.execute("set local session_replication_role = replica")  # the drill has no people to refer to
        session.execute(f"insert into {table} {values}".encode())
        session.execute("set local session_replication_role = origin")

    return do


def _take_away(session: Session) -> None:
    """The newest entry, which is not sealed yet, speaks of an override that is not there."""
    forging.say_otherwise(session, "log.overridden", {"rows": [["audit_override", ROW, "00" * 32]]})


def _change(session: Session) -> None:
    """It speaks of one that stands otherwise."""
    _slip_in("audit_override")(session)
    _take_away(session)


DECISIONS = (
    *(Tampering(f"{noun} that nobody made", _slip_in(table), codes(code)) for table, (noun, code) in NAMED.items()),
    Tampering("an override taken away", _take_away, codes("H2"), codes("X1")),
    Tampering("an override changed", _change, codes("H2"), codes("X1")),
)
