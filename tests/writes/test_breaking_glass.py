"""Approved alone in an emergency: where the policy lets one, and two others say afterwards whether it could wait."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from audit import reading
from audit.models import Entry
from gate.errors import NotAllowed
from gate.writes import breaking_glass, execution
from gate.writes.models import Decision, GlassReview
from tests.writes.conftest import PASSWORD, body

pytestmark = pytest.mark.django_db
TWO: dict[str, Any] = {"approvers": {"on_call": 2}, "break_glass": True}


@pytest.fixture
def sign_in(client: Client) -> Any:
    def to(person: Any) -> Client:
        client.force_login(person)
        return client

    return to


@pytest.fixture
def noa(make_person: Any) -> Any:
    return make_person("noa", "on_call", "Noa Sol")


@pytest.fixture
def olga(make_person: Any) -> Any:
    return make_person("olga", "admin", "Olga Ruiz")


@pytest.fixture
def waiting(define: Any, previewed: Any) -> Any:
    def make(**policy: Any) -> Any:
        define("target", "shop", body(**{**TWO, **policy}))
        return previewed()

    return make


def post(client: Client, write: Any, **typed: str) -> Any:
    shown = {
        "seen_version": str(write.version), "proposal_digest": write.proposal_digest,
        "preview_digest": write.previews.get().digest, "password": PASSWORD,
    }  # fmt: skip
    return client.post(f"/writes/{write.pk}/decision/", {**shown, **typed})


@pytest.fixture
def broken(waiting: Any, approve: Any) -> Decision:
    write = waiting()
    return approve(write, act="break_glass")  # type: ignore[no-any-return]


def test_the_button_names_what_follows_and_asks_for_a_second_reason(
    waiting: Any, sign_in: Any, mia: Any, job: Any
) -> None:
    write = waiting()
    page = sign_in(mia).get(f"/writes/{write.pk}/").content.decode()
    assert "Break the glass: update 1 row in shop.jobs alone" in page
    assert "without the 2 approvals that the policy asks for" in page
    refused = post(sign_in(mia), write, decision="break_glass", reason="Queue is full.")
    assert refused.status_code == 422
    assert "Say why it cannot wait for the others" in refused.content.decode()
    assert not Decision.objects.exists()
    emergency = {"decision": "break_glass", "reason": "Queue is full.", "emergency": "Payouts stop at noon."}
    assert post(sign_in(mia), write, **emergency).status_code == 302
    assert Decision.objects.get().reason == "Queue is full.\nIt could not wait: Payouts stop at noon."
    execution.execute(write.pk)
    assert job(7) == "queued"
    (entry,) = Entry.objects.filter(subject=write.ref, kind="write.approved").order_by("-seq")[:1]
    assert reading.payload_of(entry.pk).args["statement"]["decision"] == "break_glass"


def test_the_policy_that_knows_no_emergency_offers_none(waiting: Any, sign_in: Any, mia: Any) -> None:
    write = waiting(break_glass=False)
    assert "Break the glass" not in sign_in(mia).get(f"/writes/{write.pk}/").content.decode()
    answer = post(sign_in(mia), write, decision="break_glass", reason="r", emergency="e")
    assert answer.status_code == 409
    assert "lets nobody approve alone in an emergency" in answer.content.decode()
    assert not Decision.objects.exists()


def test_every_page_says_so_until_two_others_reviewed(
    broken: Decision, sign_in: Any, mia: Any, noa: Any, olga: Any
) -> None:
    for path in ("/inbox/", "/writes/", "/audit/", "/me/"):
        assert "Two other people review it." in sign_in(olga).get(path).content.decode()
    rail = sign_in(olga).get("/inbox/").content.decode()
    assert re.search(r'href="/writes/#alone"[^>]*>Approved alone\s*<span class="count" id="count-alone">1<', rail)
    given = {"finding": "right", "reason": "The queue was full indeed."}
    for person, left in ((noa, "One more person reviews it."), (olga, "")):
        assert sign_in(person).post(f"/writes/{broken.write_id}/reviews/", given).status_code == 302
        page = sign_in(mia).get("/inbox/").content.decode()
        assert ("glassbar" in page, left in page) == (bool(left), True)
    assert breaking_glass.count() == 0
    page = sign_in(mia).get(f"/writes/{broken.write_id}/").content.decode()
    assert "it could not wait" in page
    history = page.split("History</h2>")[1]
    assert f'<b>Mia Lindqvist</b> approved it alone, in an emergency<br><span class="soft">{broken.reason}' in history
    recorded = Entry.objects.filter(subject=broken.write.ref, kind="write.glass_reviewed")
    assert {"Noa Sol", "Olga Ruiz"} <= set(recorded.values_list("actor", flat=True))


def test_who_had_a_part_reviews_nothing(
    broken: Decision, mia: Any, noa: Any, olga: Any, agent: Any, make_person: Any
) -> None:
    from gate.people.models import Person

    jonas = Person.objects.get(pk=agent.owner_id)
    third, viewer = make_person("third", "on_call"), make_person("vera", "viewer")
    for person, why in ((mia, "You approved"), (jonas, "You own triage-agent"), (viewer, "Your role reviews")):
        with pytest.raises(NotAllowed, match=why):
            breaking_glass.review(broken, by=person, finding="right", reason="r")
    breaking_glass.review(broken, by=noa, finding="wrong", reason="It could have waited an hour.")
    with pytest.raises(NotAllowed, match="You already reviewed it"):
        breaking_glass.review(broken, by=noa, finding="right", reason="r")
    breaking_glass.review(broken, by=olga, finding="right", reason="r")
    with pytest.raises(NotAllowed, match="has both its reviews"):
        breaking_glass.review(broken, by=third, finding="right", reason="r")
    assert GlassReview.objects.count() == 2


def test_an_ordinary_approval_is_reviewed_by_nobody(approved: Any, sign_in: Any, noa: Any) -> None:
    write = approved()
    answer = sign_in(noa).post(f"/writes/{write.pk}/reviews/", {"finding": "right", "reason": "r"})
    assert answer.status_code == 404
    assert "glassbar" not in sign_in(noa).get("/inbox/").content.decode()


def test_a_review_says_which_and_why(broken: Decision, sign_in: Any, noa: Any) -> None:
    answer = sign_in(noa).post(f"/writes/{broken.write_id}/reviews/", {"reason": "kept words"})
    assert answer.status_code == 422
    assert "kept words" in answer.content.decode()
    assert not GlassReview.objects.exists()
