"""What a target says for admission, as people read it on its page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gate.writes import target_admission
from gate.writes.target_admission import OPERATIONAL, Said

EFFECTS = {"creates": "It adds something.", "changes": "It changes something.", "removes": "It removes something."}


def parts(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Each part: what it is about, and what is said."""
    said = target_admission.of(body)
    own = _of_action(said) if body["kind"] == "http" else _of_database(said)
    return [("Checked by", f"the policy {said.policy}, where it is in force"), *_freeze(said), *own]


def _freeze(said: Said) -> Iterator[tuple[str, str]]:
    for one in said.freeze:
        yield "Frozen", f"{one.begins:%Y-%m-%d %H:%M %Z} to {one.ends:%Y-%m-%d %H:%M %Z}: {one.why}"


def _of_database(said: Said) -> Iterator[tuple[str, str]]:
    for table, named in sorted(said.labels.items()):
        plain = [
            name if what == "columns" else f"what the trigger {name} does"
            for what, labels in sorted(named.items()) for name, label in sorted(labels.items()) if label == OPERATIONAL
        ]  # fmt: skip
        if plain:
            yield f"In {table}", f"no user data: {', '.join(plain)}"
    yield "User data", "every column and trigger that is not listed above"


def _of_action(said: Said) -> Iterator[tuple[str, str]]:
    yield "What it does", EFFECTS[said.effect] if said.effect else "What its method says; of a POST it is not known."
    yield "Undone by", said.undone_by or "nothing that is named"
    yield "Money", "It may move some." if said.moves_money else "It moves none."
    honors = {None: "It is not known whether it honors", True: "It honors", False: "It ignores"}[said.honors_key]
    yield "A second try", f"{honors} the Idempotency-Key."
