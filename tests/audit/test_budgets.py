"""What an agent may use, counted in the database."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from audit import budgets
from audit.budgets import CALLS, PROPOSALS, Spent
from audit.models import AgentUse

pytestmark = pytest.mark.django_db


def limited(agent, **limits):
    for name, value in limits.items():
        setattr(agent, name, value)
    agent.save()
    return agent


def test_the_last_one_is_given_and_the_next_is_not(make_agent) -> None:
    agent = limited(make_agent()[0], calls_per_hour=2)
    budgets.take(agent.pk, CALLS)
    budgets.take(agent.pk, CALLS)
    with pytest.raises(Spent, match=r"2 of 2 calls of this hour are used; the next hour begins at \d\d:00 UTC"):
        budgets.take(agent.pk, CALLS)
    assert budgets.used(agent, CALLS) == 2


def test_each_limit_and_each_agent_counts_for_itself(make_agent) -> None:
    one = limited(make_agent("one")[0], calls_per_hour=1, proposals_per_day=1)
    two = make_agent("two")[0]
    budgets.take(one.pk, CALLS)
    budgets.take(one.pk, PROPOSALS)
    budgets.take(two.pk, CALLS)
    with pytest.raises(Spent, match="1 of 1 proposals of this day are used; the next day begins at 00:00 UTC"):
        budgets.take(one.pk, PROPOSALS)
    assert [budgets.used(agent, CALLS) for agent in (one, two)] == [1, 1]
    assert budgets.used(two, PROPOSALS) == 0


@pytest.mark.parametrize(("limit", "back"), [(CALLS, timedelta(hours=1)), (PROPOSALS, timedelta(days=1))])
def test_a_period_that_is_over_starts_again_in_the_same_row(make_agent, limit, back) -> None:
    agent = limited(make_agent()[0], calls_per_hour=1, proposals_per_day=1)
    budgets.take(agent.pk, limit)
    kept = AgentUse.objects.get()
    AgentUse.objects.update(since=kept.since - back)
    assert budgets.used(agent, limit) == 0
    budgets.take(agent.pk, limit)
    assert AgentUse.objects.get().since == kept.since
    with pytest.raises(Spent):
        budgets.take(agent.pk, limit)


def test_a_period_begins_with_the_hour_and_the_day_of_utc(make_agent) -> None:
    agent, _ = make_agent()
    with timezone.override("Asia/Kolkata"):
        budgets.take(agent.pk, CALLS)
        budgets.take(agent.pk, PROPOSALS)
    began = [use.since.astimezone(UTC) for use in AgentUse.objects.order_by("what")]
    now = datetime.now(UTC)
    assert [(moment.minute, moment.second, moment.microsecond) for moment in began] == [(0, 0, 0)] * 2
    assert (began[1].hour, now - began[0] < timedelta(hours=1, minutes=1)) == (0, True)


def test_an_agent_without_any_or_without_a_row_gets_none(make_agent) -> None:
    agent = limited(make_agent()[0], calls_per_hour=0)
    with pytest.raises(Spent):
        budgets.take(agent.pk, CALLS)
    assert not AgentUse.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_no_more_are_given_than_there_are(make_agent, as_role) -> None:
    agent = limited(make_agent()[0], calls_per_hour=5)
    as_role("agents")
    given, together = [], threading.Barrier(8)

    def ask() -> None:
        together.wait()
        try:
            budgets.take(agent.pk, CALLS)
            given.append(True)
        except Spent:
            given.append(False)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given) == [False] * 3 + [True] * 5


@pytest.mark.django_db(transaction=True)
def test_the_agents_plane_sets_no_budget(make_agent, as_role) -> None:
    from django.db.utils import ProgrammingError

    agent, _ = make_agent()
    as_role("agents")
    agent.calls_per_hour = 9
    with pytest.raises(ProgrammingError, match="permission denied"):
        agent.save(update_fields=["calls_per_hour"])
