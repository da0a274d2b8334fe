"""Who must approve a write, how, and within which bounds: the part of a target that every approval is bound to."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from audit import canonical
from gate.people import permissions

POLICY_TAG = b"write-policy/v1\0"
MOST_APPROVERS = 5  # of one role
MOST_ROWS = 1_000
LONGEST_EXPIRY = 7 * 24 * 3600  # seconds

METHODS = ("passkey", "password")
BINDINGS = ("strict", "touched")
RISKS = ("normal", "high")
PROPOSERS = ("agent", "on_call", "admin")
KEYS = frozenset({
    "approvers", "method", "expiry_seconds", "row_cap", "binding", "proposers", "risk", "break_glass",
})  # fmt: skip


@dataclass(frozen=True)
class Policy:
    """The approval policy of one version of a target."""

    approvers: tuple[tuple[str, int], ...]  # role and how many of it; all of them are needed
    method: str  # "passkey", or "password": then a fresh password does as well
    expiry_seconds: int
    row_cap: int
    binding: str  # "strict": all columns as previewed; "touched": those that the statement sets or asks about
    proposers: frozenset[str]  # "agent", or a person's role
    risk: str  # "high": a new key waits, and a page is read for longer before it can be approved
    break_glass: bool  # whether one person may approve alone in an emergency, with two reviews afterwards

    @property
    def number(self) -> int:
        """How many people must approve."""
        return sum(number for _, number in self.approvers)

    @property
    def allows_password(self) -> bool:
        """Whether a fresh password approves. A passkey always does."""
        return self.method == "password"

    @property
    def digest(self) -> str:
        """SHA-256 over every part of it, under a tag of its own."""
        return hashlib.sha256(POLICY_TAG + canonical.header_bytes(self.record())).hexdigest()

    def open_seats(self, roles: Iterable[str]) -> Counter[str]:
        """The seats that these approvers leave open, by role. One of a role that has no seat fills none."""
        return Counter(dict(self.approvers)) - Counter(roles)

    def record(self) -> dict[str, canonical.Scalar]:
        """Every part of it, flat: what the digest is over."""
        return {
            **{f"approvers {role}": number for role, number in self.approvers},
            "method": self.method, "expiry_seconds": self.expiry_seconds, "row_cap": self.row_cap,
            "binding": self.binding, "proposers": ",".join(sorted(self.proposers)), "risk": self.risk,
            "break_glass": str(self.break_glass).lower(),
        }  # fmt: skip


def of(body: Mapping[str, Any]) -> Policy:
    """The policy of a checked body."""
    return Policy(
        tuple(sorted(body["approvers"].items())), body["method"], body["expiry_seconds"], body["row_cap"],
        body["binding"], frozenset(body["proposers"]), body["risk"], body["break_glass"],
    )  # fmt: skip


def check(body: Any) -> None:
    """Raises ValueError with a sentence when a policy cannot be used."""
    if not isinstance(body, dict) or set(body) != KEYS:
        raise ValueError(f"A policy has exactly these keys: {', '.join(sorted(KEYS))}.")
    _check_approvers(body["approvers"])
    _check_choice(body, "method", METHODS)
    _check_choice(body, "binding", BINDINGS)
    _check_choice(body, "risk", RISKS)
    _check_proposers(body["proposers"])
    check_number(body["row_cap"], "row_cap", MOST_ROWS)
    check_number(body["expiry_seconds"], "expiry_seconds", LONGEST_EXPIRY)
    if not isinstance(body["break_glass"], bool):
        raise ValueError("break_glass is true or false: whether one person may approve alone in an emergency.")


def check_number(value: Any, key: str, most: int) -> None:
    """Raises ValueError unless the value is a whole number from 1 to `most`."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise ValueError(f"{key} is a whole number from 1 to {most:,}.")


def _check_approvers(value: Any) -> None:
    if not isinstance(value, dict) or not value:
        raise ValueError('approvers says how many of which role, like {"on_call": 2}.')
    for role, number in value.items():
        if role not in permissions.MATRIX["gate.decide_write"]:
            raise ValueError(f"A person of the role {role} decides about no writes, so approvers cannot name it.")
        check_number(number, f"approvers {role}", MOST_APPROVERS)


def _check_choice(body: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> None:
    if body[key] not in choices:
        raise ValueError(f"{key} is one of {', '.join(choices)}.")


def _check_proposers(value: Any) -> None:
    is_list = isinstance(value, list) and value and len(set(map(str, value))) == len(value)
    if not is_list or not set(value) <= set(PROPOSERS):
        raise ValueError(f"proposers is a list of some of {', '.join(PROPOSERS)}, each at most once.")
