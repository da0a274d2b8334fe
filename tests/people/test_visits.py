"""Where somebody is signed in, and signing out there."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from audit.models import Entry
from gate.people import browsers
from gate.people.models import Visit

pytestmark = pytest.mark.django_db


def test_the_list_shows_this_browser_and_others(mia: Any, sign_in: Any) -> None:
    here = sign_in(mia, browser="Desk")
    assert "Sign out everywhere else" not in here.get("/me/").content.decode()
    sign_in(mia, browser="Phone")
    page = here.get("/me/").content.decode()
    assert '<span title="Desk">Desk</span>, <b>this one</b>' in page
    assert '<span title="Phone">Phone</span><br>' in page
    assert "from 127.0.0.1" in page
    assert page.count("Sign out there") == 1
    assert "Sign out everywhere else" in page


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64) Chrome/150.0 Safari/537.36 Edg/150.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/26.0 Safari/605.1.15", "Safari on macOS"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) CriOS/150.0 Safari", "Chrome on iPhone"),
        ("Mozilla/5.0 (Android 16; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0", "Firefox on Android"),
        ("curl/8.14.1", "curl/8.14.1"),
        ("", "a browser that says no name"),
    ],
)
def test_a_browser_is_named_as_its_user_knows_it(user_agent: str, words: str) -> None:
    assert browsers.in_words(user_agent) == words


def test_one_other_browser_is_signed_out(mia: Any, sign_in: Any) -> None:
    here, phone, tablet = sign_in(mia), sign_in(mia, browser="Phone"), sign_in(mia)
    here.post(f"/me/sessions/{Visit.objects.get(browser='Phone').pk}/end/")
    assert [browser.get("/me/").status_code for browser in (here, phone, tablet)] == [200, 302, 200]
    newest = Entry.objects.filter(kind="person.changed", subject="person mia").latest("seq")
    assert newest.summary == "signed out elsewhere: 1 of their sessions"


def test_all_other_browsers_are_signed_out(mia: Any, sign_in: Any) -> None:
    here, others = sign_in(mia), [sign_in(mia), sign_in(mia)]
    here.post("/me/sessions/end/")
    assert here.get("/me/").status_code == 200
    assert {browser.get("/me/").status_code for browser in others} == {302}
    assert Session.objects.count() == Visit.objects.count() == 1


def test_nobody_signs_out_somebody_else(mia: Any, ada: Any, sign_in: Any) -> None:
    theirs = sign_in(ada)
    sign_in(mia).post(f"/me/sessions/{ada.visits.get().pk}/end/")
    assert theirs.get("/me/").status_code == 200


def test_signing_out_forgets_the_browser(mia: Any, sign_in: Any) -> None:
    here = sign_in(mia)
    here.post("/sign-out/")
    assert not Visit.objects.exists()


def test_a_session_that_ended_by_itself_is_not_listed(mia: Any, sign_in: Any) -> None:
    sign_in(mia, browser="Phone")
    Session.objects.update(expire_date=timezone.now())
    assert "Phone" not in sign_in(mia).get("/me/").content.decode()
    assert not Visit.objects.filter(browser="Phone").exists()


def test_being_seen_is_noted_once_a_minute(mia: Any, sign_in: Any) -> None:
    here = sign_in(mia)
    long_ago = timezone.now() - timedelta(hours=1)
    Visit.objects.update(seen_at=long_ago)
    here.get("/me/")
    seen = Visit.objects.get().seen_at
    assert seen > long_ago
    here.get("/me/")
    assert Visit.objects.get().seen_at == seen


def test_somebody_else_at_the_same_browser_takes_it_over(mia: Any, ada: Any, sign_in: Any) -> None:
    here = sign_in(mia)
    here.post("/sign-in/", {"username": "ada", "password": "correct horse battery"})
    assert here.get("/me/").status_code == 200
    assert [visit.person.username for visit in Visit.objects.filter(person=ada)] == ["ada"]


@pytest.mark.django_db(transaction=True)
def test_it_works_with_the_rights_of_the_peoples_plane(mia: Any, sign_in: Any, as_role: Any) -> None:
    as_role("people")
    here, there = sign_in(mia), sign_in(mia)
    here.post("/me/sessions/end/")
    assert (here.get("/me/").status_code, there.get("/me/").status_code) == (200, 302)
    here.post("/sign-out/")
    assert not Visit.objects.exists()
