"""Invitations, links that set a password, and one's own password."""

from __future__ import annotations

import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from gate.errors import NotAllowed
from gate.people import actions, changes
from gate.people.models import Change, PasswordLink, Person

pytestmark = pytest.mark.django_db
NEW = "tall ships leave early"
INVITED = {"username": "noor", "full_name": "Noor Haddad", "role": "on_call"}


def path_in(page: str) -> str:
    found = re.search(r"http://testserver(/password/csp_[\w-]+/)", page)
    assert found, page
    return found[1]


def set_password(path: str, typed: str = NEW, again: str = NEW) -> Any:
    return Client().post(path, {"new_password1": typed, "new_password2": again})


def test_from_an_invitation_to_a_first_sign_in(ada: Any, ben: Any, sign_in: Any) -> None:
    page = sign_in(ada).post("/people/invitation/", INVITED).content.decode()
    noor = Person.objects.get(username="noor")
    assert (noor.role, noor.full_name, noor.has_usable_password()) == ("viewer", "Noor Haddad", False)
    path = path_in(page)
    assert "Noor Haddad" in Client().get(path).content.decode()
    assert set_password(path)["Location"] == "/sign-in/"
    assert sign_in(noor, NEW).get("/inbox/").status_code == 200
    changes.confirm(Change.objects.get(person=noor).pk, by=ben)
    noor.refresh_from_db()
    assert noor.role == "on_call"


def test_only_the_hash_of_a_link_is_kept(ada: Any, sign_in: Any) -> None:
    token = path_in(sign_in(ada).post("/people/invitation/", INVITED).content.decode()).split("/")[2]
    assert token not in str(list(PasswordLink.objects.values()))
    assert PasswordLink.objects.filter(digest__regex="^[0-9a-f]{64}$").count() == 1


def test_nobody_gives_a_role_by_inviting_alone(ada: Any, ben: Any) -> None:
    actions.invite("noor", role="admin", full_name="Noor", by=ada)
    change = Change.objects.get(person__username="noor")
    with pytest.raises(NotAllowed, match="another admin must confirm"):
        changes.confirm(change.pk, by=ada)


@pytest.mark.parametrize(
    ("username", "why"), [("ada", "already exists"), ("two words", "valid username"), ("", "Give the name")]
)
def test_a_bad_invitation_leaves_nothing_behind(ada: Any, sign_in: Any, username: str, why: str) -> None:
    answer = sign_in(ada).post("/people/invitation/", {**INVITED, "username": username})
    assert answer.status_code in (409, 422)
    assert why in answer.content.decode()
    assert (Person.objects.count(), PasswordLink.objects.count(), Change.objects.count()) == (1, 0, 0)


def test_a_link_works_once(ada: Any) -> None:
    _, token = actions.invite("noor", role="viewer", full_name="Noor", by=ada)
    assert set_password(f"/password/{token}/").status_code == 302
    again = set_password(f"/password/{token}/", "another long one", "another long one")
    assert again.status_code == 404
    assert "This link was used" in again.content.decode()
    assert Person.objects.get(username="noor").check_password(NEW)


def test_a_link_ends(ada: Any) -> None:
    _, token = actions.invite("noor", role="viewer", full_name="Noor", by=ada)
    link = PasswordLink.objects.get()
    assert timedelta(days=2, hours=23) < link.expires_at - timezone.now() <= timedelta(days=3)
    PasswordLink.objects.update(expires_at=timezone.now())
    assert set_password(f"/password/{token}/").status_code == 404
    assert not Person.objects.get(username="noor").has_usable_password()


def test_a_link_of_someone_deactivated_opens_nothing(ada: Any) -> None:
    noor, token = actions.invite("noor", role="viewer", full_name="Noor", by=ada)
    Person.objects.filter(pk=noor.pk).update(is_active=False)
    assert Client().get(f"/password/{token}/").status_code == 404


def test_a_link_from_before_a_deactivation_does_not_come_back(ada: Any, ben: Any) -> None:
    noor, token = actions.invite("noor", role="viewer", full_name="Noor", by=ada)
    for act in ("deactivate", "reactivate"):
        changes.confirm(changes.draft(noor, act=act, by=ada, reason="A mistake.").pk, by=ben)
    assert Client().get(f"/password/{token}/").status_code == 404


