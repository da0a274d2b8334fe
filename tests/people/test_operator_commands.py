from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from audit import agents, tokens
from audit.models import Entry
from gate.people.models import Person
from gate.triage.models import IntakeToken

pytestmark = pytest.mark.django_db(transaction=True)


def said(*words: str, **options: Any) -> str:
    out = StringIO()
    call_command(*words, stdout=out, **options)
    return out.getvalue()


def test_a_person_is_added_with_a_drawn_password(as_role: Any, client: Any) -> None:
    as_role("people")
    text = said("add_person", "noor", "--role", "on-call", "--full-name", "Noor Haddad")
    password = text.rsplit(" ", 1)[1].strip()
    person = Person.objects.get(username="noor")
    assert (person.role, person.full_name) == (Person.Role.ON_CALL, "Noor Haddad")
    assert person.check_password(password)
    entry = Entry.objects.filter(kind="person.changed", subject="person noor").latest("seq")
    assert entry.actor == "operator command"
    assert entry.db_role == "counterseal_people"


def test_a_password_can_come_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("tall ships leave early\n"))
    text = said("add_person", "ivo", "--role", "viewer", "--password-stdin")
    assert "tall ships" not in text
    assert Person.objects.get(username="ivo").check_password("tall ships leave early")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["taken", "--role", "viewer"], "already exists"),
        (["no spaces", "--role", "viewer"], "valid username"),
        (["eve", "--role", "king"], "invalid choice"),
    ],
)
def test_a_bad_person_is_refused_and_leaves_no_trace(make_person: Any, words: list[str], why: str) -> None:
    make_person("taken")
    with pytest.raises(CommandError, match=why):
        said("add_person", *words)
    assert Person.objects.count() == 1
    assert not Entry.objects.filter(subject=f"person {words[0]}").exists()


def test_a_server_of_ones_own_is_never_mistaken_for_the_embedded_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSEAL_OWNER_URL", "postgresql://counterseal_owner@db.example.org/counterseal")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    with pytest.raises(CommandError, match="set DATABASE_URL to its connection as counterseal_people"):
        said("add_person", "elsewhere", "--role", "admin")
    assert not Person.objects.exists()


def test_a_weak_password_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("password\n"))
    with pytest.raises(CommandError, match="too short"):
        said("add_person", "weak", "--role", "viewer", "--password-stdin")


def test_an_agents_token_works_and_names_its_owner(as_role: Any, make_person: Any) -> None:
    make_person("olga", "admin")
    as_role("people")
    text = said("agent_token", "night-watch", "--owner", "olga", "--scopes", "tools,investigate")
    principal = agents.authenticate(text.rsplit(" ", 1)[1].strip())
    assert principal is not None
    assert (principal.agent, principal.owner, principal.scopes) == (
        "night-watch",
        "olga",
        frozenset({"tools", "investigate"}),
    )


@pytest.mark.parametrize(
    ("owner", "scopes", "why"), [("nobody", "tools", "no person nobody"), ("olga", "tools,approve", "Unknown scope")]
)
def test_an_agents_token_needs_an_owner_and_known_scopes(make_person: Any, owner: str, scopes: str, why: str) -> None:
    make_person("olga", "admin")
    with pytest.raises(CommandError, match=why):
        said("agent_token", "night-watch", "--owner", owner, "--scopes", scopes)


def test_a_monitor_gets_an_intake_token(as_role: Any) -> None:
    as_role("people")
    token = said("intake_token", "pager").rsplit(" ", 1)[1].strip()
    assert IntakeToken.objects.get(name="pager").digest == tokens.digest(token)
