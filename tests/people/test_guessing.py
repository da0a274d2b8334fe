"""Passwords can be guessed five times, and then not for fifteen minutes."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from gate.people import guessing, refusals
from gate.people.models import Tally

PASSWORD = "correct horse battery"
WAITS = "Too many wrong passwords. Try again in 14 min"


def try_sign_in(client: Client, name: str, typed: str = "wrong", address: str = "192.0.2.1") -> str:
    answer = client.post("/sign-in/", {"username": name, "password": typed}, REMOTE_ADDR=address)
    return answer.content.decode() if answer.status_code == 422 else f"{answer.status_code}"


def let_the_wait_pass() -> None:
    Tally.objects.update(until=timezone.now() - timedelta(seconds=1))


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["ada", "nobody-of-that-name"])
def test_five_tries_and_then_a_wait_whether_the_name_exists_or_not(client: Client, make_person: Any, name: str) -> None:
    make_person("ada")
    for left in ("4 tries", "3 tries", "2 tries", "1 try"):
        assert f"Name or password is wrong. {left} left, then 15 minutes’ wait." in try_sign_in(client, name)
    assert "No tries left: wait 15 minutes." in try_sign_in(client, name)
    assert WAITS in try_sign_in(client, name)
    assert WAITS in try_sign_in(client, name, PASSWORD)  # or the answer would tell that it was right


@pytest.mark.django_db
def test_the_wait_ends(client: Client, make_person: Any) -> None:
    make_person("ada")
    for _ in range(6):
        try_sign_in(client, "ada")
    let_the_wait_pass()
    assert try_sign_in(client, "ada", PASSWORD) == "302"


@pytest.mark.django_db
def test_trying_on_does_not_lengthen_the_wait(client: Client) -> None:
    for _ in range(5):
        try_sign_in(client, "ada")
    before = max(Tally.objects.values_list("until", flat=True))
    for _ in range(3):
        try_sign_in(client, "ada", address="198.51.100.9")
    assert Tally.objects.get(number=6).until == before


@pytest.mark.django_db
def test_the_right_password_gives_the_tries_back(client: Client, make_person: Any) -> None:
    make_person("ada")
    for _ in range(4):
        try_sign_in(client, "ada")
    assert try_sign_in(client, "ada", PASSWORD) == "302"
    client.logout()
    assert "4 tries left" in try_sign_in(client, "ada")


@pytest.mark.django_db
def test_one_address_guesses_no_list_of_names(client: Client, make_person: Any) -> None:
    make_person("ada")
    for number in range(guessing.TRIES_PER_ADDRESS):
        try_sign_in(client, f"name-{number}")
    assert WAITS in try_sign_in(client, "ada", PASSWORD)
    assert try_sign_in(client, "ada", PASSWORD, address="198.51.100.7") == "302"


@pytest.mark.django_db
def test_in_ipv6_a_home_is_one_address(client: Client) -> None:
    for number in range(guessing.TRIES_PER_ADDRESS):
        try_sign_in(client, f"name-{number}", address=f"2001:db8::{number:x}")
    assert WAITS in try_sign_in(client, "ada", address="2001:db8::ffff")
    assert "4 tries left" in try_sign_in(client, "ada", address="2001:db8:0:1::1")


@pytest.mark.django_db
def test_an_address_that_waits_adds_no_names(client: Client) -> None:
    for number in range(guessing.TRIES_PER_ADDRESS + 5):
        try_sign_in(client, f"name-{number}")
    assert Tally.objects.count() == guessing.TRIES_PER_ADDRESS + 1


@pytest.mark.django_db
def test_a_known_password_buys_an_address_no_guesses(client: Client, make_person: Any) -> None:
    make_person("mallory")
    for number in range(guessing.TRIES_PER_ADDRESS):
        try_sign_in(client, f"name-{number}")
        if number < guessing.TRIES_PER_ADDRESS - 1:
            assert try_sign_in(client, "mallory", PASSWORD) == "302"
            client.logout()
    assert WAITS in try_sign_in(client, "another")


@pytest.mark.django_db
def test_an_office_that_signs_in_is_no_guesser(client: Client, make_person: Any) -> None:
    make_person("ada")
    for _ in range(guessing.TRIES_PER_ADDRESS + 5):
        assert try_sign_in(client, "ada", PASSWORD) == "302"
        client.logout()


@pytest.mark.django_db
def test_what_is_over_is_cleared_away_and_what_was_typed_is_not_kept(client: Client) -> None:
    try_sign_in(client, "hunter2")
    assert not Tally.objects.filter(key__contains="hunter2").exists()
    let_the_wait_pass()
    try_sign_in(client, "another")
    assert Tally.objects.count() == 2  # the address and the other name


@pytest.mark.django_db
def test_a_refusal_that_waits_is_recorded_as_such(client: Client, make_person: Any) -> None:
    make_person("waiting-ada")
    for _ in range(5):
        try_sign_in(client, "waiting-ada")
    refusals.counting.counts.clear()  # the next minute
    try_sign_in(client, "waiting-ada")
    newest = Entry.objects.filter(kind="person.refused", subject="waiting-ada").latest("seq")
    assert newest.summary == "too many tries; the password was not looked at"


@pytest.mark.django_db(transaction=True)
def test_guesses_sent_at_once_are_all_counted(as_role: Any) -> None:
    as_role("people")
    answers: list[bool] = []

    def guess() -> None:
        try:
            guessing.take_again("ada")
            answers.append(True)
        except guessing.TooManyTries:
            answers.append(False)
        finally:
            connection.close()

    threads = [threading.Thread(target=guess) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] * 7 + [True] * 5


@pytest.mark.django_db(transaction=True)
def test_the_door_works_with_the_rights_of_the_peoples_plane(client: Client, make_person: Any, as_role: Any) -> None:
    make_person("ada")
    as_role("people")
    assert "4 tries left" in try_sign_in(client, "ada")
    assert try_sign_in(client, "ada", PASSWORD) == "302"
