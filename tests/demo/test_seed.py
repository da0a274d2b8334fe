"""Seeding goes on where it stopped, and a second time changes nothing."""

from pathlib import Path

import pytest
from django.utils import timezone

from audit import twohands
from audit.models import Agent, Definition
from evidence.models import MetricAsk
from gate.demo import admins, definitions, keeping, people, seed
from gate.people.models import Person
from gate.triage import trials
from gate.triage.models import IntakeToken
from gate.triage.rule_models import Trial
from tests.earned import all_held, as_tried

URLS = ("http://localhost:1", "http://localhost:2")


@pytest.fixture(autouse=True)
def var(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTERSEAL_VAR", str(tmp_path))
    return tmp_path


@pytest.fixture
def staff(db):
    passwords = people.draw_passwords()
    people.add_missing(passwords)
    return passwords


@pytest.fixture
def workers(monkeypatch, settings):
    """While the demo waits, what workers do is done here: rules are tried on the shop's cases, golden values hold."""

    def work(seconds):
        for ask in MetricAsk.objects.filter(answered_at=None).select_related("version"):
            ask.answer, ask.answered_at = all_held(ask.version), timezone.now()
            ask.save(update_fields=["answer", "answered_at"])
        for pk in Trial.objects.filter(status__in=trials.OPEN).values_list("pk", flat=True):
            trials.advance(pk)

    settings.CASES = [str(Path(admins.__file__).parent / "cases")]
    monkeypatch.setattr(admins.time, "sleep", work)


def nothing_may_be_made(*args):
    raise AssertionError("the demo was made again")


def test_a_complete_demo_is_left_as_it_is_but_for_its_addresses(staff, monkeypatch):
    monkeypatch.setattr(seed, "_make", nothing_may_be_made)
    keeping.finish({"urls": {}, "people": staff, "agent_token": "csa_kept"})
    seed.seed(*URLS, say=print)
    assert keeping.load() == {
        "urls": {"people": URLS[0], "agents": URLS[1]}, "people": staff, "agent_token": "csa_kept",
    }  # fmt: skip


@pytest.mark.django_db
def test_a_file_of_a_database_that_is_gone_counts_for_nothing(monkeypatch):
    made = []
    monkeypatch.setattr(
        seed, "_make", lambda kept, say: made.append(dict(kept)) or kept.update(people={}, agent_token="")
    )
    keeping.finish({"urls": {}, "people": {"ada": "of another database"}, "agent_token": "csa_older"})
    seed.seed(*URLS, say=print)
    assert made == [{"urls": {"people": URLS[0], "agents": URLS[1]}}]


def test_people_whose_passwords_are_lost_are_not_given_new_ones(staff):
    with pytest.raises(seed.CannotSeed, match="their passwords is gone"):
        seed.seed(*URLS, say=print)


@pytest.mark.django_db
def test_people_are_added_once_and_the_first_is_on_call():
    passwords = people.draw_passwords()
    people.add_missing(passwords)
    people.add_missing(dict.fromkeys(passwords, "another password"))
    ada = Person.objects.get(username=next(iter(passwords)))
    assert (ada.username, ada.role) == ("ada", "on_call")
    assert ada.check_password(passwords["ada"])


def test_the_first_person_does_not_own_the_agent(staff):
    people.issue_agent_token()
    assert Agent.objects.get(name=people.AGENT).owner.username != next(iter(staff))


@pytest.mark.django_db
def test_an_intake_token_that_nobody_kept_does_not_stop_the_next_start():
    assert people.issue_intake_token() != people.issue_intake_token()
    assert IntakeToken.objects.filter(name__startswith=people.MONITOR).count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_admins_define_everything_on_the_pages_and_a_second_time_nothing(live_server, workers):
    passwords = people.draw_passwords()
    people.add_missing(passwords)
    # What an interrupted start has left: a rule that was tried on other cases than there are now.
    rule = next(one for one in definitions.everything() if one.plural == "rules")
    mia = Person.objects.get(username="mia")
    left = twohands.draft("rule", rule.name, rule.body, by=mia, reason=rule.reason)
    as_tried(left, mia, cases_digest="0" * 64)
    for _ in range(2):
        admins.define_everything(live_server.url, passwords)
    for wanted in definitions.everything():
        kind = next(kind.name for kind in twohands.KINDS.values() if kind.plural == wanted.plural)
        found = Definition.objects.get(kind=kind, name=wanted.name)
        hands = (found.drafted_by.username, found.activated_by.username, found.solo)
        assert (found.status, *hands) == ("active", "mia", "jonas", False)
        assert found.body == wanted.body


@pytest.mark.django_db(transaction=True)
def test_a_page_that_refuses_is_quoted(live_server):
    passwords = people.draw_passwords()
    people.add_missing(passwords)
    mia = admins.Browser(live_server.url, "mia", passwords["mia"])
    with pytest.raises(admins.PageRefused, match="answered 4"):
        mia.post("/tools/new/", name="a_tool", body="{}", reason="to be refused")
    mia.close()
    with pytest.raises(admins.PageRefused, match="/sign-in/ answered 422"):
        admins.Browser(live_server.url, "mia", "wrong")
