"""The person who answers for an agent is told of an alert: once, however often it takes, and the log says so."""

from __future__ import annotations

import smtplib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from evidence.models import AgentAlert
from evidence.monitoring_models import What
from gate.config import smtp
from gate.people import alert_letters, letters
from gate.people.models import Tally
from tests.people import post_office

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 10, 40, tzinfo=UTC)
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
    assert alert_letters.send_due(NOW) == 1
    assert alert_letters.send_due(NOW) == 0
    (letter,) = desk.letters
    assert (letter["To"], letter["Subject"]) == ("owner@example.org", "An alert about watched")
    text = letter.get_content()
    assert SENTENCE in text
    assert "https://counterseal.example.org/agents/watched/" in text
    entry = Entry.objects.filter(kind="mail.sent", subject="person watched-owner").order_by("-seq")[0]
    assert (entry.actor_kind, entry.summary, entry.status) == ("process", "alert to owner@example.org", "ok")


def test_another_process_that_was_first_is_left_to_it(alert: AgentAlert, desk: Any) -> None:
    assert alert_letters._claim(alert, NOW)
    assert not alert_letters._claim(alert, NOW)
    assert alert_letters.send_due(NOW) == 0
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
    assert alert_letters.send_due(NOW) == 0
    assert desk.letters == []
    alert.refresh_from_db()
    tried = {"no address": "has no e-mail address", "left": "Nobody answers for the agent any more"}
    assert alert.letter == ("given_up" if change in tried else "due")
    assert tried.get(change, "") in alert.letter_why


def stands(alert: AgentAlert) -> tuple[str, int]:
    alert.refresh_from_db()
    return alert.letter, alert.letter_tries


def page(client: Client, make_person: Any) -> str:
    if "_auth_user_id" not in client.session:
        client.force_login(make_person("ada"))
    text = client.get("/agents/watched/").content.decode()
    return " ".join(text[text.index('id="alerts"') : text.index("Calls in the last day")].split())


def tries(alert: AgentAlert) -> list[datetime]:
    """The moments of every try, with each look in between that must do nothing."""
    moments, now = [], NOW
    while stands(alert)[0] == "due":
        alert_letters.send_due(now)
        moments.append(now)
        now, before = alert.letter_at or now, stands(alert)
        if before[0] == "due":
            now = alert.letter_at
            alert_letters.send_due(now - timedelta(seconds=1))
            assert stands(alert) == before
    return moments


def test_a_letter_that_is_not_taken_is_tried_again_and_at_last_given_up(
    alert: AgentAlert, desk: Any, client: Client, make_person: Any
) -> None:
    desk.at_recipient = "451 Come again later"
    alert_letters.send_due(NOW)
    assert stands(alert) == ("due", 1)
    waiting = page(client, make_person)
    assert "Nobody was written to yet" in waiting
    assert "451 Come again later" in waiting
    AgentAlert.objects.update(letter="due", letter_tries=0, letter_at=None)
    Tally.objects.all().delete()  # one person gets six letters in an hour, and by this clock all come in one
    moments = tries(alert)
    assert [(after - before).seconds // 60 for before, after in pairwise(moments)] == [1, 5, 15, 60, 240]
    assert stands(alert) == ("given_up", 6)
    alert_letters.send_due(NOW + timedelta(days=9))
    assert stands(alert) == ("given_up", 6)
    given_up = page(client, make_person)
    assert "Nobody was written to</span>" in given_up
    assert "451 Come again later" in given_up
    client.force_login(make_person("mia", "admin"))
    assert "watched" in client.get("/mail/").content.decode()


def test_a_letter_goes_out_once_the_server_is_back_and_then_never_again(
    alert: AgentAlert, desk: Any, client: Client, make_person: Any
) -> None:
    desk.at_data = "452 The disk is full"
    assert alert_letters.send_due(NOW) == 0
    desk.at_data, desk.letters[:] = "250 OK", []
    assert alert_letters.send_due(NOW + timedelta(minutes=1)) == 1
    assert stands(alert) == ("taken", 2)
    assert alert_letters.send_due(NOW + timedelta(days=9)) == 0
    assert len(desk.letters) == 1
    assert "was written to" in page(client, make_person)


@pytest.mark.parametrize("cause", [TimeoutError(), smtplib.SMTPServerDisconnected("gone"), ConnectionResetError()])
def test_what_may_have_arrived_is_not_sent_a_second_time(
    alert: AgentAlert, desk: Any, client: Client, make_person: Any, monkeypatch: pytest.MonkeyPatch, cause: Exception
) -> None:
    def silent(*_: Any, **__: Any) -> int:
        raise cause

    with monkeypatch.context() as patched:
        patched.setattr("django.core.mail.EmailMessage.send", silent)
        assert alert_letters.send_due(NOW) == 0
    assert stands(alert) == ("unknown", 1)
    assert alert_letters.send_due(NOW + timedelta(days=9)) == 0
    assert desk.letters == []
    assert "Nobody can tell whether the letter about it arrived" in page(client, make_person)


def test_a_server_that_was_not_reached_took_nothing(alert: AgentAlert, settings: Any) -> None:
    with post_office.opened() as (_, port):
        pass  # nobody is there any more
    settings.MAIL = smtp.parse(f"smtp://127.0.0.1:{port}", "counterseal@example.org")
    assert alert_letters.send_due(NOW) == 0
    assert stands(alert) == ("due", 1)
    entry = Entry.objects.filter(kind="mail.failed", subject="person watched-owner").order_by("-seq")[0]
    assert entry.error


def test_a_process_that_dies_over_a_letter_sends_it_no_second_time(
    alert: AgentAlert, desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(alert_letters, "_note", killed)  # the server has taken it by then
        with pytest.raises(KeyboardInterrupt):
            alert_letters.send_due(NOW)
    assert stands(alert) == ("under_way", 1)
    assert alert_letters.send_due(NOW + timedelta(minutes=9)) == 0
    assert stands(alert) == ("under_way", 1)
    assert alert_letters.send_due(NOW + timedelta(minutes=11)) == 0
    assert stands(alert) == ("unknown", 1)
    assert len(desk.letters) == 1


def test_more_letters_than_one_person_gets_in_an_hour_wait_for_the_next(owner: Any, desk: Any) -> None:
    for number in range(8):
        AgentAlert.objects.create(
            agent="watched", what=What.SLOW, about=f"tool {number}", sentence=SENTENCE, opened_at=NOW, true_at=NOW
        )
    assert alert_letters.send_due(NOW) == letters.MOST_TO_ONE
    assert AgentAlert.objects.filter(letter="due", letter_tries=1).count() == 2
    Tally.objects.all().delete()  # the hour is over
    assert alert_letters.send_due(NOW + timedelta(hours=1)) == 2
    assert len(desk.letters) == 8
