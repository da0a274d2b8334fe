"""Refusals of what people may do: one exception for every layer, and its entry before the sentence is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from audit import log
from audit.kinds import Kind


class NotAllowed(Exception):
    """The act is not open to this person now; the sentence says why."""

    is_attempt = True  # whether the log says that somebody tried


def why_not(check: Callable[[], object]) -> str:
    """The sentence that a check raises; empty when it lets the act pass."""
    try:
        check()
    except NotAllowed as refusal:
        return str(refusal)
    return ""


@contextmanager
def recorded_refusal(
    kind: Kind, by: Any, subject: str, *, incident_id: int | None = None, **args: Any
) -> Iterator[None]:  # fmt: skip
    """Have a refusal in the log before it is shown."""
    try:
        yield
    except NotAllowed as refusal:
        if refusal.is_attempt:
            log.record(
                kind, log.Actor.person(by), subject=subject, status="refused", summary=str(refusal), args=args,
                incident_id=incident_id,
            )  # fmt: skip
        raise
