"""Golden values of the shop's metrics, read by the reads worker for a person: recorded, and held against exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from audit import twohands
from audit.models import Definition, Entry, Outbox
from audit.refusing import why_not
from evidence import metric_answering, metric_asks, proof, tasks
from evidence.errors import Refused
from evidence.metrics import serving
from evidence.models import MetricAsk, WrittenRead
from gate.demo import definitions, metrics, shop

pytestmark = pytest.mark.django_db
COST = metrics.bodies()["failed_job_cost"]


@pytest.fixture
def source(define: Callable[..., Any], shop_dsn: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Definition:
    """The shop, with its prices in force."""
    monkeypatch.setenv("SHOP_READER_DSN", shop_dsn(shop.READER))
    monkeypatch.setenv("SHOP_DOCTOR_DSN", shop_dsn(shop.DOCTOR))
    define("valuation", metrics.PRICES, metrics.PRICE_TABLE)
    return define("source", "shop", definitions.source().body)  # type: ignore[no-any-return]


def drafted(source: Definition, name: str, body: dict[str, Any]) -> Definition:
    return twohands.draft("metric", name, body, by=source.drafted_by, reason="for a test")


def answered(version: Definition, by: Any) -> MetricAsk:
    """A run of its golden values, as the job of the reads worker leaves it."""
    asked = metric_asks.ask(version, "golden", {}, by=by)
    tasks.answer_metric(Outbox.objects.get(task=metric_asks.TASK, subject_id=asked.pk).pk)
    asked.refresh_from_db()
    return asked


def entries(asked: MetricAsk) -> list[Entry]:
    subject = f"metric {asked.version.name} v{asked.version.version}"
    return list(Entry.objects.filter(subject=subject, kind__startswith="call.").order_by("seq"))


def test_the_shops_metrics_give_their_golden_values_and_each_read_is_an_entry(source: Definition) -> None:
    proof.certify(source)
    for name, body in metrics.bodies().items():
        version = drafted(source, name, body)
        asked = answered(version, source.drafted_by)
        assert asked.problem == ""
        assert [line["matches"] for line in asked.answer["golden"]] == [True] * len(body["golden"]), asked.answer
        assert why_not(lambda version=version: twohands.check_can_activate(version, source.activated_by)) == ""
        calls = entries(asked)[-2 * len(body["golden"]) :]
        assert [call.kind for call in calls] == ["call.started", "call.finished"] * len(body["golden"])
        finished = calls[-1]
        assert f"A-{finished.seq}" == asked.audit_id
        assert (finished.actor_kind, finished.actor) == ("person", "First-Hand")
        assert (finished.tool, finished.tool_version, finished.tool_hash) == ("explain_metric", 1, version.digest)
        assert (finished.source, finished.status) == ("shop", "ok")


def test_a_wrong_golden_value_is_found_by_the_read_and_not_by_what_is_claimed(source: Definition) -> None:
    proof.certify(source)
    wrong = [{**one, "value": "28.331"} if one["status"] == "resolved" else one for one in COST["golden"]]
    version = drafted(source, "failed_job_cost", {**COST, "golden": wrong})
    asked = answered(version, source.drafted_by)
    (line,) = (one for one in asked.answer["golden"] if one["expected_status"] == "resolved")
    assert (line["expected"], line["found"], line["found_status"], line["matches"]) == (
        "28.331", "28.33", "resolved", False,
    )  # fmt: skip
    refusal = why_not(lambda: twohands.check_can_activate(version, source.activated_by))
    assert "gives 28.33 (resolved); the golden value is 28.331 (resolved)." in refusal


def test_a_source_that_is_not_proven_answers_nothing_and_that_is_recorded(source: Definition) -> None:
    version = drafted(source, "failed_job_cost", COST)
    asked = answered(version, source.drafted_by)
    assert {line["matches"] for line in asked.answer["golden"]} == {False}
    assert "shop" in asked.answer["golden"][0]["problem"]
    assert [call.kind for call in entries(asked)[-2:]] == ["call.refused"] * 2
    assert "could not be read" in why_not(lambda: twohands.check_can_activate(version, source.activated_by))


def test_the_first_answer_stays_however_often_the_job_runs(source: Definition, monkeypatch: pytest.MonkeyPatch) -> None:
    proof.certify(source)
    version = drafted(source, "failed_job_cost", COST)
    asked = answered(version, source.drafted_by)
    monkeypatch.setattr(serving, "answer", lambda *args, **more: pytest.fail("It was read again."))
    metric_answering.answer(asked.pk)
    again = MetricAsk.objects.get(pk=asked.pk)
    assert (again.answer, again.answered_at) == (asked.answer, asked.answered_at)


def test_a_read_that_wrote_darkens_the_source(source: Definition, monkeypatch: pytest.MonkeyPatch) -> None:
    proof.certify(source)

    def wrote(*args: Any, **more: Any) -> Any:
        raise Refused("wrote", "Something wrote during the read.")

    monkeypatch.setattr(serving, "answer", wrote)
    version = drafted(source, "failed_job_cost", COST)
    asked = metric_asks.ask(version, "explain", {"scope": COST["golden"][0]["scope"]}, by=source.drafted_by)
    metric_answering.answer(asked.pk)
    asked.refresh_from_db()
    assert (asked.answer, asked.problem) == (None, "Something wrote during the read.")
    assert WrittenRead.objects.get().during == asked.audit_id
    assert entries(asked)[-1].status == "failed"
