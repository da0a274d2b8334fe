"""Threats to "human only" that the page and what is around it answer: 11, 12, 14, 24 and 25 of the design's list."""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import Any

import pytest
from django.test import Client

from evidence.errors import Problem
from gate.writes import desk, execution
from gate.writes.models import CanaryAnswer, Decision, WriteRequest
from tests.writes.conftest import body
from tests.writes.test_canaries import placed as placed

pytestmark = pytest.mark.django_db
HOSTILE = '<b>Approved by security</b> <script>go()</script> ![x](http://evil.test/a.png) <form action="/sign-out/">'


@pytest.fixture
def as_mia(client: Client, mia: Any) -> Client:
    client.force_login(mia)
    return client


def main_of(client: Client, write: Any) -> str:
    """What the page of a write says, without the rail."""
    return str(client.get(f"/writes/{write.pk}/").content.decode().split("<main")[1])


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_11_a_change_in_between_is_the_first_panel_and_the_approval_is_struck_through(
    as_mia: Client, approved: Any, shop: Any
) -> None:
    write = approved()
    shop.execute("update shop.jobs set locked_by = 'worker-9' where job_id = 7")
    execution.execute(write.pk)
    page = main_of(as_mia, write)
    panels = re.findall(r'<section class="(?:panel|notice)[^"]*"[^>]*>.*?<h2>(.*?)</h2>', page, re.DOTALL)
    assert panels[0].startswith("Nothing was written.")
    assert panels[1] == "What changed in between"
    assert re.search(r'<div class="slot slot--void">.*?Mia Lindqvist', page, re.DOTALL)
    assert 'value="approve"' not in page


def test_12_whatever_anyone_writes_around_a_write_stays_text(as_mia: Client, previewed: Any, approve: Any) -> None:
    write = previewed(title="<i>Harmless</i>")
    as_mia.post(f"/writes/{write.pk}/comments/", {"text": HOSTILE})
    approve(write, act="request_changes", password="", reason=HOSTILE)
    page = main_of(as_mia, write)
    assert words(page).count('![x](http://evil.test/a.png) <form action="/sign-out/">') >= 3  # comment, reason, history
    for acts in ("<script>go", "<img", "<b>Approved by", '<form action="/sign-out/', "<i>Harmless", 'href="http'):
        assert acts not in page


def test_14_how_many_rows_is_said_before_any_of_them_and_beside_the_button(as_mia: Client, previewed: Any) -> None:
    write = previewed("update shop.jobs set state = 'queued' where job_id <= 8")
    page = words(main_of(as_mia, write))
    assert page.index("8 rows of shop.jobs") < page.index("running")
    assert "Approve: update 8 rows in shop.jobs" in page or "Open " in page


def test_24_two_hundred_proposals_in_an_hour_are_throttled(target: Any, agent: Any, settings: Any) -> None:
    settings.PROPOSALS_PER_HOUR = 30
    told: Counter[str] = Counter()
    for number in range(200):
        given = {
            "target": "shop", "statement": f"update shop.jobs set state = 'queued' where job_id = {number}",
            "parameters": [], "title": f"Requeue job {number}", "reason": "It hangs.",
        }  # fmt: skip
        try:
            told[desk.propose(agent, given)["status"]] += 1
        except Problem as refused:
            told[refused.code] += 1
    assert told["proposed"] == 30
    assert sum(told.values()) == 200
    assert WriteRequest.objects.count() == 30


def test_24_a_canary_that_is_approved_runs_never_and_pauses_its_approver(
    placed: Any, approve: Any, previewed: Any, as_mia: Client
) -> None:
    approve(placed)
    execution.execute(placed.pk)
    placed.refresh_from_db()
    assert placed.status == "withdrawn"
    assert not CanaryAnswer.objects.get().is_caught
    page = main_of(as_mia, previewed())
    assert 'value="approve"' not in page
    assert 'value="reject"' in page
    assert "which was placed to be turned down" in page


def test_24_no_button_that_decides_is_the_forms_default(as_mia: Client, previewed: Any) -> None:
    form = re.findall(r'<form class="decide".*?</form>', main_of(as_mia, previewed()), re.DOTALL)[0]
    first, *others = re.findall(r"<button([^>]*)>", form)
    assert "disabled" in first
    assert "autofocus" not in form
    assert any('value="approve"' in one for one in others)


def test_25_a_policy_that_was_weakened_in_between_is_said_and_closes_the_button(
    as_mia: Client, define: Any, previewed: Any, approve: Any, make_person: Any, client: Client
) -> None:
    define("target", "shop", body(approvers={"on_call": 2}))
    write = previewed()
    approve(write, by=make_person("noa", "on_call"))
    define("target", "shop", body(approvers={"on_call": 1}))
    page = main_of(as_mia, write)
    assert "shop has another version than" in words(page)
    assert 'value="approve"' not in page
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, Decision.objects.count()) == ("waiting", 1)
