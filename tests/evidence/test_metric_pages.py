"""The pages of metrics: what they show of answers, who asks what, and that what is not known is never a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit import twohands
from audit.models import Definition, Outbox
from evidence import metric_list, metric_page
from evidence.models import MetricAsk
from tests.evidence.metrics import asked, examples
from tests.evidence.metrics.asked import SCOPE, at, put

pytestmark = [pytest.mark.django_db, pytest.mark.urls("gate.config.urls_people")]
VALUE = {"scope": SCOPE, "decomposition": "by_cost_kind"}
PAGE = "/metrics/failed_job_cost/"
OWNER = f">{examples.FAILED_JOB_COST['owner']}<"


@pytest.fixture
def ada(make_person: Any) -> Any:
    return make_person("ada", "viewer")


@pytest.fixture
def browser(ada: Any) -> Client:
    client = Client()
    client.force_login(ada)
    return client


@pytest.fixture
def cost(define: Callable[..., Definition]) -> Definition:
    return asked.cost_in_force(define)


@pytest.fixture
def at_400(cost: Definition, ada: Any) -> MetricAsk:
    return put(cost, "explain", VALUE, ada, 400, asked.explained(cost, 400))


def text(answer: Any) -> str:
    return str(answer.content.decode())


def seen(browser: Client, address: str = PAGE) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200
    return text(answer)


def test_a_list_without_metrics_says_what_one_is(browser: Client) -> None:
    assert "No metric yet." in seen(browser, "/metrics/")


def test_the_list_shows_what_each_means_and_what_it_came_to_last(browser: Client, at_400: MetricAsk) -> None:
    page = seen(browser, "/metrics/")
    for words in ("Cost of failed attempts and lost jobs", "EUR", OWNER, "28.33", "resolved", ">shop<"):
        assert words in page


def test_a_value_that_is_not_known_is_no_number_in_the_list(browser: Client, cost: Definition, ada: Any) -> None:
    put(cost, "explain", VALUE, ada, 100, asked.unknown(cost, 100))
    assert ">not known</a>" in seen(browser, "/metrics/")


def test_the_list_goes_on_behind_a_name(
    browser: Client, cost: Definition, define: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    define("metric", "refund_exposure", examples.REFUND_EXPOSURE)
    monkeypatch.setattr(metric_list, "MOST", 1)
    first = seen(browser, "/metrics/")
    assert "refund_exposure" not in first
    assert 'href="?after=failed_job_cost"' in first
    second = seen(browser, "/metrics/?after=failed_job_cost")
    assert "refund_exposure" in second
    assert "?after=" not in second


def test_the_list_takes_as_many_queries_for_four_as_for_one(
    browser: Client, cost: Definition, define: Any, ada: Any
) -> None:
    put(cost, "explain", VALUE, ada, 400, asked.explained(cost, 400))
    with CaptureQueriesContext(connection) as one:
        metric_list.listed()
    for name in ("refund_exposure", "queue_wait"):
        put(define("metric", name, examples.EXAMPLES[name]), "explain", VALUE, ada, 400, asked.explained(cost, 400))
    with CaptureQueriesContext(connection) as three:
        assert [line.last is not None for line in metric_list.listed().lines] == [True] * 3
    assert len(three) == len(one) == 3


def test_the_page_takes_a_value_apart(browser: Client, at_400: MetricAsk) -> None:
    page = seen(browser)
    for words in (
        "28.33 EUR", "adds up exactly, nothing left over", "wasted_compute", "88.2 %", "Resolved", "prices@1",
        "A-48216",
        "A-48215", "accounting does not establish causality", OWNER, 'class="whole"', "vis_attempt_end",
        "failed_job_cost is 28.33 EUR, made of wasted_compute 0.33, delay_penalty 3, permanent_loss 25",
    ):  # fmt: skip
        assert words in page, words
    assert "style=" not in page


def test_what_is_not_known_is_said_and_nothing_is_drawn(browser: Client, cost: Definition, ada: Any) -> None:
    put(cost, "explain", VALUE, ada, 100, asked.unknown(cost, 100))
    page = seen(browser)
    value = page[page.index('id="value"') : page.index('id="what-if"')]
    assert "<b>not known</b>" in value
    assert "No row was there. That is not known, and it is not 0." in value
    assert "<svg" not in value
    assert "0 EUR" not in value


def test_what_became_known_later_stands_beside_it(browser: Client, at_400: MetricAsk, ada: Any) -> None:
    put(at_400.version, "explain", VALUE, ada, 200, asked.explained(at_400.version, 200))
    page = seen(browser, f"{PAGE}?ask={at_400.pk}")
    later = page[page.index('id="later"') : page.index('id="trace"')]
    assert "+28.05 became known later" in later
    assert "partial" in later
    assert "+25 " not in later
    components = later[later.index("by component") :]
    assert "permanent_loss" in components
    assert ">25<" in components


def test_another_way_of_the_same_value_stands_below_it(browser: Client, at_400: MetricAsk, ada: Any) -> None:
    by_job = asked.explained(at_400.version, 400, "by_job")
    put(at_400.version, "explain", {**VALUE, "decomposition": "by_job"}, ada, 400, by_job)
    page = seen(browser, f"{PAGE}?ask={at_400.pk}")
    assert page.index("88.2 %") < page.index("by_job, partition") < page.index("25.15")


def test_a_trace_shows_its_gaps_and_that_it_was_cut(browser: Client, at_400: MetricAsk, ada: Any) -> None:
    arguments = {"scope": SCOPE, "event": "ReadTimeout"}
    put(at_400.version, "trace_event", arguments, ada, 400, asked.traced(at_400.version))
    page = seen(browser)
    for words in (
        "Nothing was recorded for 2 to 3.",
        "The trace was cut here, after 3 rows.",
        "was not read. The gap is not filled.",
        "00:00:40",
        "1 May 2026",
    ):
        assert words in page, words


def test_what_if_shows_its_bounds_or_why_it_is_not_known(browser: Client, at_400: MetricAsk, ada: Any) -> None:
    told = {
        "2": ("50.28 EUR", "21.95 more than recorded", "50.28 to 50.28", "Held fixed", "freed slots are not credited"),
        "3": ("the same as recorded",),
        "5": ("Condition 6", "<b>not known</b>"),
    }
    for value, words in told.items():
        arguments = {"scope": SCOPE, "variable": "max_attempts", "value": value}
        put(at_400.version, "compare", arguments, ada, 400, asked.compared(at_400.version, value))
        page = seen(browser)
        panel = page[page.index('id="what-if"') : page.index('id="provenance"')]
        assert [said for said in words if said not in panel] == []


def test_what_an_answer_quotes_is_never_markup(browser: Client, at_400: MetricAsk, ada: Any) -> None:
    """Names of components come from the source's rows, which customers may have written."""
    evil = "<script>alert(1)</script>"
    answer = asked.explained(at_400.version, 400)
    answer["components"][0]["name"] = evil
    put(at_400.version, "explain", VALUE, ada, 400, answer)
    put(at_400.version, "trace_event", {"scope": SCOPE, "event": evil}, ada, 400, problem=evil)
    page = seen(browser)
    assert evil not in page
    assert page.count("&lt;script&gt;") >= 3


