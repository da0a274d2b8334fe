"""What the list of metrics shows: by source, with how each stood when it was last asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import OuterRef, Subquery
from django.db.models.fields.json import KT

from audit.definition_pages import Row
from audit.models import Definition
from evidence import reviewing
from evidence.metrics import amounts, wording
from evidence.metrics.amounts import Amount
from evidence.metrics.exact import exact
from evidence.metrics.reading_parts import Standing
from evidence.metrics.registry import METRIC
from evidence.metrics.status import Status
from evidence.models import MetricAsk

MOST = 100  # metrics of one page


@dataclass(frozen=True)
class Last:
    """The newest answer of a version: its value, how far that can be relied on, and when."""

    ask: Any
    value: Amount | None
    standing: Standing


@dataclass(frozen=True)
class Line:
    """One metric in the list."""

    row: Row
    last: Last | None

    @property
    def unit(self) -> str:
        return wording.unit_words(self.row.shown.body["unit"])

    @property
    def source(self) -> str:
        return str(self.row.shown.body["source"])

    @property
    def drafted(self) -> Definition | None:
        """The newest draft that may still be put in force."""
        newest = self.row.versions[0]
        return newest if self.row.waiting and newest.status == Definition.Status.DRAFT else None

    @property
    def is_due(self) -> bool:
        """Whether its owner said to have looked at it again by now."""
        return reviewing.is_due(self.row.shown.body["review_by"])


@dataclass(frozen=True)
class Listed:
    """A page of the list."""

    lines: Sequence[Line]
    after: str  # the name that the next page begins behind; empty on the last

    @property
    def by_source(self) -> Iterator[tuple[str, list[Line]]]:
        """The metrics of each source, by name."""
        ordered = sorted(self.lines, key=lambda line: (line.source, line.row.name))
        for source, lines in groupby(ordered, key=lambda line: line.source):
            yield source, list(lines)


def listed(after: str = "") -> Listed:
    """The metrics behind a name, with four queries however many there are."""
    known = Definition.objects.filter(kind=METRIC)
    found = known.filter(name__gt=after).order_by("name").values_list("name", flat=True).distinct()
    names = list(found[: MOST + 1])
    versions = known.filter(name__in=names[:MOST]).order_by("name", "-version").annotate(last=Subquery(_newest()))
    rows = [Row(name, list(group)) for name, group in groupby(versions, key=lambda version: version.name)]
    last = _last([pk for row in rows if (pk := getattr(row.shown, "last", None)) is not None])
    lines = [Line(row, last.get(row.shown.pk)) for row in rows]
    return Listed(lines, names[MOST - 1] if len(names) > MOST else "")


def _newest() -> Any:
    asked = MetricAsk.objects.filter(version=OuterRef("pk"), kind=MetricAsk.Kind.EXPLAIN, answer__isnull=False)
    return asked.order_by("-asked_at").values("pk")[:1]


def _last(keys: Sequence[int]) -> dict[int, Last]:
    """The answers with these keys by their versions; of each only the value and its status are read."""
    asked = MetricAsk.objects.filter(pk__in=keys).defer("answer", "arguments")
    asked = asked.annotate(value=KT("answer__value"), status=KT("answer__mechanism_status"))
    return {one.version_id: Last(one, _amount(one.value), Standing(Status(one.status), ())) for one in asked}


def _amount(text: str | None) -> Amount | None:
    return amounts.made(exact(text)) if text is not None else None
