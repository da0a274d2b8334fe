"""Drafting and activating through the screens."""

from __future__ import annotations

import html
import json

import pytest

from audit import twohands
from audit.models import Definition
from tests import diffs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("gadgets")]
BODY = {"size": "small"}


@pytest.fixture
def people(make_person):
    return {
        "ada": make_person("ada", "admin", "Ada Okafor"),
        "mia": make_person("mia", "admin", "Mia Lindqvist"),
        **{role: make_person(role, role) for role in ("viewer", "on_call", "auditor")},
    }


@pytest.fixture
def sign_in(client, people):
    def as_person(name: str):
        client.force_login(people[name])
        return client

    return as_person


def post(client, name: str = "lamp", body: str = json.dumps(BODY), reason: str = "a lamp is needed"):
    return client.post("/gadgets/new/", {"name": name, "body": body, "reason": reason})


def activate(client, number: int = 1):
    return client.post(f"/gadgets/lamp/versions/{number}/activation/")


def text(response) -> str:
    return html.unescape(response.content.decode())


def test_one_person_drafts_and_another_activates(sign_in) -> None:
    response = post(sign_in("ada"))
    assert (response.status_code, response["Location"]) == (302, "/gadgets/lamp/")
    version = Definition.objects.get(kind="gadget")
    assert (version.body, version.reason, version.status) == (BODY, "a lamp is needed", "draft")
    response = activate(sign_in("mia"))
    assert (response.status_code, response["Location"]) == (302, "/gadgets/lamp/")
    assert twohands.active("gadget", "lamp") == version
    page = text(sign_in("viewer").get("/gadgets/lamp/"))
    assert "Drafted by Ada Okafor" in page
    assert "activated by Mia Lindqvist" in page
    assert '"size": "small"' in page


def test_the_person_who_drafted_sees_why_and_is_refused(sign_in) -> None:
    client = sign_in("ada")
    post(client)
    page = text(client.get("/gadgets/lamp/"))
    assert "You drafted this version, so someone else must activate it." in page
    assert "Activate version 1" not in page
    response = activate(client)
    assert response.status_code == 409
    assert "Nothing was changed." in text(response)
    assert twohands.active("gadget", "lamp") is None


def test_alone_one_may_do_both_and_it_shows_as_solo(sign_in, people) -> None:
    people["mia"].delete()
    client = sign_in("ada")
    post(client)
    assert "this is recorded as solo" in text(client.get("/gadgets/lamp/"))
    assert activate(client).status_code == 302
    assert ">solo<" in text(client.get("/gadgets/lamp/"))
    assert ">solo<" in text(client.get("/gadgets/"))


def test_who_may_do_what(sign_in) -> None:
    post(sign_in("ada"))
    allowed = {}
    for name in ("viewer", "on_call", "auditor", "mia"):
        client = sign_in(name)
        allowed[name] = (
            client.get("/gadgets/").status_code,
            client.get("/gadgets/lamp/").status_code,
            client.get("/gadgets/new/").status_code,
            post(client, "other").status_code,
            activate(client).status_code,
        )
    refused = (200, 200, 403, 403, 403)
    assert allowed == {"viewer": refused, "on_call": refused, "auditor": refused, "mia": (200, 200, 200, 302, 302)}


def test_others_see_no_form(sign_in) -> None:
    post(sign_in("ada"))
    client = sign_in("viewer")
    for address in ("/gadgets/", "/gadgets/lamp/"):
        page = text(client.get(address))
        assert "/new/" not in page
        assert "activation/" not in page
    assert "Your role does not change gadgets" in text(client.get("/gadgets/lamp/"))


@pytest.mark.parametrize("address", ["/gadgets/", "/gadgets/new/", "/gadgets/lamp/", "/gadgets/lamp/new/"])
def test_a_stranger_signs_in_first(client, address) -> None:
    assert client.get(address)["Location"].startswith("/sign-in/")


