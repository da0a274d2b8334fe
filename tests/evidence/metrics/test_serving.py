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
from evidence.kinds import KINDS
from evidence.metrics import counterfactual, explaining, instants, registry, scoping, serving
from evidence.metrics.definition import MetricVersion
from evidence.metrics.explaining import Reading
from evidence.metrics.status import Code
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
    monkeypatch.setattr(instants, "check", lambda *about: None)
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
    assert len({answer(kind, version(name), **question) for _ in range(12)}) == 1


def test_of_rows_that_a_limit_left_nothing_is_said_but_that() -> None:
    """Which ones they are is the server's choice."""
    cost = version("failed_job_cost")
    some, others = COSTS[:2], [{**COSTS[2], "is_open": True}, {**COSTS[3], "quantity": None}]
    first, second = (explaining.explain(cost, Reading(rows, is_truncated=True)) for rows in (some, others))
    assert first == second
    assert [reason.code for reason in first.standing.reasons] == [Code.ROW_LIMIT]
    factual = explaining.explain(version("queue_wait"), Reading(examples.WAITS["j4"]))
    worlds = ([examples.QUEUED[0]], [{**examples.QUEUED[1], "has_history": False}])
    one, other = (counterfactual.compare(factual, "slots", "3", Reading(rows, is_truncated=True)) for rows in worlds)
    assert one == other


def traced(kind: str, brought: dict[str, Any], rows: list[dict[str, Any]], **question: Any) -> dict[str, Any]:
    """A trace of failed_job_cost over these rows."""
    brought["vis_attempt"] = rows
    return simplejson.loads(answer(kind, version("failed_job_cost"), scope={"job_kind": "payout"}, **question))  # type: ignore[no-any-return]


def test_a_row_of_nobody_is_of_no_entity_that_is_called_so(brought: dict[str, Any]) -> None:
    rows = [{**EVENTS[0], "entity": None}, {**EVENTS[0], "entity": True}, {**EVENTS[0], "entity": 7}]
    for name in ("None", "True"):
        found = traced("trace_entity", brought, rows, entity=name)
        assert (found["items"], found["reasons"]) == ([], [{"code": "no_rows", "parameters": {}}])
    assert len(traced("trace_entity", brought, rows, entity="7")["items"]) == 1


def test_a_code_that_is_a_number_is_found_as_it_is_shown(brought: dict[str, Any]) -> None:
    found = traced("trace_event", brought, [{**EVENTS[0], "what": 504}, EVENTS[1]], event="504")
    assert [one["what"] for one in found["items"]] == ["504"]


def test_where_something_else_happened_is_no_gap_in_the_trace_of_an_event(brought: dict[str, Any]) -> None:
    rows = [
        {**EVENTS[0], "at": tick, "what": what, "tick": tick, "first_tick": 0, "last_tick": 4}
        for tick, what in enumerate("yxyx")
    ]
    found = traced("trace_event", brought, rows, event="x")
    assert [(one["item"], one.get("at", one.get("since"))) for one in found["items"]] == [
        ("event", 1), ("event", 3), ("gap", 4),
    ]  # fmt: skip
    assert found["reasons"] == [{"code": "gap", "parameters": {"since": "4", "until": "4"}}]
    assert traced("trace_event", brought, rows, event="z")["reasons"] == [{"code": "no_rows", "parameters": {}}]


def test_a_trace_of_one_entity_needs_a_hook_that_says_of_what_its_rows_are() -> None:
    hook = examples.FAILED_JOB_COST["trace_hook"].replace("j.id as entity, ", "")
    of_nobody = version("failed_job_cost", trace_hook=hook)
    with pytest.raises(Problem, match="no trace of one entity"):
        answer("trace_entity", of_nobody, scope={"job_kind": "payout"}, entity="j1")
    with pytest.raises(Problem, match="queue_wait has no trace"):
        answer("trace_event", version("queue_wait"), scope={"job_id": "j4"}, event="x")


def test_a_source_that_became_one_of_another_kind_is_not_read() -> None:
    source = Definition(kind="source", name="scratch", version=2, body=dict(KINDS["prometheus"].source_example))
    with pytest.raises(Problem, match="scratch is a source of the kind prometheus now"):
        serving.answer(
            "explain", version("queue_wait"), {"scope": {"job_id": "j4"}}, AT, source=source, certificate="c", run="r"
        )


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
        ("refund_exposure", {"since": "2026-W18-5T00:00:00Z"}, "The scope's since is a moment"),
        ("refund_exposure", {"since": "2026-05-01x00:00:00Z"}, "The scope's since is a moment"),
        ("refund_exposure", {"since": "0001-01-01T00:00:00+14:00"}, "The scope's since is a moment"),
    ],
)
def test_a_scope_has_the_keys_that_are_registered(name: str, scope: dict[str, Any], sentence: str) -> None:
    found = scoping.misfit(version(name), scope)
    assert sentence in found
    assert bool(sentence) == bool(found)
