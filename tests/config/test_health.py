from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit import heartbeats, relay, retention
from audit.models import Heartbeat, Outbox

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["people", "agents"])
def plane(request: Any, settings: Any, as_role: Any) -> Client:
    heartbeats.beat(relay.NAME)
    settings.ROOT_URLCONF = f"gate.config.urls_{request.param}"
    if request.param == "agents":
        settings.MIDDLEWARE = settings.AGENTS_MIDDLEWARE
    as_role(request.param)
    return Client()


def test_it_is_well_without_signing_in(plane: Client) -> None:
    answer = plane.get("/healthz")
    assert answer.status_code == 200, answer.content
    assert answer.json()["ok"] is True


def test_it_is_not_well_without_the_relay(plane: Client, as_role: Any) -> None:
    as_role("owner")
    Heartbeat.objects.update(at=timezone.now() - timedelta(minutes=2))
    answer = plane.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["wrong"] == ["The relay was last seen 120 s ago."]


def test_it_is_not_well_while_jobs_wait(plane: Client, as_role: Any) -> None:
    as_role("owner")
    Outbox.objects.create(task="gate.x", queue="verdicts", subject_id=1)
    Outbox.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    answer = plane.get("/healthz")
    assert answer.status_code == 503
    assert "waited 60 s" in answer.json()["wrong"][0]


def test_it_is_not_well_without_the_database(plane: Client) -> None:
    from django.db import connection

    connection.close()
    kept, connection.settings_dict["HOST"] = connection.settings_dict["HOST"], "/nowhere"
    try:
        answer = plane.get("/healthz")
    finally:
        connection.settings_dict["HOST"] = kept
    assert (answer.status_code, answer.json()["ok"]) == (503, False)


def test_stray_rows_of_the_log_are_said_and_keep_nobody_away(plane: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plane.get("/healthz").json()["default_partition_rows"] == 0
    monkeypatch.setattr(retention, "default_rows", lambda: 3)
    answer = plane.get("/healthz")
    assert answer.status_code == 200
    assert answer.json()["warnings"] == [retention.default_sentence(3)]


def test_it_is_read_only(plane: Client) -> None:
    assert plane.post("/healthz").status_code in (403, 405)
