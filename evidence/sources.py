"""Where facts come from: what a source's definition must say, whatever kind it is of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audit import outbox, twohands
from audit.models import Definition
from evidence import credentials, kinds, rate, replicas

EXAMPLE = kinds.KINDS["postgresql"].source_example
Companion = Callable[[Definition], None]
_companions: list[Companion] = []


def check(name: str, body: dict[str, Any]) -> None:
    """Raise ValueError with a sentence unless the body describes a source."""
    if not isinstance(body, dict):
        raise ValueError("A source is a JSON object.")
    kind = body.get("kind")
    if not isinstance(kind, str) or kind not in kinds.KINDS:
        raise ValueError(f"The kind of a source is one of {', '.join(sorted(kinds.KINDS))}.")
    # What sources of all kinds may say.
    rate.check(body)
    replicas.check(body)
    own = {key: value for key, value in body.items() if key not in (rate.KEY, replicas.KEY)}
    kinds.KINDS[kind].check_source(name, own)


def known(name: str) -> Definition | None:
    """The source that a tool names: the version in force, else the newest draft of it."""
    found = twohands.active("source", name)
    if found is not None:
        return found
    return Definition.objects.filter(kind="source", name=name).order_by("-version").first()


def dsn(source: Definition, key: str) -> str:
    """The value of the variable that the source's `reader_env` or `doctor_env` names. Raises Problem when unset."""
    return credentials.secret(source, key)


def set_companion(bring: Companion) -> None:
    """Say what comes along with each source that is put in force; called once when the application starts."""
    _companions[:] = [bring]


def activated(source: Definition) -> None:
    """What follows, in the same transaction, when a source is put in force."""
    prove_soon(source)
    for bring in _companions:
        bring(source)


def prove_soon(source: Definition) -> None:
    """Have the reads worker prove the credential of a source that was just activated."""
    outbox.enqueue("evidence.tasks.certify_source", "reads", source.pk)
