"""Which classes of incidents offer a tool. The layer that knows classes says it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Offering:
    """A class that offers a tool, as a page names it."""

    name: str
    title: str
    url: str


Finder = Callable[[], Mapping[str, Sequence[Offering]]]
_finders: list[Finder] = []


def set_finder(find: Finder) -> None:
    """Say how classes are found; called once when the application starts."""
    _finders[:] = [find]


def by_tool() -> Mapping[str, Sequence[Offering]]:
    """The classes in force by the name of the tool that they offer."""
    return _finders[0]() if _finders else {}