def test_an_answer_of_another_shape_breaks_no_page(browser: Client, cost: Definition, ada: Any) -> None:
    put(cost, "explain", VALUE, ada, 400, {"rows": []})
    assert "Its answer cannot be read here." in seen(browser)


# Asking


def test_a_question_waits_and_then_is_its_answer(browser: Client, cost: Definition) -> None:
    posted = {"version": "1", "scope-job_kind": "payout", "decomposition": "by_job"}
    answer = browser.post(f"{PAGE}asks/", posted)
    ask = MetricAsk.objects.get(kind="explain")
    assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}?ask={ask.pk}")
    assert Outbox.objects.filter(task="evidence.tasks.answer_metric", subject_id=ask.pk).exists()
    assert ask.arguments == {"scope": SCOPE, "decomposition": "by_job"}
    page = seen(browser, f"{PAGE}?ask={ask.pk}")
    fragment = f"{PAGE}asks/{ask.pk}/"
    assert f'hx-get="{fragment}"' in page
    assert "Look again" in page
    assert browser.get(fragment)["Location"] == f"{PAGE}?ask={ask.pk}"
    asks_again = text(browser.get(fragment, headers={"HX-Request": "true"}))
    assert (fragment in asks_again, "<html" in asks_again) == (True, False)
    MetricAsk.objects.filter(pk=ask.pk).update(answer=asked.explained(cost, 400, "by_job"), answered_at=at(400))
    done = text(browser.get(fragment, headers={"HX-Request": "true"}))
    assert "28.33 EUR" in done
    assert fragment not in done
    assert [f'id="{name}" hx-swap-oob="true"' in done for name in ("standing", "provenance", "asked")] == [True] * 3


