"""What a search of log documents demands of each: fields with a value, texts in the line, and a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from gate.triage.grammars import moments
from gate.triage.grammars.error_words import names_an_error
from gate.triage.grammars.fields import LEVELS, MESSAGES, TIMES, plain
from gate.triage.grammars.tokens import Refused


@dataclass(frozen=True)
class Demands:
    """All of them, each once."""

    selector: frozenset[tuple[str, str]]
    patterns: tuple[str, ...]
    begins: datetime
    ends: datetime


@dataclass
class Collected:
    """Demands while a query is being read. What is demanded twice refuses the query: the two may exclude each other."""

    selector: list[tuple[str, str]] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    begins: list[datetime] = field(default_factory=list)
    ends: list[datetime] = field(default_factory=list)

    def demand(self, name: str, value: str, *, is_exact: bool) -> None:
        """A field has a value. A line seldom is nothing but a text, so that it must equal one refuses the query."""
        if plain(name) in MESSAGES:
            if is_exact:
                raise Refused
            self.patterns.append(value)
            return
        if name in TIMES or name.startswith("_"):
            raise Refused
        if plain(name) in LEVELS and names_an_error(value):
            self.patterns.append(value)
            return
        self.selector.append((plain(name), value))

    def demand_time(
        self, name: str, value: object, *, is_begin: bool, units: frozenset[int] = moments.MILLISECONDS
    ) -> None:
        """A line is no older, or no younger, than a moment. A number is in milliseconds where nothing else is said."""
        moment = moments.parse(Decimal(value) if type(value) is int else value, units)
        if name not in TIMES or moment is None:
            raise Refused
        (self.begins if is_begin else self.ends).append(moment)

    def within(self, begins: datetime, ends: datetime) -> None:
        """The window stands beside the query, and not in it too."""
        if self.begins or self.ends:
            raise Refused
        self.begins.append(begins)
        self.ends.append(ends)

    def closed(self) -> Demands:
        """All that was collected. Raises Refused unless it has one window and no field twice."""
        names = [name for name, _ in self.selector]
        if len(self.begins) != 1 or len(self.ends) != 1 or len(set(names)) != len(names):
            raise Refused
        return Demands(frozenset(self.selector), tuple(self.patterns), self.begins[0], self.ends[0])
