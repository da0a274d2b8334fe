"""A metric that a draft rests on stands in its evidence with its value, its parts, and how far it is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from audit import log
from audit.kinds import Kind
from audit.models import Definition
from gate.triage.models import Draft, Finding
from tests.evidence.metrics import asked
from tests.gate.conftest import make_draft as make_draft

pytestmark = pytest.mark.django_db
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def desk(client: Client, make_person: Any) -> Client:
    """Ada's browser."""
    client.force_login(make_person("ada", "on_call"))
    return client


@pytest.fixture
def cost(define: Callable[..., Definition]) -> Definition:
    return asked.cost_in_force(define)


def cited(draft: Draft, tool: str, result: dict[str, Any], status: str = "ok") -> None:
    """Have the draft's agent cite a recorded call with this result."""
    investigation = draft.investigation
    call = log.record(
        Kind.CALL_FINISHED, log.Actor("agent", "triage-agent", "mia"), call_id=uuid4(), tool=tool, args={},
        result=result, status=status, incident_id=investigation.incident_id, run_id=str(investigation.pk),
    )  # fmt: skip
    position = investigation.findings.count() + 1
    Finding.objects.create(investigation=investigation, position=position, fact="cost_is_known", audit_id=call.ref)


def page_of(desk: Client, draft: Draft) -> str:
    return str(desk.get(f"/drafts/{draft.pk}/").content.decode())


def test_a_cited_metric_shows_its_value_its_parts_and_its_version(
    desk: Client, make_draft: Any, cost: Definition
) -> None:
    draft = make_draft()
    cited(draft, "explain_metric", asked.explained(cost, 200))
    page = page_of(desk, draft)
    for words in (
        "<b>0.28 EUR</b>", "partial", "Something is still open: more may come of it.", "wasted_compute", "100.0 %",
        'href="/metrics/failed_job_cost/#v1"', "prices prices@1",
    ):  # fmt: skip
        assert words in page, words


def test_a_cited_metric_that_is_not_known_shows_no_number(desk: Client, make_draft: Any, cost: Definition) -> None:
    draft = make_draft()
    cited(draft, "explain_metric", asked.unknown(cost, 100))
    page = page_of(desk, draft)
    assert "<b>not known</b>" in page
    assert "<b>0" not in page


def test_a_cited_counterfactual_and_a_trace_are_told_as_what_they_are(
    desk: Client, make_draft: Any, cost: Definition
) -> None:
    draft = make_draft()
    cited(draft, "compare_bounded_counterfactual", asked.compared(cost, "2"))
    cited(draft, "trace_event", asked.traced(cost))
    page = page_of(desk, draft)
    assert "max_attempts set to 2, 21.95 more than recorded" in page
    assert "Bounds 50.28 to 50.28; held fixed: " in page
    assert "; not modeled: freed slots are not credited to other jobs" in page
    assert "5 lines of a trace" in page


def test_what_is_no_answer_about_a_metric_has_no_panel(desk: Client, make_draft: Any, cost: Definition) -> None:
    draft = make_draft()
    cited(draft, "find_job", {"job": None})
    cited(draft, "explain_metric", {"value": 1})
    cited(draft, "explain_metric", asked.explained(cost, 200), "failed")
    page = page_of(desk, draft)
    assert page.count("<b>explain_metric</b>") == 2
    assert "/metrics/failed_job_cost/" not in page
    assert 'class="tally"' not in page


def test_what_a_source_calls_its_parts_is_never_markup(desk: Client, make_draft: Any, cost: Definition) -> None:
    answer = asked.explained(cost, 400)
    answer["components"][0]["name"] = answer["limitations"][0] = EVIL
    draft = make_draft()
    cited(draft, "explain_metric", answer)
    page = page_of(desk, draft)
    assert EVIL not in page
    assert "&lt;script&gt;" in page


def test_a_metric_that_nobody_could_name_links_nowhere(desk: Client, make_draft: Any, cost: Definition) -> None:
    answer = asked.explained(cost, 400)
    answer["provenance"]["metric_id"] = "../agents"
    draft = make_draft()
    cited(draft, "explain_metric", answer)
    assert desk.get(f"/drafts/{draft.pk}/").status_code == 200