def test_an_unknown_link_opens_nothing() -> None:
    assert Client().get("/password/csp_made-up/").status_code == 404


@pytest.mark.parametrize(
    ("typed", "again", "why"),
    [("short", "short", "too short"), ("password1234", "password1234", "too common"), (NEW, "other", "match")],
)
def test_a_weak_password_is_refused_and_the_link_stays_good(ada: Any, typed: str, again: str, why: str) -> None:
    _, token = actions.invite("noor", role="viewer", full_name="Noor", by=ada)
    answer = set_password(f"/password/{token}/", typed, again)
    assert answer.status_code == 422
    assert why in answer.content.decode()
    assert set_password(f"/password/{token}/").status_code == 302


def test_a_new_link_makes_the_old_one_void(ada: Any, ben: Any, mia: Any) -> None:
    tokens = []
    for _ in range(2):
        change = changes.draft(mia, act="reset", by=ada, reason="She forgot it.")
        tokens.append(changes.confirm(change.pk, by=ben))
    assert Client().get(f"/password/{tokens[0]}/").status_code == 404
    assert Client().get(f"/password/{tokens[1]}/").status_code == 200


def test_nobody_resets_a_password_alone(ada: Any, ben: Any, mia: Any) -> None:
    change = changes.draft(mia, act="reset", by=ada, reason="She forgot it.")
    with pytest.raises(NotAllowed, match="another admin must confirm"):
        changes.confirm(change.pk, by=ada)
    assert not PasswordLink.objects.exists()


def test_a_reset_link_is_shown_to_who_confirms_and_ends_sessions(ada: Any, ben: Any, mia: Any, sign_in: Any) -> None:
    browser = sign_in(mia)
    change = changes.draft(mia, act="reset", by=ada, reason="She forgot it.")
    page = sign_in(ben).post(f"/people/changes/{change.pk}/confirmation/").content.decode()
    assert browser.get("/inbox/").status_code == 200  # until it is used
    assert set_password(path_in(page)).status_code == 302
    assert browser.get("/inbox/").status_code == 302
    newest = Entry.objects.filter(kind="person.changed", subject="person mia").latest("seq")
    assert (newest.actor, newest.summary) == ("Mia Lindqvist", "set a password with a link")


@pytest.mark.django_db(transaction=True)
def test_a_link_used_twice_at_once_works_once(ada: Any, as_role: Any) -> None:
    _, token = actions.invite("noor", role="viewer", full_name="Noor", by=ada)
    as_role("people")
    outcomes: list[bool] = []

    def use(password: str) -> None:
        try:
            actions.use_link(token, password)
            outcomes.append(True)
        except NotAllowed:
            outcomes.append(False)
        finally:
            connection.close()

    threads = [threading.Thread(target=use, args=[f"{NEW} {number}"]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False, True]


def change_own(browser: Client, old: str) -> Any:
    return browser.post("/me/password/", {"old_password": old, "new_password1": NEW, "new_password2": NEW})


def test_ones_own_password_needs_the_old_one_and_signs_out_elsewhere(mia: Any, sign_in: Any) -> None:
    here, there = sign_in(mia), sign_in(mia)
    refused = change_own(here, "guess")
    assert (refused.status_code, "4 tries left" in refused.content.decode()) == (422, True)
    assert change_own(here, "correct horse battery").status_code == 302
    mia.refresh_from_db()
    assert mia.check_password(NEW)
    assert here.get("/me/").content.decode().count("this one") == 1
    assert there.get("/me/").status_code == 302
    assert mia.visits.count() == 1


def test_guessing_ones_old_password_ends(mia: Any, sign_in: Any) -> None:
    here = sign_in(mia)
    for _ in range(5):
        change_own(here, "guess")
    answer = change_own(here, "correct horse battery").content.decode()
    assert "Too many wrong passwords" in answer
    mia.refresh_from_db()
    assert not mia.check_password(NEW)
