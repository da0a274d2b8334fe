"""What people read when no view answers, each met in the way in which a person would meet it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from django.test import Client

from gate.config.environment import BASE_DIR
from tests.gate.serving import server

__all__ = ["server"]
pytestmark = pytest.mark.timeout(30)
CLOSED = {"default-src 'none'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"}
OURS = ("Traceback", "Exception", "Error", "psycopg", "django", "django_session", str(BASE_DIR), "counterseal_people")


def check_page(answer: Any, status: int, headline: str, advice: str) -> None:
    """A page like the others: its status, one headline, what to do, the strict policy, and nothing of ours."""
    text = answer.content.decode()
    assert answer.status_code == status, text
    assert answer.headers["Content-Type"].startswith("text/html")
    assert text.count("<h1>") == 1
    assert f"<h1>{headline}</h1>" in text
    assert advice in text
    assert 'class="door"' in text
    policy = answer.headers["Content-Security-Policy"]
    assert {part.strip() for part in policy.split(";")} >= CLOSED
    assert "unsafe" not in policy
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not [word for word in OURS if word in text]


@pytest.fixture
def ada(make_person: Any) -> Client:
    client = Client(raise_request_exception=False, enforce_csrf_checks=True)
    client.force_login(make_person("ada"))
    return client


def free(client: Client) -> Client:
    """The same browser, whose forms carry their token."""
    client.handler.enforce_csrf_checks = False
    return client


@pytest.mark.django_db
def test_an_unknown_host_is_not_readable(ada: Client) -> None:
    check_page(ada.get("/inbox/", headers={"host": "evil.example"}), 400, "This request cannot be read.", "Go back")


# Half a pair of surrogates, for a codec that would make one of it.
NAMED = b'--B\r\nContent-Disposition: form-data; name="username"\r\n\r\n\\ud800\r\n--B--\r\n'
MULTIPART = "multipart/form-data; boundary=B"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("charset", ["zlib_codec", "unicode_escape", "idna", "undefined", "utf-7", "utf-16"])
def test_what_is_no_utf_8_is_read_by_no_other_codec(server: Any, charset: str) -> None:
    # Behind a real server: the requests of Django's own client come another way.
    for kind in (MULTIPART, "application/x-www-form-urlencoded", "text/html"):
        headers = {"Content-Type": f"{kind}; charset={charset}"}
        answer = httpx2.post(
            f"{server.url}/sign-in/?next=/x", content=NAMED, headers=headers, cookies=server.cookies["ada"]
        )
        check_page(answer, 400, "This request cannot be read.", "Go back")


@pytest.mark.django_db
@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", '"utf-8"', "utf8"])
def test_a_form_may_say_that_it_is_utf_8(ada: Client, charset: str) -> None:
    answer = free(ada).generic("POST", "/sign-in/", NAMED, content_type=f"{MULTIPART}; charset={charset}")
    assert (answer.status_code, "Type your name" in answer.content.decode()) == (422, True)


@pytest.mark.django_db
def test_a_role_that_may_not_is_told_whom_to_ask(client: Client, make_person: Any) -> None:
    client.force_login(make_person("vera", "viewer"))
    check_page(client.get("/people/invitation/"), 403, "Your role does not open this.", '<p class="soft">')


@pytest.mark.django_db
def test_an_old_form_is_told_to_be_sent_again(ada: Client) -> None:
    answer = ada.post("/me/preferences/", {"theme": "dark"})
    check_page(answer, 403, "This form was too old to be sent.", "Nothing was changed.")
    assert "ookie" not in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/audit/999999999/", "/drafts/999999999/", "/a/b/c/d/e/f/", "/ui/"])
def test_what_is_not_there(ada: Client, address: str) -> None:
    check_page(ada.get(address), 404, "There is nothing here.", "mistyped")


@pytest.mark.django_db
def test_a_method_that_an_address_does_not_take(ada: Client) -> None:
    answer = ada.get("/sign-out/")
    check_page(answer, 405, "This address does not open that way.", "Nothing was changed.")
    assert answer["Allow"] == "POST"


@pytest.mark.django_db
def test_a_form_that_is_too_long(ada: Client) -> None:
    ada.cookies["counterseal_csrf"] = "a" * 32
    long = "x=" + "y" * 1_050_000
    answer = ada.post("/me/preferences/", long, content_type="application/x-www-form-urlencoded")
    check_page(answer, 413, "This is too long to be sent.", "Nothing was changed.")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "headline", "advice"),
    [
        ("get", "Something broke on our side.", "Nothing was changed."),
        ("post", "We cannot tell if this was recorded.", '<a href="/audit/">Check the log</a>'),
    ],
)
def test_what_broke_says_check_the_log_only_where_something_was_sent(
    ada: Client, monkeypatch: pytest.MonkeyPatch, make_draft: Any, method: str, headline: str, advice: str
) -> None:
    draft = make_draft()
    monkeypatch.setattr("gate.triage.presenting.draft_page", breaks)
    address = f"/drafts/{draft.pk}/" if method == "get" else f"/drafts/{draft.pk}/review/"
    check_page(getattr(free(ada), method)(address), 500, headline, advice)


def breaks(*args: Any) -> None:
    raise RuntimeError("Error of ours, with a password")


@pytest.mark.django_db
def test_the_chosen_theme_holds_for_a_refusal_too(ada: Client) -> None:
    ada.cookies["counterseal_theme"] = "dark"
    assert b'<html lang="en" data-theme="dark">' in ada.get("/nowhere/at/all/x/").content
    ada.cookies["counterseal_theme"] = '"><script>'
    assert b"<script>" not in ada.get("/nowhere/at/all/x/").content


@pytest.mark.django_db(transaction=True)
def test_a_body_that_nobody_reads(server: Any) -> None:
    answer = httpx2.post(f"{server.url}/sign-in/", content=b"x" * 1_200_000)
    check_page(answer, 413, "This is too long to be sent.", "Nothing was changed.")


@pytest.fixture
def without_database(server: Any, superuser: Any) -> Any:
    superuser.execute("alter role counterseal_people nologin")
    superuser.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'counterseal_people'")
    yield server
    superuser.execute("alter role counterseal_people login")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("method", "address", "headline", "advice"),
    [
        ("GET", "/inbox/", "The database does not answer.", "Nothing was changed."),
        ("GET", "/audit/", "The database does not answer.", "Try again in a moment"),
        ("POST", "/sign-out/", "We cannot tell if this was recorded.", '<a href="/audit/">check the log</a>'),
    ],
)
def test_a_database_that_is_gone(without_database: Any, method: str, address: str, headline: str, advice: str) -> None:
    at = without_database
    cookies = {**at.cookies["ada"], "counterseal_csrf": "a" * 32}
    with httpx2.Client(base_url=at.url, cookies=cookies) as http:
        answer = http.request(method, address, headers={"X-CSRFToken": "a" * 32})
    check_page(answer, 503, headline, advice)
    assert answer.headers["Retry-After"] == "30"


AGENTS = pytest.mark.urls("gate.config.urls_agents")


@AGENTS
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "address", "status", "code"),
    [
        ("get", "/nowhere", 404, "not_found"),
        ("post", "/healthz", 405, "method_not_allowed"),
        ("delete", "/api/v1/tools", 405, "method_not_allowed"),
    ],
)
def test_the_agents_plane_refuses_in_json(
    make_agent: Callable[..., Any], settings: Any, method: str, address: str, status: int, code: str
) -> None:
    settings.MIDDLEWARE = settings.AGENTS_MIDDLEWARE
    token = make_agent()[1]
    client = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {token}"})
    answer = getattr(client, method)(address)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == code
    assert answer.json()["status"] == status
    if status == 405:
        assert answer["Allow"]