def test_a_question_may_be_about_a_moment_that_is_over(browser: Client, cost: Definition) -> None:
    posted = {"version": "1", "scope-job_kind": "payout", "decomposition": "by_job"}
    browser.post(f"{PAGE}asks/", {**posted, "decision_point": "2026-05-01T00:06:40Z"})
    assert MetricAsk.objects.get(kind="explain").decision_point == at(400)
    for moment, words in (
        ("2999-01-01T00:00:00Z", "not there yet"), ("2026-05-01T00:00:00", "no zone"), ("soon", "no moment"),
        ("0001-01-01T00:00:00+14:00", "none in UTC"),
    ):  # fmt: skip
        answer = browser.post(f"{PAGE}asks/", {**posted, "decision_point": moment})
        assert answer.status_code == 422
        assert words in text(answer)
        assert f'value="{moment}"' in text(answer)
    assert MetricAsk.objects.filter(kind="explain").count() == 1


def test_whoever_may_look_at_the_log_asks_and_nobody_else(at_400: MetricAsk, make_person: Any) -> None:
    addresses = ("/metrics/", PAGE, f"{PAGE}asks/{at_400.pk}/")
    stranger = Client()
    for address in addresses:
        assert stranger.get(address)["Location"].startswith("/sign-in/?next=")
    assert stranger.post(f"{PAGE}asks/", {"version": "1"})["Location"].startswith("/sign-in/")
    client = Client()
    client.force_login(make_person("ines", "auditor"))
    assert [client.get(address).status_code for address in addresses] == [200, 200, 302]
    posted = {"version": "1", "scope-job_kind": "payout", "decomposition": "by_job"}
    assert client.post(f"{PAGE}asks/", posted).status_code == 302
    assert [client.put(address).status_code for address in addresses] == [405] * 3


def test_only_an_admin_is_offered_a_draft(browser: Client, at_400: MetricAsk, make_person: Any) -> None:
    admin = Client()
    admin.force_login(make_person("mia", "admin"))
    for address, words in (("/metrics/", "Draft a metric"), (PAGE, "Draft a change")):
        assert words not in seen(browser, address)
        assert words in seen(admin, address)


def test_too_many_questions_at_once_are_refused_with_a_sentence(browser: Client, at_400: MetricAsk, ada: Any) -> None:
    for _ in range(8):
        put(at_400.version, "explain", VALUE, ada, 400)
    posted = {"version": "1", "scope-job_kind": "payout", "decomposition": "by_job"}
    answer = browser.post(f"{PAGE}asks/", posted)
    assert answer.status_code == 409
    assert "Nothing was asked." in text(answer)
    assert 'value="payout"' in text(answer)


def test_a_scope_that_the_version_does_not_have_is_not_asked(browser: Client, cost: Definition) -> None:
    answer = browser.post(f"{PAGE}asks/", {"version": "1", "decomposition": "by_job"})
    assert answer.status_code == 422
    assert "The scope says at least one of job_kind." in text(answer)
    assert not MetricAsk.objects.filter(kind="explain").exists()


def test_what_follows_from_a_value_keeps_its_scope_and_moment(browser: Client, at_400: MetricAsk) -> None:
    posted = {"kind": "compare", "of": str(at_400.pk), "variable": "max_attempts", "value": "2"}
    assert browser.post(f"{PAGE}asks/", posted).status_code == 302
    ask = MetricAsk.objects.get(kind="compare")
    assert (ask.version, ask.decision_point) == (at_400.version, at_400.decision_point)
    assert ask.arguments == {"scope": SCOPE, "variable": "max_attempts", "value": "2"}


