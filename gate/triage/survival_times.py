"""Tools and sources by month: how often what they gave is met again. Read from what workers measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evidence.survival.fields import LIMITATION
from gate.triage import curves
from gate.triage.rule_models import Job
from gate.triage.trace_models import Trace

MONTHS = 12
MOST = 5_000  # investigations


@dataclass
class Month:
    """A tool's figures of one month."""

    month: str
    results: int = 0
    met: int = 0
    in_answer: int = 0
    in_actions: int = 0
    characters: int = 0

    @property
    def share(self) -> int:
        """Percent of the results of which something is met later."""
        return round(100 * self.met / self.results) if self.results else 0

    @property
    def answer_share(self) -> int:
        return round(100 * self.in_answer / self.results) if self.results else 0


@dataclass
class Tool:
    """A tool, or a source, through the months."""

    name: str
    months: dict[str, Month] = field(default_factory=dict)

    @property
    def whole(self) -> Month:
        sums = Month("")
        for month in self.months.values():
            for key in ("results", "met", "in_answer", "in_actions", "characters"):
                setattr(sums, key, getattr(sums, key) + getattr(month, key))
        return sums

    @property
    def characters_each(self) -> int:
        return self.whole.characters // self.whole.results if self.whole.results else 0

    @property
    def line(self) -> str:
        """The share of results met, month by month, as points for a picture of 72 by 18; empty for one month."""
        order = sorted(self.months)
        if len(order) < 2:
            return ""
        return curves.polyline([(at, self.months[month].share) for at, month in enumerate(order)])

    @property
    def words(self) -> str:
        return ", ".join(f"{month}: {self.months[month].share} %" for month in sorted(self.months))


class TimesPage:
    """The newest investigations, by tool."""

    limitation = LIMITATION

    @cached_property
    def measured(self) -> Sequence[Trace]:
        found = Trace.objects.filter(origin=Trace.Origin.LOG, status=Job.DONE).exclude(tools={})
        return list(found.only("at", "tools").order_by("-pk")[:MOST])

    @cached_property
    def tools(self) -> Sequence[Tool]:
        """Those of which most was read first."""
        months = sorted({trace.at.strftime("%Y-%m") for trace in self.measured})[-MONTHS:]
        by_name: dict[str, Tool] = defaultdict(lambda: Tool(""))
        for trace in self.measured:
            month = trace.at.strftime("%Y-%m")
            for name, figures in trace.tools.items() if month in months else ():
                tool = by_name[name]
                tool.name = name
                held = tool.months.setdefault(month, Month(month))
                for key, value in figures.items():
                    setattr(held, key, getattr(held, key) + value)
        return sorted(by_name.values(), key=lambda tool: (-tool.whole.characters, tool.name))
