"""How much of people's attention one proposer and one approver may take."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from gate.errors import NotAllowed
from gate.writes import editing
from gate.writes.errors import Duplicate
from gate.writes.models import Decision, WriteRequest

pytestmark = pytest.mark.django_db


def statement(job: int) -> str:
    return f"update shop.jobs set state = 'queued' where job_id = {job}"


def test_a_proposer_is_throttled_and_the_others_are_not(propose: Any, settings: Any, mia: Any) -> None:
    settings.PROPOSALS_PER_HOUR = 3
    for job in range(3):
        propose(statement(job))
    with pytest.raises(NotAllowed, match="3 writes were proposed or edited here in an hour"):
        propose(statement(4))
    assert propose(statement(4), by_person=mia).status == "waiting"
    assert WriteRequest.objects.count() == 4


def test_an_edit_counts_and_an_hour_frees(propose: Any, settings: Any, mia: Any) -> None:
    settings.PROPOSALS_PER_HOUR = 2
    write = propose(statement(1), by_person=mia)
    anew: dict[str, Any] = {"parameters": [], "title": "t", "reason": "r", "by_person": mia}
    write = editing.edit(write, seen_version=write.version, statement=statement(2), **anew)
    with pytest.raises(NotAllowed, match="in an hour"):
        editing.edit(write, seen_version=write.version, statement=statement(3), **anew)
    with pytest.raises(NotAllowed, match="in an hour"):
        propose(statement(4), by_person=mia)
    WriteRequest.objects.update(proposed_at=timezone.now() - timedelta(minutes=61))
    assert propose(statement(4), by_person=mia).status == "waiting"


def test_the_same_twice_is_refused_with_a_link(propose: Any, client: Client, mia: Any) -> None:
    first = propose(statement(1), by_person=mia)
    client.force_login(mia)
    typed = {"target": "shop", "title": "Once more", "statement": statement(1), "parameters": "", "reason": "again"}
    answer = client.post("/writes/new/", typed)
    assert (answer.status_code, WriteRequest.objects.count()) == (422, 1)
    page = answer.content.decode()
    assert f"{first.ref} asks for exactly this already" in page
    assert f'href="/writes/{first.pk}/"' in page


def test_the_same_is_other_parameters_another_proposer_or_after_the_end(propose: Any, mia: Any) -> None:
    first = propose()
    other = [{"t": "text", "v": "queued"}, {"t": "bigint", "v": "8"}, {"t": "text", "v": "running"}]
    propose(parameters=other)
    propose(by_person=mia)
    with pytest.raises(Duplicate) as refused:
        propose()
    assert refused.value.twin == first
    WriteRequest.objects.filter(pk=first.pk).update(status="rejected")
    assert propose().status == "waiting"


def test_an_edit_to_what_waits_already_is_refused_and_to_itself_is_not(propose: Any, mia: Any) -> None:
    one, two = propose(statement(1), by_person=mia), propose(statement(2), by_person=mia)
    anew: dict[str, Any] = {"parameters": [], "title": "t", "reason": "r", "by_person": mia}
    with pytest.raises(Duplicate, match=one.ref):
        editing.edit(two, seen_version=two.version, statement=statement(1), **anew)
    assert editing.edit(two, seen_version=two.version, statement=statement(2), **anew).edition == 2


def test_proposals_of_one_proposer_take_turns(propose: Any, mia: Any) -> None:
    with transaction.atomic():
        propose(statement(1), by_person=mia)
        with connection.cursor() as cursor:
            cursor.execute("select count(*) from pg_locks where locktype = 'advisory' and classid = 87 and granted")
            assert cursor.fetchone() == (1,)


def test_an_approver_has_a_budget_for_an_hour(previewed: Any, approve: Any, settings: Any, mia: Any) -> None:
    settings.APPROVALS_PER_HOUR = 2
    first = previewed(statement(1))
    for write in (first, previewed(statement(2))):
        approve(write)
    third = previewed(statement(3))
    with pytest.raises(NotAllowed, match="You approved 2 writes in an hour"):
        approve(third)
    assert approve(third, act="reject", password="").act == "reject"
    Decision.objects.filter(write=first).update(at=timezone.now() - timedelta(minutes=61))
    approve(previewed(statement(4)))


SAME_EFFECT = (
    "update shop.jobs set state = 'queued' where job_id = 7 and true",
    "update shop.jobs set state = lower('QUEUED') where job_id = 3 + 4",
    "update shop.jobs j set state = 'queued' from shop.lie l where j.job_id = 7 and l.id = 1",
)


@pytest.mark.parametrize("text", SAME_EFFECT)
def test_the_same_effect_in_other_words_waits_for_the_first(
    previewed: Any, approve: Any, mia: Any, make_person: Any, text: str
) -> None:
    """Two of it would each find an approver, and an insert would be made twice."""
    first, again = previewed(statement(7)), previewed(text)
    with pytest.raises(NotAllowed, match=f"{first.ref}, of the same proposer, does exactly this already"):
        approve(again)
    other = previewed(text, by_person=make_person("kim", "on_call"))
    assert approve(other).act == "approve"  # another proposer may mean it
    approve(first, act="reject", password="")
    approve(again)


def test_an_agent_is_told_which_one_it_repeats(propose: Any, agent: Any) -> None:
    from evidence.errors import Problem
    from gate.writes import desk

    first = propose()
    given = {"target": "shop", "statement": first.statement, "parameters": first.parameters}
    given |= {"title": "t", "reason": "r"}
    with pytest.raises(Problem, match=first.ref) as refused:
        desk.propose(agent, given)
    assert refused.value.status == 409
    assert WriteRequest.objects.count() == 1
