"""A target's policy as people read it: one line beside a write, and a sentence for each part on the target's page."""

from __future__ import annotations

from collections import Counter

from audit.models import Definition
from audit.templatetags.ui import duration
from gate.writes import policy, quorum, targets
from gate.writes.policy import Policy

PROPOSERS = {"agent": "agents", "on_call": "on-call people", "admin": "admins"}
METHODS = {"passkey": "with a passkey", "password": "with a passkey or a fresh password"}
BINDINGS = {
    "strict": "To every column of every row as previewed: any change in between refuses the write.",
    "touched": "To the columns that the statement sets or asks about, and the key: others may change in between.",
}
RISKS = {
    "normal": "Normal.",
    "high": "High: a new key waits before it counts here, and a page is read for longer before it can be approved.",
}


def in_short(target: Definition) -> str:
    """Who approves, and with what: version 6: 2 on-call, with a passkey."""
    asked = targets.of(target).policy
    return f"version {target.version}: {_seats(asked)}, {METHODS[asked.method]}"


def parts(asked: Policy) -> list[tuple[str, str]]:
    """Each part of a policy: what it is about, and what it asks for."""
    return [
        ("Approvals", f"{_seats(asked)}, {METHODS[asked.method]}; never whoever proposed it, or owns the agent."),
        ("Who may propose", f"{', '.join(_proposers(asked))}."),
        ("An approval is bound", BINDINGS[asked.binding]),
        ("Rows", f"{asked.row_cap:,} at most."),
        ("Time", f"A proposal expires after {duration(asked.expiry_seconds)}."),
        ("Risk", RISKS[asked.risk]),
        ("Emergency", _emergency(asked)),
    ]


def _seats(asked: Policy) -> str:
    return quorum.seats_in_words(Counter(dict(asked.approvers)))


def _proposers(asked: Policy) -> list[str]:
    return [PROPOSERS[one] for one in policy.PROPOSERS if one in asked.proposers]


def _emergency(asked: Policy) -> str:
    if asked.break_glass:
        return "One person may approve alone; two others review it afterwards, and every page says so until they did."
    return "Nobody approves alone."
