"""What a target says for admission: which policy judges its writes, when it is frozen, and what its data or action is.

All of it is put in force by two hands, with the target. What it does not say is not known, or counts as the worse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from audit import twohands
from gate.admission import freezing
from gate.admission.freezing import Window

KEY = "admission"
COMMON = frozenset({"policy", "freeze"})
KEYS = {
    "postgresql": COMMON | {"labels"},
    "http": COMMON | {"effect", "undone_by", "moves_money", "honors_key"},
}  # by kind of target
SHIPPED = {"postgresql": "sql-writes", "http": "http-actions"}  # the policy of a target that names none
USER_DATA, OPERATIONAL = "user_data", "operational"
LABELS = (USER_DATA, OPERATIONAL)
LABELED = frozenset({"columns", "triggers"})
EFFECTS = ("creates", "changes", "removes")
TABLE = re.compile(r"[^.\x00-\x1f]{1,63}\.[^.\x00-\x1f]{1,63}")
Labels = Mapping[str, Mapping[str, Mapping[str, str]]]


@dataclass(frozen=True)
class Said:
    """What one version of a target says for admission."""

    policy: str
    freeze: tuple[Window, ...] = ()
    labels: Labels = field(default_factory=dict)  # {"shop.jobs": {"columns": {"state": "operational"}}}
    effect: str | None = None  # of an HTTP action, on what is there
    undone_by: str | None = None  # the target whose action undoes this one
    moves_money: bool = True
    honors_key: bool | None = None  # whether a second request under one Idempotency-Key does nothing

    def label(self, table: str, what: str, name: str) -> str:
        """The label of a column or trigger. What nobody labeled counts as user data."""
        return self.labels.get(table, {}).get(what, {}).get(name, USER_DATA)


def of(body: Mapping[str, Any]) -> Said:
    """What a checked target's body says."""
    said = body.get(KEY, {})
    return Said(
        said.get("policy", SHIPPED[body["kind"]]), tuple(freezing.of(said.get("freeze", ()))), said.get("labels", {}),
        said.get("effect"), said.get("undone_by"), said.get("moves_money", True), said.get("honors_key"),
    )  # fmt: skip


def check(kind: str, said: Any) -> None:
    """Raises ValueError with a sentence when a target of this kind cannot say it."""
    if not isinstance(said, dict) or not set(said) <= KEYS[kind]:
        raise ValueError(f"admission of a target of the kind {kind} has some of these keys: {_listed(KEYS[kind])}.")
    _check_name(said, "policy", "the name of a policy, like sql-writes")
    _check_name(said, "undone_by", "the name of a target, like refund-undo")
    freezing.check(said.get("freeze", []))
    _check_labels(said.get("labels", {}))
    if said.get("effect", EFFECTS[0]) not in EFFECTS:
        raise ValueError(f"effect is one of {', '.join(EFFECTS)}.")
    for key in ("moves_money", "honors_key"):
        if not isinstance(said.get(key, True), bool):
            raise ValueError(f"{key} is true or false.")


def _check_name(said: Mapping[str, Any], key: str, means: str) -> None:
    if key in said and (not isinstance(said[key], str) or not twohands.NAME.fullmatch(said[key])):
        raise ValueError(f"{key} is {means}.")


def _check_labels(labels: Any) -> None:
    sentence = (
        'labels says of each table what its columns and triggers touch, like {"shop.jobs": {"columns": {"state":'
        f' "operational"}}}}: {" or ".join(LABELS)}.'
    )
    if not isinstance(labels, dict) or not all(TABLE.fullmatch(table) for table in labels):
        raise ValueError(sentence)
    for named in labels.values():
        if not isinstance(named, dict) or not set(named) <= LABELED or not all(map(_are_labels, named.values())):
            raise ValueError(sentence)


def _are_labels(named: Any) -> bool:
    return isinstance(named, dict) and all(isinstance(one, str) and one in LABELS for one in named.values())


def _listed(keys: frozenset[str]) -> str:
    return ", ".join(sorted(keys))
