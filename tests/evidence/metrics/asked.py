"""Questions that people put to metrics, with answers that the core gives for the worked examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from audit.models import Definition
from evidence.metrics import answers, registry
from evidence.metrics.answers import Provenance
from evidence.metrics.counterfactual import compare
from evidence.metrics.explaining import Reading, explain
from evidence.metrics.trace import trace
from evidence.models import MetricAsk
from tests.evidence import bodies
from tests.evidence.metrics import examples

BEGAN = datetime(2026, 5, 1, tzinfo=UTC)
SCOPE = {"job_kind": "payout"}
ROWS = {200: examples.COST_AT_200, 400: examples.COST_AT_400}
TICKS = ((0, "ReadTimeout"), (1, "ReadTimeout"), (4, "succeeded"))


def cost_in_force(define: Callable[..., Definition], **other: Any) -> Definition:
    """failed_job_cost in force, with its prices; what is named is other than in the example."""
    define("valuation", "prices", examples.PRICES)
    define("source", "shop", bodies.source(schema="shop_read"))
    return define("metric", "failed_job_cost", {**examples.FAILED_JOB_COST, "valuation": "prices@1", **other})


def at(seconds: int) -> datetime:
    """A moment of the worked examples."""
    return BEGAN + timedelta(seconds=seconds)


def provenance(version: Definition, moment: datetime) -> Provenance:
    return Provenance(
        "0198c5f2-run", moment.isoformat(), version.name, version.version, version.digest, version.body["valuation"],
        "ab" * 32, ("A-48215",),
    )  # fmt: skip


def explained(version: Definition, moment: int, decomposition: str | None = None) -> dict[str, Any]:
    """The answer about failed_job_cost at a second of the worked example."""
    metric = registry.of(version)
    found = explain(metric, Reading(ROWS[moment]), registry.valuation_of(metric), decomposition)
    return answers.explained(found, provenance(version, at(moment)))


def unknown(version: Definition, moment: int) -> dict[str, Any]:
    """The answer where there are no rows."""
    metric = registry.of(version)
    return answers.explained(explain(metric, Reading(), registry.valuation_of(metric)), provenance(version, at(moment)))


def compared(version: Definition, value: str) -> dict[str, Any]:
    """The answer to another number of attempts, at 400."""
    metric = registry.of(version)
    prices = registry.valuation_of(metric)
    factual = explain(metric, Reading(ROWS[400]), prices)
    found = compare(factual, "max_attempts", value, Reading(examples.ATTEMPTS_AT_400), prices)
    return answers.compared(found, metric.unit.name, provenance(version, at(400)))


def traced(version: Definition) -> dict[str, Any]:
    """The trace of j1, of which nothing was recorded for two ticks, cut at its end."""
    rows = [
        {**row, "at": _epoch(row["at"]), "recorded_at": _epoch(row["recorded_at"]),
         "tick": tick, "first_tick": 0, "last_tick": 4, "what": what}
        for row, (tick, what) in zip(examples.TRACE_OF_J1, TICKS, strict=True)
    ]  # fmt: skip
    return answers.traced(trace(Reading(rows, is_truncated=True)), provenance(version, at(400)))


def _epoch(seconds: Any) -> int:
    return int(at(seconds).timestamp())


def put(
    version: Definition, kind: str, arguments: Mapping[str, Any], by: Any, moment: int, answer: Any = None,
    problem: str = "",
) -> MetricAsk:  # fmt: skip
    """A question, as it stands once the reads worker is done with it; without answer or problem it waits."""
    is_done = answer is not None or bool(problem)
    return MetricAsk.objects.create(
        version=version, digest=version.digest, kind=kind, arguments=dict(arguments), decision_point=at(moment),
        asked_by=by, asked_by_name=str(by), asked_by_username=by.get_username(), answer=answer, problem=problem,
        answered_at=timezone.now() if is_done else None, audit_id="A-48216" if is_done else "",
    )  # fmt: skip
