"""Alerts: found, said once, looked at by a person, and over; each of these is an entry."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from audit.models import Entry
from audit.refusing import NotAllowed
from evidence import alert_actions, alerts, counted, durations
from evidence.models import AgentAlert, CallSlot, Question

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 10, 40, tzinfo=UTC)
SLOT = counted.slot_of(NOW)


def slot(number: int, outcome: str = "refused", code: str = "wrong_arguments", *, since: datetime = SLOT,
         took: int | None = None, agent: str = "watched") -> None:  # fmt: skip
    counts = durations.none()
    if took is not None:
        counts[durations.place(took)] = number
    CallSlot.objects.create(
        since=since, agent=agent, tool="find_job", source="shop", outcome=outcome, code=code, calls=number,
        durations=counts,
    )  # fmt: skip


def ask(times: int, run: str = "1", digest: str = "a", at: datetime = NOW) -> None:
    Question.objects.create(
        agent="watched", run_id=run, incident_id=318, tool="find_job", digest=digest, times=times, first_seq=1,
        last_seq=9, last_at=at,
    )  # fmt: skip


def standing() -> list[tuple[str, str]]:
    return [(one.what, one.sentence) for one in AgentAlert.objects.exclude(state="over").order_by("what")]


def test_many_refusals_are_a_spike_unless_they_are_usual() -> None:
    slot(19)
    alerts.watch(NOW)
    assert standing() == []
    slot(1, code="unknown_tool", since=SLOT - counted.SLOT)
    alerts.watch(NOW)
    assert standing() == [("refusals", "20 calls were refused since 10:15 UTC; usual are 0.0 in such a time.")]
    for day in range(1, 7):
        slot(200, since=SLOT - timedelta(days=day))
    alerts.watch(NOW)
    assert standing()[0][1].endswith("usual are 3.6 in such a time.")
    slot(1000, since=SLOT - timedelta(hours=3))
    alerts.watch(NOW)
    assert standing() == []  # 20 are not four times 6.5


def test_a_budget_that_was_used_up_is_said() -> None:
    slot(2, code="agent_budget_spent")
    slot(1, code="rate_limited")
    alerts.watch(NOW)
    assert standing() == [("budget", "A budget was used up: 3 calls were refused for it since 10:15 UTC.")]


@pytest.mark.parametrize(
    ("questions", "sentence"),
    [
        ([(4, "1"), (2, "2")], None),
        ([(5, "1")], "find_job was asked the very same 5 times by one investigation of I-318."),
        ([(1, "1"), (1, "2"), (1, "3")], "find_job was asked the very same 3 times by 3 investigations of I-318."),
    ],
)
def test_the_same_question_again_and_again(questions: list[tuple[int, str]], sentence: str | None) -> None:
    for times, run in questions:
        ask(times, run)
    ask(3, "9", digest="b")
    ask(50, "8", digest="c", at=NOW - timedelta(hours=2))  # nobody asks that any more
    alerts.watch(NOW)
    assert standing() == ([("repeated", sentence)] if sentence else [])


def test_slower_than_usual() -> None:
    slot(20, "ok", "", took=900)
    alerts.watch(NOW)
    assert standing() == []  # nothing is usual yet
    slot(100, "ok", "", took=300, since=SLOT - timedelta(days=1))
    alerts.watch(NOW)
    assert standing() == []  # not three times as slow
    CallSlot.objects.filter(since__lt=SLOT).delete()
    slot(100, "ok", "", took=20, since=SLOT - timedelta(days=1))
    alerts.watch(NOW)
    assert [what for what, _ in standing()] == ["slow"]
    assert "usual are 25 ms" in standing()[0][1]


def entries(status: str) -> int:
    return Entry.objects.filter(kind="agent.alerted", subject="agent said-once", status=status).count()


def test_an_alert_is_said_once_and_is_over_once() -> None:
    slot(1, code="budget_spent", agent="said-once")
    before = entries("open"), entries("over")
    for seconds in (0, 15, 30):
        alerts.watch(NOW + timedelta(seconds=seconds))
    assert AgentAlert.objects.get().true_at == NOW + timedelta(seconds=30)
    assert (entries("open"), entries("over")) == (before[0] + 1, before[1])
    for minutes in (40, 41):
        alerts.watch(NOW + timedelta(minutes=minutes))
    alert = AgentAlert.objects.get()
    assert (alert.state, alert.over_at) == ("over", NOW + timedelta(minutes=40))
    assert (entries("open"), entries("over")) == (before[0] + 1, before[1] + 1)
    slot(1, code="budget_spent", agent="said-once", since=SLOT + timedelta(hours=2))
    alerts.watch(NOW + timedelta(hours=2))
    assert AgentAlert.objects.count() == 2


class TestAcknowledging:
    @pytest.fixture
    def alert(self, make_agent: Any) -> AgentAlert:
        make_agent("watched")
        slot(1, code="budget_spent")
        alerts.watch(NOW)
        found: AgentAlert = AgentAlert.objects.get()
        return found

    def test_a_person_says_why_it_needs_nothing_more(self, alert: AgentAlert, client: Any, make_person: Any) -> None:
        client.force_login(make_person("ada", "on_call"))
        assert "Why this needs nothing more" in client.get("/agents/watched/").content.decode()
        assert "1 alert" in client.get("/agents/").content.decode()
        address = f"/agents/alerts/{alert.pk}/acknowledgment/"
        empty = client.post(address, {"reason": " "})
        assert (empty.status_code, "Say why this alert" in empty.content.decode()) == (422, True)
        answer = client.post(address, {"reason": "A load test; it ends at noon."})
        assert answer["Location"] == "/agents/watched/#alerts"
        alert.refresh_from_db()
        assert (alert.state, alert.reason) == ("acknowledged", "A load test; it ends at noon.")
        entry = Entry.objects.filter(kind="agent.alert_acknowledged").order_by("-seq")[0]
        assert (entry.subject, entry.actor, entry.status) == ("agent watched", "Ada", "ok")
        alerts.watch(NOW)  # it is still true, and stays looked at
        alert.refresh_from_db()
        assert alert.state == "acknowledged"
        page = client.get("/agents/watched/").content.decode()
        assert "A load test; it ends at noon." in page
        assert "1 alert" not in client.get("/agents/").content.decode()
        again = client.post(address, {"reason": "Again."})
        assert (again.status_code, "This alert is acknowledged already." in again.content.decode()) == (409, True)

    @pytest.mark.parametrize("role", ["viewer", "auditor"])
    def test_others_only_see_it(self, alert: AgentAlert, client: Any, make_person: Any, role: str) -> None:
        person = make_person("vera", role)
        client.force_login(person)
        assert "Why this needs nothing more" not in client.get("/agents/watched/").content.decode()
        assert client.post(f"/agents/alerts/{alert.pk}/acknowledgment/", {"reason": "Mine."}).status_code == 403
        with pytest.raises(NotAllowed, match="acknowledges no alerts"):
            alert_actions.acknowledge(alert.pk, by=person, reason="Mine.")


def test_the_page_takes_as_many_queries_however_much_was_called(
    client: Any, make_person: Any, make_agent: Any, django_assert_max_num_queries: Any
) -> None:
    make_agent("watched")
    client.force_login(make_person("ada", "admin"))
    client.get("/agents/watched/")

    def taken() -> int:
        with django_assert_max_num_queries(40) as asked:
            client.get("/agents/watched/")
        return len(asked.captured_queries)

    before = taken()
    for number in range(30):
        slot(number, code=f"code_{number}", since=SLOT + timedelta(minutes=15 * number))
        ask(2, run=str(number), digest=str(number))
    alerts.watch(NOW)
    assert taken() == before
