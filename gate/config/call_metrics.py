"""Agents' calls for a monitor: how many by tool and source, how they ended, and how long they took.

Counters and a histogram, which only ever grow: they are read from rows that the worker counts out of the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from evidence import durations
from evidence.models import CallTotal

MOST_ROWS = 5_000
BOUNDS = [*(f"{bound / 1000:g}" for bound in durations.BOUNDS), "+Inf"]


def measured() -> list[Metric]:
    """The families, with one query."""
    rows = list(CallTotal.objects.order_by("tool", "source", "outcome", "code")[:MOST_ROWS])
    return [_calls(rows), _refusals(rows), _durations(rows)]


def _calls(rows: Sequence[CallTotal]) -> Metric:
    said = "Calls of evidence tools that ran or were refused. An empty tool is no tool of ours."
    family = CounterMetricFamily("counterseal_calls", said, labels=["tool", "source", "outcome"])
    sums: dict[tuple[str, str, str], int] = {}
    for row in rows:
        key = row.tool, row.source, row.outcome
        sums[key] = sums.get(key, 0) + row.calls
    for labels, number in sums.items():
        family.add_metric(labels, number)
    return family


def _refusals(rows: Sequence[CallTotal]) -> Metric:
    said = "Calls that were refused or failed, by the code that the agent was told."
    family = CounterMetricFamily("counterseal_calls_turned_down", said, labels=["tool", "source", "outcome", "code"])
    for row in rows:
        if row.outcome != "ok":
            family.add_metric([row.tool, row.source, row.outcome, row.code], row.calls)
    return family


def _durations(rows: Sequence[CallTotal]) -> Metric:
    family = HistogramMetricFamily(
        "counterseal_call_duration_seconds", "How long calls that ran took.", labels=["tool", "source"]
    )
    sums: dict[tuple[str, str], tuple[list[int], int]] = {}
    for row in rows:
        counts, milliseconds = sums.get((row.tool, row.source), (durations.none(), 0))
        sums[row.tool, row.source] = durations.added(counts, row.durations), milliseconds + row.milliseconds
    for labels, (counts, milliseconds) in sums.items():
        if any(counts):
            buckets = list(zip(BOUNDS, map(float, accumulate(counts)), strict=True))
            family.add_metric(labels, buckets, milliseconds / 1000)
    return family