@pytest.mark.parametrize(
    ("field", "typed", "sentence"),
    [
        ("body", "{", "This is not JSON: line 1"),
        ("body", "", "This field is required"),
        ("body", "[1]", "The body is a JSON object"),
        ("body", '{"a": 1, "a": 2}', "The key a stands twice"),
        ("body", '{"a": NaN}', "NaN is not a number in JSON"),
        ("body", '{"a": ' + "[" * 100_000, "nested too deeply"),
        ("body", '{"size": "none"}', "A gadget has a size"),
        ("body", '{"a": "\\u0000"}', "cannot be stored"),
        ("body", '{"a": 1e300}', "come back"),
        ("name", "a b", "A name is 1 to 80"),
        ("name", "new", "A name is 1 to 80"),
        ("reason", "", "This field is required"),
    ],
)
def test_what_cannot_be_drafted_is_kept_with_a_sentence(sign_in, field, typed, sentence) -> None:
    fields = {"name": "lamp", "body": '{"size": "small"}', "reason": "my reason", field: typed}
    response = post(sign_in("ada"), **fields)
    assert response.status_code == 422
    page = text(response)
    assert sentence in page
    assert 'aria-invalid="true"' in page
    assert all(value in page for value in fields.values())
    assert not Definition.objects.filter(kind="gadget").exists()


def test_the_same_again_is_refused_and_kept(sign_in) -> None:
    client = sign_in("ada")
    post(client)
    response = post(client, reason="once more")
    assert response.status_code == 409
    assert "already says exactly this" in text(response)
    assert "once more" in text(response)


def test_a_change_starts_from_the_version_in_force(sign_in) -> None:
    post(sign_in("ada"))
    activate(sign_in("mia"))
    client = sign_in("ada")
    page = text(client.get("/gadgets/lamp/new/"))
    assert 'value="lamp"' in page
    assert '"size": "small"' in page
    client.post("/gadgets/lamp/new/", {"name": "lamp", "body": '{"size": "large"}', "reason": "grow"})
    page = text(sign_in("mia").get("/gadgets/lamp/"))
    changed = [line for line in diffs.lines(page) if line[0] != " "]
    assert changed[:2] == ['-  "size": "small"', '+  "size": "large"']
    assert "Activate version 2" in page
    assert "retires version 1" in page
    assert "1 draft" in text(sign_in("viewer").get("/gadgets/"))


def test_activating_twice_is_refused_with_the_reason(sign_in) -> None:
    post(sign_in("ada"))
    client = sign_in("mia")
    activate(client)
    response = activate(client)
    assert response.status_code == 409
    assert "is active, so it cannot be activated" in text(response)


@pytest.mark.parametrize(
    "address", ["/nothing-such/", "/gadgets/none/", "/gadgets/none/new/", "/nothing-such/new/", "/gadgets/new/x/"]
)
def test_what_is_not_there_is_not_found(sign_in, address) -> None:
    assert sign_in("ada").get(address).status_code == 404


def test_activation_is_posted_and_carries_its_token(people, sign_in) -> None:
    from django.test import Client

    post(sign_in("ada"))
    assert sign_in("mia").get("/gadgets/lamp/versions/1/activation/").status_code == 405
    assert activate(sign_in("mia"), 7).status_code == 404
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people["mia"])
    assert activate(strict).status_code == 403
    assert post(strict).status_code == 403
    assert twohands.active("gadget", "lamp") is None


def test_text_in_a_body_is_never_markup_and_cannot_disguise_itself(sign_in) -> None:
    evil = "</pre><script>alert(1)</script>\u202e"
    client = sign_in("ada")
    post(client, body=json.dumps({"size": evil}), reason=evil)
    raw = client.get("/gadgets/lamp/").content.decode()
    assert "<script>alert" not in raw
    assert "\u202e" not in raw
    assert r"\u202e" in raw


def test_the_list_asks_once_however_long_it_is(sign_in, django_assert_num_queries) -> None:
    client = sign_in("ada")
    from audit import definition_pages

    for name in ("a", "b", "c"):
        post(client, name)
    with django_assert_num_queries(1):
        assert [row.name for row in definition_pages.rows("gadget")] == ["a", "b", "c"]
