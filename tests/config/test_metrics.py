"""The numbers for monitors: right, bounded, and for the token's holder alone."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from audit import heartbeats, relay
from audit.models import Definition, Outbox
from evidence import durations
from evidence.models import CallTotal
from gate.config import metrics
from gate.triage.models import Draft, Incident, Investigation

TOKEN = "a token of thirty-two characters"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["people", "agents"])
def plane(request: Any, settings: Any, as_role: Any) -> Client:
    settings.METRICS_TOKEN = TOKEN
    settings.PROCESS = request.param
    settings.ROOT_URLCONF = f"gate.config.urls_{request.param}"
    if request.param == "agents":
        settings.MIDDLEWARE = settings.AGENTS_MIDDLEWARE
    as_role(request.param)
    return Client()


def get(plane: Client, token: str = TOKEN) -> Any:
    return plane.get("/metrics", headers={"Authorization": f"Bearer {token}"})


def numbers(plane: Client) -> dict[tuple[str, ...], float]:
    answer = get(plane)
    assert answer.status_code == 200, answer.content
    samples = [
        sample for family in text_string_to_metric_families(answer.content.decode()) for sample in family.samples
    ]
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def test_without_a_configured_token_there_is_no_such_page(plane: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    for token in ("", TOKEN, "None"):
        assert get(plane, token).status_code == 404


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer é"])
def test_without_the_token_nothing_is_shown(plane: Client, header: str) -> None:
    answer = plane.get("/metrics", headers={"Authorization": header} if header else {})
    assert (answer.status_code, answer.content) == (401, b"")


def test_a_signed_in_person_needs_the_token_too(plane: Client, make_person: Any, as_role: Any) -> None:
    as_role("owner")
    client = Client()
    client.force_login(make_person("mia", "admin"))
    assert client.get("/metrics").status_code == 401


def test_waiting_jobs_are_counted_by_queue(plane: Client, as_role: Any) -> None:
    before = numbers(plane)
    assert before["counterseal_outbox_jobs", "writes", "unsent"] == 0
    as_role("owner")
    Outbox.objects.create(task="gate.x", queue="writes", subject_id=1)
    Outbox.objects.create(task="gate.x", queue="writes", subject_id=2, sent_at=timezone.now())
    Outbox.objects.create(task="gate.x", queue="writes", subject_id=3, done_at=timezone.now())
    Outbox.objects.update(created_at=timezone.now() - timedelta(seconds=90))
    found = numbers(plane)
    assert found["counterseal_outbox_jobs", "writes", "unsent"] == 1
    assert found["counterseal_outbox_jobs", "writes", "sent"] == 1
    assert found["counterseal_outbox_oldest_seconds", "writes"] == pytest.approx(90, abs=20)
    assert found["counterseal_outbox_oldest_seconds", "verdicts"] == 0


def test_heartbeats_age(plane: Client, as_role: Any) -> None:
    as_role("owner")
    heartbeats.beat(relay.NAME)
    heartbeats.beat("worker writer")
    found = numbers(plane)
    assert 0 <= found["counterseal_heartbeat_age_seconds", "relay"] < 20
    assert 0 <= found["counterseal_heartbeat_age_seconds", "worker writer"] < 20


def test_it_tells_of_its_own_process(plane: Client, settings: Any) -> None:
    found = numbers(plane)
    assert found["counterseal_process_info", settings.PROCESS] == 1
    assert found["process_resident_memory_bytes",] > 1_000_000


def test_open_writes_are_counted_by_state(plane: Client) -> None:
    found = numbers(plane)
    assert {name[1] for name in found if name[0] == "counterseal_writes"} == {
        "proposed", "waiting", "approved", "executing", "unknown",
    }  # fmt: skip


@pytest.fixture
def two_drafts(make_agent: Any, as_role: Any) -> None:
    as_role("owner")
    agent, _ = make_agent()
    now = timezone.now()
    its_class = Definition.objects.create(
        kind="class", name="job_failed", version=1, body={}, digest="d", reason="r", drafted_by=agent.owner
    )
    for number, seconds in enumerate((1, 9)):
        incident = Incident.objects.create(
            kind="incident", incident_class=its_class, dedup_key=str(number), began_at=now, watch_from=now, subject={}
        )
        investigation = Investigation.objects.create(
            incident=incident, agent=agent, status="decided", briefing={}, budget_calls=1, deadline_at=now,
            submitted_at=now - timedelta(seconds=seconds),
        )  # fmt: skip
        Draft.objects.create(
            investigation=investigation, outcome="fail", rule="r", checks=[], reasons=[], receipt={}, decided_at=now
        )


def test_how_long_verdicts_take_is_told_to_people_alone(
    two_drafts: None, plane: Client, settings: Any, as_role: Any
) -> None:
    as_role(settings.PROCESS)
    found = {name[1]: value for name, value in numbers(plane).items() if "latency" in name[0]}
    if settings.PROCESS == "agents":
        assert found == {}
        return
    assert found["1.0"] == pytest.approx(9, abs=1)


def test_a_database_that_is_away_is_told_and_not_an_error(plane: Client) -> None:
    connection.close()
    kept, connection.settings_dict["HOST"] = connection.settings_dict["HOST"], "/nowhere"
    try:
        found = numbers(plane)
    finally:
        connection.settings_dict["HOST"] = kept
    assert found["counterseal_database_up",] == 0
    assert not [name for name in found if "outbox" in name[0]]


def test_no_question_goes_to_the_log(plane: Client) -> None:
    with CaptureQueriesContext(connection) as asked:
        numbers(plane)
    questions = [query["sql"] for query in asked if query["sql"].startswith("SELECT")]
    assert 4 <= len(questions) <= 5
    assert not [one for one in questions if "audit_entry" in one or "audit_payload" in one]
    for one in questions:
        is_bounded = (
            "LIMIT" in one
            or "heartbeat" in one
            or "IN ('proposed', 'waiting', " in one
            or '"gave_up_at" IS NULL' in one
        )
        assert is_bounded, one


def test_quantiles() -> None:
    assert metrics._quantile([1.0], 0.5) == 1.0
    assert [metrics._quantile([float(n) for n in range(100)], q) for q in metrics.QUANTILES] == [50.0, 95.0, 99.0]


def test_stray_rows_of_the_log_are_counted(plane: Client) -> None:
    assert numbers(plane)[("counterseal_default_partition_rows",)] == 0


def test_calls_are_counted_by_tool_and_source(plane: Client, as_role: Any, settings: Any) -> None:
    as_role("owner")
    counts = durations.none()
    counts[durations.place(3)], counts[durations.place(20_000)] = 4, 1
    CallTotal.objects.create(
        tool="find_job", source="shop", outcome="ok", code="", calls=5, milliseconds=20_012, durations=counts
    )
    CallTotal.objects.create(
        tool="find_job", source="shop", outcome="refused", code="rate_limited", calls=7, milliseconds=0,
        durations=durations.none(),
    )  # fmt: skip
    as_role(settings.PROCESS)
    found = numbers(plane)  # by the labels' names in the order of the alphabet
    assert found["counterseal_calls_total", "ok", "shop", "find_job"] == 5
    assert found["counterseal_calls_total", "refused", "shop", "find_job"] == 7
    assert found["counterseal_calls_turned_down_total", "rate_limited", "refused", "shop", "find_job"] == 7
    took = "counterseal_call_duration_seconds"
    assert found[f"{took}_bucket", "0.003", "shop", "find_job"] == 4
    assert found[f"{took}_bucket", "10", "shop", "find_job"] == 4
    assert (found[f"{took}_bucket", "+Inf", "shop", "find_job"], found[f"{took}_sum", "shop", "find_job"]) == (
        5,
        20.012,
    )
