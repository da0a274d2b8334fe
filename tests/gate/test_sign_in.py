from __future__ import annotations

import pytest
from django.test import Client

from audit.models import Entry
from gate.people import permissions, refusals
from gate.people.models import Person

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def kinds(subject: str) -> list[str]:
    return list(Entry.objects.filter(subject=subject).values_list("kind", flat=True))


def test_a_password_signs_in_and_is_recorded(client: Client, make_person) -> None:
    make_person("signing-in")
    response = client.post("/sign-in/", {"username": "signing-in", "password": PASSWORD, "next": "/writes/"})
    assert response["Location"] == "/writes/"
    assert kinds("signing-in") == ["person.signed_in"]


def test_a_wrong_password_is_refused_and_recorded(client: Client, make_person) -> None:
    make_person("mistyping")
    response = client.post("/sign-in/", {"username": "mistyping", "password": "wrong"})
    assert response.status_code == 422
    assert "Name or password is wrong." in response.content.decode()
    assert kinds("mistyping") == ["person.refused"]


def test_what_a_stranger_typed_as_a_name_is_not_kept(client: Client) -> None:
    client.post("/sign-in/", {"username": "hunter2-my-password", "password": "x"})
    assert not Entry.objects.filter(subject__contains="hunter2").exists()


@pytest.mark.parametrize("name", ["a\0b", "x" * 10_000, ""])
def test_no_name_breaks_the_door(client: Client, name: str) -> None:
    assert client.post("/sign-in/", {"username": name, "password": "x"}).status_code == 422


@pytest.mark.parametrize("name", ["guessed", "nobody-of-that-name"])
def test_guessing_passwords_does_not_flood_the_log(client: Client, make_person, name: str) -> None:
    make_person("guessed")
    recorded = Entry.objects.filter(kind="person.refused", subject__in=["guessed", refusals.UNKNOWN])
    before = recorded.count()
    for _ in range(40):
        client.post("/sign-in/", {"username": name, "password": "x"})
    refusals.counting.flush()
    assert recorded.count() == before + refusals.RECORDED_EACH + 1
    assert recorded.order_by("-seq").first().summary == "35 more refused sign-ins within a minute"


def test_nobody_is_sent_elsewhere(client: Client, make_person) -> None:
    make_person("ada")
    response = client.post("/sign-in/", {"username": "ada", "password": PASSWORD, "next": "https://evil.example/"})
    assert response["Location"] == "/inbox/"


def test_someone_who_was_deactivated_stays_out(client: Client, make_person) -> None:
    person = make_person("leaver")
    Person.objects.filter(pk=person.pk).update(is_active=False)
    assert client.post("/sign-in/", {"username": "leaver", "password": PASSWORD}).status_code == 422


def test_signing_out_ends_the_session(client: Client, make_person) -> None:
    client.force_login(make_person("ada"))
    client.post("/sign-out/")
    assert client.get("/inbox/").status_code == 302


def test_preferences_are_kept(client: Client, make_person) -> None:
    ada = make_person("ada")
    client.force_login(ada)
    client.post("/me/preferences/", {"time_zone": "Europe/Berlin", "theme": "dark"})
    ada.refresh_from_db()
    assert ada.time_zone == "Europe/Berlin"
    assert 'data-theme="dark"' in client.get("/me/").content.decode()
    assert client.post("/me/preferences/", {"time_zone": "Nowhere/None", "theme": ""}).status_code == 422


def test_the_matrix_decides_every_right(make_person) -> None:
    for role in Person.Role.values:
        person = make_person(f"someone-{role}".replace("_", "-"), role)
        for act, roles in permissions.MATRIX.items():
            assert person.has_perm(act) is (role in roles), (role, act)
    assert set(permissions.WORDS) == set(permissions.MATRIX)


def test_pages_carry_a_strict_policy(client: Client) -> None:
    policy = client.get("/sign-in/")["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
