"""The person who answers for an agent is told of an alert: once, where mail is on, and the log says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from audit.models import Entry
from evidence.models import AgentAlert
from evidence.monitoring_models import What
from gate.config import smtp
from gate.people import alert_letters
from tests.people import post_office

pytestmark = pytest.mark.django_db
SENTENCE = "37 calls were refused since 10:15 UTC; usual are 0.4 in such a time."


@pytest.fixture
def desk(settings: Any) -> Iterator[Any]:
    with post_office.opened() as (found, port):
        settings.MAIL = smtp.parse(f"smtp://127.0.0.1:{port}", "counterseal@example.org")
        settings.ORIGIN = "https://counterseal.example.org"
        yield found


@pytest.fixture
def owner(make_agent: Any) -> Any:
    agent, _ = make_agent("watched")
    agent.owner.email = "owner@example.org"
    agent.owner.save()
    return agent.owner


@pytest.fixture
def alert(owner: Any) -> AgentAlert:
    return AgentAlert.objects.create(
        agent="watched", what=What.REFUSALS, about="", sentence=SENTENCE, opened_at=timezone.now(),
        true_at=timezone.now(),
    )  # fmt: skip


def test_its_owner_is_told_once(alert: AgentAlert, desk: Any) -> None:
    assert alert_letters.send_due() == 1
    assert alert_letters.send_due() == 0
    (letter,) = desk.letters
    assert (letter["To"], letter["Subject"]) == ("owner@example.org", "An alert about watched")
    text = letter.get_content()
    assert SENTENCE in text
    assert "https://counterseal.example.org/agents/watched/" in text
    entry = Entry.objects.filter(kind="mail.sent", subject="person watched-owner").order_by("-seq")[0]
    assert (entry.actor_kind, entry.summary, entry.status) == ("process", "alert to owner@example.org", "ok")


def test_another_process_that_was_first_is_left_to_it(alert: AgentAlert, desk: Any) -> None:
    assert alert_letters._claim(alert)
    assert not alert_letters._claim(alert)
    assert alert_letters.send_due() == 0
    assert desk.letters == []


@pytest.mark.parametrize("change", ["acknowledged", "over", "no address", "left"])
def test_nobody_is_told_of_what_needs_no_look_or_without_an_address(
    alert: AgentAlert, owner: Any, desk: Any, change: str
) -> None:
    if change in ("acknowledged", "over"):
        AgentAlert.objects.update(state=change)
    owner.email = "" if change == "no address" else owner.email
    owner.is_active = change != "left"
    owner.save()
    assert alert_letters.send_due() == 0
    assert desk.letters == []


def test_a_letter_that_does_not_go_out_is_an_entry_too(alert: AgentAlert, settings: Any) -> None:
    with post_office.opened() as (_, port):
        pass  # nobody is there any more
    settings.MAIL = smtp.parse(f"smtp://127.0.0.1:{port}", "counterseal@example.org")
    assert alert_letters.send_due() == 0
    entry = Entry.objects.filter(kind="mail.failed", subject="person watched-owner").order_by("-seq")[0]
    assert entry.error
