"""What this process is at work on: log lines carry it, so that they can be found by request, job or subject."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

_about: ContextVar[Mapping[str, str]] = ContextVar("about", default=MappingProxyType({}))


def begin(**about: str) -> None:
    """Say what begins here, in place of what was said before. It holds until the next begins, or the context ends."""
    _about.set(about)


def also(**about: str) -> None:
    """Add to what was said: the subject, once it is known, or the entry that was just written."""
    _about.set({**_about.get(), **{name: value for name, value in about.items() if value}})


def about() -> Mapping[str, str]:
    """What was said last."""
    return _about.get()
