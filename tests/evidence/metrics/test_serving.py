"""Answers of a metric over what a read brought: the same to the byte, whatever order a server gives its rows in."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import simplejson

from audit.models import Definition
from evidence import reader, replicas
from evidence.errors import Problem
from evidence.metrics import registry, scoping, serving
from evidence.metrics.definition import MetricVersion
from evidence.metrics.valuation import Valuation
from tests.evidence import bodies
from tests.evidence.metrics import examples

AT = datetime(2026, 5, 1, tzinfo=UTC)
WAITS = [*examples.WAITS["j4"], *({**row, "entity": "j6"} for row in examples.WAITS["j4"]), *examples.WAITS["j3"]]
COSTS = [*examples.COST_AT_400, {**examples.COST_AT_400[0], "kind": "surcharge"},
         {**examples.COST_AT_400[1], "quantity": None}]  # fmt: skip
EVENTS = [
    {"at": at, "recorded_at": 9, "id": name, "what": "x", "actor": None, "relation": "r", "entity": "j1"}
    for at in (1, 2) for name in ("a", "b")
]  # fmt: skip


@pytest.fixture(autouse=True)
def brought(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[dict[str, Any]]]:
    """What reads bring, by what a statement names: its rows, each time in another order."""
    dice, found = random.Random(4), dict[str, list[dict[str, Any]]]()  # noqa: S311
    monkeypatch.setenv("SCRATCH_READER_DSN", "host=nowhere")
    monkeypatch.setattr(replicas, "is_behind", lambda source, certificate, at: False)
    prices = Valuation.of("prices", 3, "", examples.PRICES)
    monkeypatch.setattr(registry, "valuation_of", lambda version: prices if version.valuation else None)

    def read(dsn: str, text: str, given: Any, **limits: Any) -> Any:
        rows = next(rows for word, rows in found.items() if word in text)
        return SimpleNamespace(rows=dice.sample(rows, len(rows)), truncated=False)

    monkeypatch.setattr(reader, "read", read)
    return found


def version(name: str, **changes: Any) -> MetricVersion:
    return MetricVersion.of(name, 1, "0" * 64, {**examples.EXAMPLES[name], **changes})


def answer(kind: str, of: MetricVersion, **question: Any) -> str:
    source = Definition(kind="source", name="scratch", version=1, body=bodies.source())
    found = serving.answer(kind, of, question, AT, source=source, certificate="c", run="r", entries=("A-1",))
    return simplejson.dumps(found.result, use_decimal=True)


@pytest.mark.parametrize(
    ("kind", "name", "rows", "question"),
    [
        ("explain", "queue_wait", {"vis_wait": WAITS}, {"scope": {"job_id": "j4"}}),
        ("explain", "failed_job_cost", {"vis_attempt": COSTS}, {"scope": {"job_kind": "payout"}}),
        ("compare", "queue_wait", {"vis_wait": WAITS[:2], "vis_queue": examples.QUEUED},
         {"scope": {"job_id": "j4"}, "variable": "slots", "value": "3"}),
        ("trace_entity", "failed_job_cost", {"vis_attempt": EVENTS}, {"scope": {"job_kind": "payout"}, "entity": "j1"}),
    ],
)  # fmt: skip
def test_the_order_of_the_rows_is_in_no_answer(
    brought: dict[str, Any], kind: str, name: str, rows: dict[str, Any], question: dict[str, Any]
) -> None:
    brought.update(rows)
    of = version(name)
    if kind == "trace_entity":
        hook = (of.trace_hook or "").replace("a.id as id,", "a.id as id, a.job_id as entity,")
        of = version(name, trace_hook=hook)
    assert len({answer(kind, of, **question) for _ in range(12)}) == 1


def test_a_trace_of_one_entity_needs_a_hook_that_says_of_what_its_rows_are() -> None:
    with pytest.raises(Problem, match="no trace of one entity"):
        answer("trace_entity", version("failed_job_cost"), scope={"job_kind": "payout"}, entity="j1")
    with pytest.raises(Problem, match="queue_wait has no trace"):
        answer("trace_event", version("queue_wait"), scope={"job_id": "j4"}, event="x")


@pytest.mark.parametrize(
    ("name", "scope", "sentence"),
    [
        ("queue_wait", {"job_id": 7}, ""),
        ("queue_wait", {"job_id": True}, "The scope's job_id is a text"),
        ("queue_wait", {"job_id": ""}, "The scope's job_id is a text"),
        ("queue_wait", {"job_id": "x" * 201}, "The scope's job_id is a text"),
        ("queue_wait", {"job_id": "a\0"}, "The scope's job_id is a text"),
        ("queue_wait", {"job_id": 2**63}, "The scope's job_id is a text"),
        ("queue_wait", {}, "at least one of job_id"),
        ("queue_wait", {"job_id": "j4", "slots": "9"}, "slots is no key of the scope of queue_wait, which has job_id"),
        ("refund_exposure", {"since": "2026-05-01T00:00:00Z"}, ""),
        ("refund_exposure", {"since": "2026-05-01"}, "The scope's since is a moment"),
        ("refund_exposure", {"since": "now"}, "The scope's since is a moment"),
    ],
)
def test_a_scope_has_the_keys_that_are_registered(name: str, scope: dict[str, Any], sentence: str) -> None:
    found = scoping.misfit(version(name), scope)
    assert sentence in found
    assert bool(sentence) == bool(found)