def test_half_a_question_is_none(browser: Client, at_400: MetricAsk) -> None:
    own = {"of": str(at_400.pk)}
    halves: list[dict[str, str]] = [
        {"kind": "compare", "variable": "max_attempts", "value": "2"},
        {"kind": "compare", "of": "999999", "variable": "max_attempts", "value": "2"},
        {"kind": "compare", **own, "variable": "max_attempts"},
        {"kind": "golden"},
        {},
    ]
    assert [browser.post(f"{PAGE}asks/", half).status_code for half in halves] == [422, 404, 422, 404, 404]
    assert MetricAsk.objects.exclude(kind="golden").count() == 1


def test_a_trace_that_does_not_say_of_what_each_row_is_is_not_asked_of_one_thing(
    browser: Client, define: Callable[..., Definition], ada: Any
) -> None:
    nameless = """select a.started_at as at, a.recorded_at, a.id, a.slot as actor, 'started' as what,
        'attempt' as relation from vis_attempt a where a.recorded_at <= :decision_point"""
    cost = asked.cost_in_force(define, trace_hook=nameless)
    of = put(cost, "explain", VALUE, ada, 400, asked.explained(cost, 400))
    posted = {"kind": "trace_entity", "of": str(of.pk), "entity": "j1"}
    assert browser.post(f"{PAGE}asks/", posted).status_code == 422


def test_a_question_of_another_metric_is_not_shown(browser: Client, at_400: MetricAsk, define: Any, ada: Any) -> None:
    define("metric", "refund_exposure", examples.REFUND_EXPOSURE)
    for address in (f"/metrics/refund_exposure/?ask={at_400.pk}", f"/metrics/refund_exposure/asks/{at_400.pk}/"):
        assert browser.get(address).status_code == 404
    golden = MetricAsk.objects.filter(kind="golden").first()
    assert golden is not None
    assert browser.get(f"{PAGE}?ask={golden.pk}").status_code == 404


def test_questions_go_on_before_a_number(
    browser: Client, at_400: MetricAsk, ada: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metric_page, "MOST_ASKS", 2)
    asks = [at_400, *(put(at_400.version, "explain", VALUE, ada, 400 + step) for step in (1, 2))]
    page = seen(browser, f"{PAGE}?ask={at_400.pk}")
    assert f"before={asks[1].pk}#asked" in page
    older = seen(browser, f"{PAGE}?ask={at_400.pk}&before={asks[1].pk}")
    listed = older[older.index('id="asked"') :]
    assert f'?ask={asks[0].pk}"' in listed
    assert f'?ask={asks[2].pk}"' not in listed


def test_the_page_takes_as_many_queries_for_many_questions_as_for_few(
    browser: Client, at_400: MetricAsk, ada: Any
) -> None:
    put(at_400.version, "explain", VALUE, ada, 200, asked.explained(at_400.version, 200))
    with CaptureQueriesContext(connection) as few:
        seen(browser, f"{PAGE}?ask={at_400.pk}")
    for moment in (201, 202, 203):
        put(at_400.version, "explain", VALUE, ada, moment, asked.explained(at_400.version, 200))
    with CaptureQueriesContext(connection) as many:
        seen(browser, f"{PAGE}?ask={at_400.pk}")
    assert len(many) == len(few)


def test_a_draft_says_that_it_is_none_in_force(browser: Client, at_400: MetricAsk, make_person: Any) -> None:
    mia = make_person("mia", "admin")
    body = {**at_400.version.body, "limitations": ["slots that are freed are not credited"]}
    draft = twohands.draft("metric", "failed_job_cost", body, by=mia, reason="It says more.")
    ask = put(draft, "explain", VALUE, mia, 400, asked.explained(draft, 400))
    page = seen(browser, f"{PAGE}?ask={ask.pk}")
    assert "Version 2 is a draft" in page
    assert "In force is version 1" in page
    assert "Change against version 1" in page
    assert "◌ version 2" in seen(browser, "/metrics/")
