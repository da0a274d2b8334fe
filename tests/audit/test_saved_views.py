"""Views that people save and share, and following the log live."""

from __future__ import annotations

import html
import uuid
from typing import Any

import pytest

from audit import browse, log, saved_views
from audit.kinds import Kind
from audit.models import SavedView
from audit.refusing import NotAllowed

pytestmark = pytest.mark.django_db
AGENT = log.Actor("agent", "list-agent", "mia")


@pytest.fixture
def vera(make_person: Any) -> Any:
    return make_person("vera", "viewer")


@pytest.fixture
def jonas(make_person: Any) -> Any:
    return make_person("jonas", "on_call")


def text_of(client: Any, address: str, **more: Any) -> str:
    return html.unescape(client.get(address, **more).content.decode())


def test_a_view_is_saved_from_the_page_and_opens_by_its_link(client: Any, vera: Any) -> None:
    client.force_login(vera)
    response = client.post(
        "/audit/views/", {"query": "status=not-ok&q=timeout&time=2026-11-29", "name": "  Broken   calls "}
    )
    assert (response.status_code, response["Location"]) == (302, "/audit/?q=timeout&status=not-ok")
    (view,) = SavedView.objects.filter(owner=vera)
    assert (view.name, view.is_shared) == ("Broken calls", False)
    assert '<a href="?q=timeout&status=not-ok" aria-current="true">Broken calls</a>' in text_of(
        client, response["Location"]
    )


def test_shared_views_are_seen_by_everybody_and_removed_by_their_owner_alone(
    client: Any, vera: Any, jonas: Any
) -> None:
    filters = browse.Filters(status="not-ok")
    shared = saved_views.save(filters, name="Shared", is_shared=True, by=vera)
    saved_views.save(filters, name="Mine", is_shared=False, by=vera)
    client.force_login(jonas)
    text = text_of(client, "/audit/?status=not-ok")
    assert "Shared</a> <span>by Vera</span>" in text
    assert "Mine" not in text
    assert "Remove the view" not in text
    assert client.post(f"/audit/views/{shared.pk}/removal/").status_code == 404
    client.force_login(vera)
    assert "Remove the view Shared" in text_of(client, "/audit/?status=not-ok")
    assert client.post(f"/audit/views/{shared.pk}/removal/").status_code == 302
    assert not SavedView.objects.filter(pk=shared.pk).exists()


def test_what_is_not_saved_says_why_and_keeps_what_was_typed(client: Any, vera: Any) -> None:
    client.force_login(vera)
    response = client.post("/audit/views/", {"name": "All", "is_shared": "on"})
    assert response.status_code == 409
    assert "Nothing is filtered" in response.content.decode()
    saved_views.save(browse.Filters(status="ok"), name="Twice", is_shared=False, by=vera)
    taken = client.post("/audit/views/", {"query": "status=not-ok", "name": "Twice", "is_shared": "on"})
    assert taken.status_code == 409
    assert "You have a view named Twice already" in taken.content.decode()
    assert 'value="Twice" aria-invalid="true"' in taken.content.decode()
    with pytest.raises(NotAllowed, match="Give the view a name"):
        saved_views.save(browse.Filters(status="ok"), name=" \0 ", is_shared=False, by=vera)


def test_nobody_keeps_views_without_end(vera: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(saved_views, "MOST_OWN", 1)
    saved_views.save(browse.Filters(status="ok"), name="One", is_shared=False, by=vera)
    with pytest.raises(NotAllowed, match="remove one first"):
        saved_views.save(browse.Filters(status="ok"), name="Two", is_shared=False, by=vera)


def test_following_tells_what_came_and_moves_nothing(client: Any, vera: Any) -> None:
    tool = f"tool-{uuid.uuid4().hex}"
    first = log.record(Kind.CALL_FINISHED, AGENT, tool=tool)
    client.force_login(vera)
    assert 'hx-trigger="every 3s"' not in text_of(client, f"/audit/?tool={tool}")
    text = text_of(client, f"/audit/?tool={tool}&follow=1")
    assert f'hx-get="/audit/news/?tool={tool}&newest={first.seq}"' in text
    assert ">Pause</a>" in text
    address = f"/audit/news/?tool={tool}&newest={first.seq}"
    assert "new. Show" not in text_of(client, address)
    for _ in range(3):
        log.record(Kind.CALL_FINISHED, AGENT, tool=tool)
    log.record(Kind.CALL_FINISHED, AGENT, tool="another")
    told = text_of(client, address)
    assert "3 new. Show" in told
    assert "<tr" not in told
    assert f'href="/audit/?tool={tool}&follow=1"' in told


def test_following_an_empty_list_tells_the_first_one(client: Any, vera: Any) -> None:
    tool = f"tool-{uuid.uuid4().hex}"
    log.record(Kind.CALL_FINISHED, AGENT, tool="another")
    client.force_login(vera)
    text = text_of(client, f"/audit/?tool={tool}&follow=1")
    (address,) = [part.partition('"')[0] for part in text.split('hx-get="')[1:] if part.startswith("/audit/news/")]
    log.record(Kind.CALL_FINISHED, AGENT, tool=tool)
    assert "1 new. Show" in text_of(client, address)


def test_older_pages_are_not_followed(client: Any, vera: Any) -> None:
    client.force_login(vera)
    assert "/audit/news/" not in text_of(client, "/audit/?follow=1&before=10")
    assert client.get("/audit/news/?incident=x").status_code == 422
