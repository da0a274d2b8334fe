"""The page of monitors' tokens: issued once, revoked, by admins alone."""

import pytest

from audit.models import Entry
from gate.triage import intake
from gate.triage.models import IntakeToken

pytestmark = pytest.mark.django_db


@pytest.fixture
def mia(client, make_person):
    person = make_person("mia", "admin", full_name="Mia Lindqvist")
    client.force_login(person)
    return person


def test_a_token_is_shown_once_and_can_be_revoked(client, mia) -> None:
    response = client.post("/intake-tokens/", {"name": "page-monitor"})
    assert "no-store" in response["Cache-Control"]
    token = "csi_" + response.content.decode().split("<code>csi_")[1].split("</code>")[0]
    assert intake.authenticate(token) == intake.Monitor("page-monitor")
    page = client.get("/intake-tokens/").content.decode()
    assert "page-monitor" in page
    assert token not in page
    address = f"/intake-tokens/{IntakeToken.objects.get().pk}/revocation/"
    assert address in page
    for _ in range(2):
        assert client.post(address)["Location"] == "/intake-tokens/"
    assert intake.authenticate(token) is None
    kinds = Entry.objects.filter(subject="intake page-monitor").order_by("seq").values_list("kind", "actor")
    assert list(kinds) == [("token.issued", "Mia Lindqvist"), ("token.revoked", "Mia Lindqvist")]


@pytest.mark.parametrize(("name", "words"), [("", "Name the monitor."), ("two words", "Letters, digits"),
                                             ("known", "choose another name")])  # fmt: skip
def test_a_name_that_cannot_be_is_asked_for_again(client, mia, name: str, words: str) -> None:
    intake.issue_token("known", mia.actor())
    response = client.post("/intake-tokens/", {"name": name})
    assert response.status_code == 422
    assert words in response.content.decode()
    assert f'value="{name}"' in response.content.decode()
    assert IntakeToken.objects.count() == 1


@pytest.mark.parametrize("role", ["viewer", "on_call", "auditor"])
def test_other_roles_read_and_change_nothing(client, make_person, role: str) -> None:
    eve = make_person("eve", role)
    token = intake.issue_token("known", eve.actor())
    client.force_login(eve)
    page = client.get("/intake-tokens/").content.decode()
    assert "known" in page
    assert "Issue a token" not in page
    assert client.post("/intake-tokens/", {"name": "mine"}).status_code == 403
    assert client.post(f"/intake-tokens/{IntakeToken.objects.get().pk}/revocation/").status_code == 403
    assert intake.authenticate(token) is not None


@pytest.mark.django_db(transaction=True)
def test_it_works_with_the_role_of_the_people_plane(as_role, client, mia) -> None:
    as_role("people")
    assert client.post("/intake-tokens/", {"name": "role-monitor"}).status_code == 200
    assert client.post(f"/intake-tokens/{IntakeToken.objects.get().pk}/revocation/").status_code == 302
    assert client.get("/intake-tokens/").status_code == 200
