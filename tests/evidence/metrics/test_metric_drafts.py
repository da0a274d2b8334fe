"""The pages on which metrics and prices are drafted: fields, findings, golden values, and whose hand does what."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit import twohands
from audit.models import Definition
from evidence.metrics import registry
from evidence.models import MetricAsk
from evidence.valuation_forms import PriceForm, ValuationForm, initial_of
from tests.earned import as_golden
from tests.evidence.metrics import examples
from tests.evidence.metrics.test_metric_forms import typed

pytestmark = [pytest.mark.django_db, pytest.mark.urls("gate.config.urls_people")]
COST = {**examples.FAILED_JOB_COST, "valuation": "prices@1"}
WAIT = examples.QUEUE_WAIT
HTMX = {"HX-Request": "true"}
Make = Callable[..., Any]


def signed_in(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def drafting(ada: Any) -> Client:
    return signed_in(ada)


@pytest.fixture
def seconding(mia: Any) -> Client:
    return signed_in(mia)


def text(answer: Any) -> str:
    return str(answer.content.decode())


def test_one_drafts_runs_the_golden_values_and_another_activates(drafting: Client, seconding: Client, ada: Any) -> None:
    drafted = drafting.post("/metrics/new/", typed(COST))
    page = "/metrics/failed_job_cost/versions/1/"
    assert (drafted.status_code, drafted["Location"]) == (302, page)
    shown = text(drafting.get(page))
    for words in ("not run yet", "Run the golden values", "28.33", "You drafted this version", "nothing found"):
        assert words in shown
    assert "have not been run" in text(seconding.get(page))
    assert seconding.post(f"{page}activation/").status_code == 409
    assert drafting.post(f"{page}golden/").status_code == 302
    asked = MetricAsk.objects.get()
    assert (asked.kind, asked.version_id, asked.asked_by) == ("golden", Definition.objects.get(kind="metric").pk, ada)
    assert "are being run" in text(seconding.get(page))
    as_golden(asked.version, ada)
    assert "all hold" in text(seconding.get(page))
    assert drafting.post(f"{page}activation/").status_code == 409
    assert seconding.post(f"{page}activation/").status_code == 302
    assert registry.active("failed_job_cost") is not None


def test_a_golden_value_that_is_missed_is_shown_beside_what_was_found(drafting: Client, ada: Any) -> None:
    version = twohands.draft("metric", "queue_wait", WAIT, by=ada, reason="for a test")
    asked = as_golden(version, ada)
    asked.answer["golden"][0] |= {"found": "27", "found_status": "partial", "matches": False, "audit_id": "A-77"}  # type: ignore[index]
    asked.save()
    shown = text(drafting.get("/metrics/queue_wait/versions/1/golden/", headers=HTMX))
    for words in ("1 value not given", "differs", ">25<", ">27<", "partial", "/audit/77/"):
        assert words in shown
    assert "hx-trigger" not in shown
    MetricAsk.objects.update(answered_at=None, answer=None)
    running = text(drafting.get("/metrics/queue_wait/versions/1/golden/", headers=HTMX))
    assert 'hx-trigger="every 1s"' in running
    assert "Run the golden values" not in running


def test_a_policy_is_not_drafted_and_what_was_typed_stays(drafting: Client) -> None:
    refused = drafting.post("/metrics/new/", typed(WAIT, title="Waits that should be shorter", name="queue_wait"))
    assert refused.status_code == 422
    shown = text(refused)
    for words in ("Nothing was drafted.", "“should” says what to do", "Waits that should be shorter", "1 finding"):
        assert words in shown
    assert not Definition.objects.filter(kind="metric").exists()


def test_findings_come_while_one_types_and_draft_nothing(drafting: Client) -> None:
    said = typed(WAIT, act="check", name="queue_wait", formula=WAIT["formula"] + "limit 3")
    fragment = text(drafting.post("/metrics/new/", said, headers=HTMX))
    assert "<b>Formula</b>: “limit" in fragment
    assert "<form" not in fragment
    other = typed(WAIT, act="check", name="queue_wait", source_fields="wait.job_id: key\nwait.recorded_at: instant")
    assert "which source_fields does not name" in text(drafting.post("/metrics/new/", other))
    assert not Definition.objects.filter(kind="metric").exists()


def test_another_row_is_one_more_and_keeps_what_was_typed(drafting: Client) -> None:
    shown = text(drafting.post("/metrics/new/", typed(WAIT, act="more golden", title="Kept")))
    assert 'name="golden-2-fixture"' in shown
    assert 'value="Kept"' in shown
    assert "This field is required" not in shown


def test_a_change_starts_from_what_is_in_force(drafting: Client, define: Make) -> None:
    define("metric", "queue_wait", WAIT)
    shown = text(drafting.get("/metrics/queue_wait/new/"))
    for words in ("by_reason: time_cover of not_due", "job_id = j3", "wait.job_id: key", 'value="5"'):
        assert words in shown
    changed = typed(WAIT, name="queue_wait", limitations="Nothing is known of idle time.")
    assert drafting.post("/metrics/queue_wait/new/", changed)["Location"] == "/metrics/queue_wait/versions/2/"
    assert not re.search(r'name="(golden|variable)-[^>]* required', shown), "an empty row would keep it from being sent"
    assert "Change against version 1" in text(drafting.get("/metrics/queue_wait/versions/2/"))


def test_a_metric_is_retired_with_a_reason(drafting: Client, define: Make) -> None:
    define("metric", "queue_wait", WAIT)
    assert drafting.post("/metrics/queue_wait/versions/1/retirement/").status_code == 422
    assert drafting.post("/metrics/queue_wait/versions/1/retirement/", {"reason": "Gone."}).status_code == 302
    assert registry.active("queue_wait") is None


def test_who_changes_no_definitions_reads_and_no_more(define: Make, shop: Definition, make_person: Make) -> None:
    define("metric", "queue_wait", WAIT)
    viewer = signed_in(make_person("vera", "viewer"))
    page = text(viewer.get("/metrics/queue_wait/versions/1/"))
    assert "Run the golden values" not in page
    assert "/new/" not in page
    for address in ("metrics/new/", "metrics/queue_wait/new/", "valuations/new/", "valuations/prices/new/"):
        assert viewer.get(f"/{address}").status_code == 403
    for act in ("activation", "retirement", "golden"):
        assert viewer.post(f"/metrics/queue_wait/versions/1/{act}/", {"reason": "x"}).status_code == 403, act


# Prices


def priced(body: dict[str, Any], **changes: str) -> dict[str, str]:
    """What somebody types to say a table."""
    said = initial_of(body)
    rows = said.pop("prices")
    posted = {"name": "prices", "reason": "It is needed.", **said, "price-TOTAL_FORMS": str(len(rows) + 2)}
    posted |= {"price-INITIAL_FORMS": "0"}
    posted |= {f"price-{number}-{key}": value for number, one in enumerate(rows) for key, value in one.items()}
    return {**posted, **changes}


def test_what_is_typed_of_a_table_is_what_is_drafted() -> None:
    form = ValuationForm(priced(examples.PRICES))
    assert form.is_valid()
    assert form.body() == examples.PRICES
    assert set(PriceForm.base_fields) == {"kind", "price", "unit", "per", "source"}


def test_a_thing_has_one_price(drafting: Client) -> None:
    twice = priced(examples.PRICES, **{"price-1-kind": "wasted_compute"})
    assert "wasted_compute has a price already." in text(drafting.post("/valuations/prices/new/", twice))


def test_a_new_price_is_a_version_that_another_puts_in_force(drafting: Client, seconding: Client, define: Make) -> None:
    define("metric", "failed_job_cost", COST)
    dearer = priced(examples.PRICES, **{"price-2-price": "90"})
    assert drafting.post("/valuations/prices/new/", dearer)["Location"] == "/valuations/prices/"
    assert drafting.post("/valuations/prices/versions/2/activation/").status_code == 409
    assert seconding.post("/valuations/prices/versions/2/activation/").status_code == 302
    shown = text(drafting.get("/valuations/prices/"))
    for words in (
        "90 EUR",
        "finance, letter of April 2026",
        "jonas",
        "prices@1",
        "failed_job_cost",
        "prices@2 yet: 1 version.",
    ):
        assert words in shown
    assert "1 metric" in text(drafting.get("/valuations/"))


def test_a_price_without_a_source_is_said_beside_its_row(drafting: Client) -> None:
    refused = drafting.post("/valuations/new/", priced(examples.PRICES, name="other", **{"price-0-source": ""}))
    assert refused.status_code == 422
    assert 'id="price-0-source-err"' in text(refused)
