"""An approval asks for having looked: from the first page that showed this effect, by the database's clock."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from gate.errors import NotAllowed
from gate.writes import actions, preview
from gate.writes.models import Decision, Viewing
from tests.writes.conftest import PASSWORD, body

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _slow(settings: Any) -> None:
    settings.VIEWING_SECONDS = {"normal": 40, "high": 300}


def look(client: Client, write: Any, ago: float = 0.0) -> None:
    """Open the page, and be there since then."""
    assert client.get(f"/writes/{write.pk}/").status_code == 200
    Viewing.objects.update(at=F("at") - timedelta(seconds=ago))


@pytest.fixture
def as_mia(client: Client, mia: Any) -> Client:
    client.force_login(mia)
    return client


def test_whoever_never_opened_the_page_approves_nothing(previewed: Any, approve: Any) -> None:
    write = previewed()
    with pytest.raises(NotAllowed, match=r"Look at W-[0-9]+ for 40 seconds before you approve it; 40 seconds more"):
        approve(write)
    assert not Decision.objects.exists()
    assert approve(write, act="reject", password="").act == "reject"  # to stop something asks for no time


def test_the_first_look_counts_and_the_sentence_says_how_long(as_mia: Client, previewed: Any, approve: Any) -> None:
    write = previewed()
    look(as_mia, write, ago=20)
    look(as_mia, write)
    with pytest.raises(NotAllowed, match=r"(1[0-9]|20) seconds more"):
        approve(write)
    look(as_mia, write, ago=20)
    assert approve(write).act == "approve"
    assert Viewing.objects.count() == 1


def test_another_effect_is_looked_at_anew(as_mia: Client, previewed: Any, approve: Any, shop: Any, mia: Any) -> None:
    write = previewed()
    look(as_mia, write, ago=60)
    shop.execute("update shop.jobs set price = 99 where job_id = 7")
    preview.make(actions.ask_preview(write, mia).pk)
    with pytest.raises(NotAllowed, match="40 seconds more"):
        approve(write)


def test_one_persons_look_is_not_anothers(as_mia: Client, previewed: Any, approve: Any, make_person: Any) -> None:
    write = previewed()
    look(as_mia, write, ago=60)
    with pytest.raises(NotAllowed, match="before you approve it"):
        approve(write, by=make_person("noa", "on_call"))


def test_a_risky_target_is_looked_at_for_longer(as_mia: Client, define: Any, previewed: Any, approve: Any) -> None:
    define("target", "shop", body(risk="high"))
    write = previewed()
    look(as_mia, write, ago=100)
    with pytest.raises(NotAllowed, match=r"for 300 seconds before you approve it; (19[0-9]|200) seconds more"):
        approve(write)


def test_too_early_keeps_what_was_typed_and_offers_it_again(as_mia: Client, previewed: Any) -> None:
    write = previewed()
    seen = write.previews.get()
    shown = {"seen_version": write.version, "proposal_digest": write.proposal_digest, "preview_digest": seen.digest}
    typed = {"decision": "approve", "reason": "The worker is gone.", "password": PASSWORD, **shown}
    answer = as_mia.post(f"/writes/{write.pk}/decision/", typed)
    page = answer.content.decode()
    assert (answer.status_code, "40 seconds more" in page, "The worker is gone." in page) == (409, True, True)
    assert 'value="approve"' in page
    Viewing.objects.update(at=F("at") - timedelta(seconds=40))
    assert as_mia.post(f"/writes/{write.pk}/decision/", typed).status_code == 302
