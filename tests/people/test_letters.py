"""Invitations, links and test letters by mail: sent after the fact, recorded, limited, and never needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from audit import reading
from audit.models import Entry
from gate.config import smtp
from gate.people import changes, letters, mail
from gate.people.models import Change, PasswordLink, Person, Tally
from tests.people import post_office
from tests.people.post_office import NAME, PASSWORD, Desk

pytestmark = pytest.mark.django_db
SENDER = "Counterseal <counterseal@example.org>"
INVITED = {"username": "noor", "full_name": "Noor Haddad", "role": "on_call", "email": "noor@example.org"}
LINK = re.compile(r"http://localhost:8000(/password/csp_[\w-]+/)")


@pytest.fixture
def desk(settings: Any) -> Iterator[Desk]:
    """The letters that a mail server took."""
    with post_office.opened() as (desk, port):
        settings.MAIL = smtp.parse(f"smtp://{NAME}:{PASSWORD}@127.0.0.1:{port}", SENDER)
        settings.ORIGIN = "http://localhost:8000"
        yield desk


@pytest.fixture
def no_mail(settings: Any) -> None:
    """An installation without a mail server."""
    settings.MAIL = None


def with_address(person: Any) -> Any:
    Person.objects.filter(pk=person.pk).update(email=f"{person.username}@example.org")
    person.refresh_from_db()
    return person


def newest(subject: str, kind: str) -> Entry:
    return Entry.objects.filter(kind=kind, subject=subject).latest("seq")


def test_an_invitation_goes_to_the_address_and_is_shown_as_well(ada: Any, sign_in: Any, desk: Desk) -> None:
    page = sign_in(ada).post("/people/invitation/", INVITED).content.decode()
    (letter,) = desk.letters
    assert (letter["To"], letter["Subject"]) == ("noor@example.org", "You are invited to Counterseal")
    found = LINK.search(letter.get_content())
    assert found
    assert found[1] in page
    assert "It was mailed to noor@example.org." in page
    assert Client().get(found[1]).status_code == 200
    assert Person.objects.get(username="noor").email == "noor@example.org"


def test_a_letter_is_an_entry_without_its_link(ada: Any, sign_in: Any, desk: Desk) -> None:
    sign_in(ada).post("/people/invitation/", INVITED)
    token = LINK.search(desk.letters[0].get_content())[1].split("/")[2]  # type: ignore[index]
    entry = newest("person noor", "mail.sent")
    assert (entry.actor, entry.summary, entry.status) == ("Ada Okafor", "invitation to noor@example.org", "ok")
    content = reading.payload_of(entry.pk)
    assert content.args == {"kind": "invitation", "to": "noor@example.org"}
    assert token not in str(list(Entry.objects.filter(subject="person noor").values()))
    assert PASSWORD not in str(list(Entry.objects.filter(subject="person noor").values()))


def test_a_name_forges_no_line_of_a_letter(ada: Any, sign_in: Any, desk: Desk) -> None:
    Person.objects.filter(pk=ada.pk).update(full_name="Ada\r\nYour link: http://evil.example\r\nBcc: eve@example.org")
    sign_in(ada).post("/people/invitation/", INVITED)
    lines = desk.letters[0].get_content().splitlines()
    assert not [line for line in lines if line.startswith(("Your link", "Bcc"))]
    assert desk.letters[0]["Bcc"] is None


@pytest.mark.parametrize("address", ["noor@example.org\nBcc: eve@example.org", "noor", "a@b.org, c@d.org"])
def test_a_malformed_address_invites_nobody(ada: Any, sign_in: Any, desk: Desk, address: str) -> None:
    answer = sign_in(ada).post("/people/invitation/", {**INVITED, "email": address})
    assert (answer.status_code, "Give an address like" in answer.content.decode()) == (422, True)
    assert not Person.objects.filter(username="noor").exists()
    assert desk.letters == []


def test_when_it_does_not_go_out_the_link_is_there(ada: Any, sign_in: Any, desk: Desk) -> None:
    desk.at_recipient = "550 No such mailbox"
    page = sign_in(ada).post("/people/invitation/", INVITED).content.decode()
    assert "It was not mailed to noor@example.org." in page
    assert "550 No such mailbox. Hand the link over yourself." in page
    link = re.search(r"http://testserver(/password/csp_[\w-]+/)", page)
    assert link
    assert Client().get(link[1]).status_code == 200
    entry = newest("person noor", "mail.failed")
    assert (entry.status, "550 No such mailbox" in entry.error) == ("failed", True)


def test_everything_works_without_mail(ada: Any, sign_in: Any, no_mail: None) -> None:
    browser, about = sign_in(ada), Entry.objects.filter(kind__startswith="mail.", subject="person noor")
    before = about.count()
    assert "Mail is not set up here: you hand the link over." in browser.get("/people/invitation/").content.decode()
    page = browser.post("/people/invitation/", INVITED).content.decode()
    assert "It was not mailed: mail is not set up here." in page
    assert "http://testserver/password/csp_" in page
    assert about.count() == before


def test_without_an_address_nothing_is_said_of_mail(ada: Any, sign_in: Any, desk: Desk) -> None:
    page = sign_in(ada).post("/people/invitation/", {**INVITED, "email": ""}).content.decode()
    assert "mailed" not in page
    assert desk.letters == []


def test_a_reset_link_goes_to_its_person_when_it_is_confirmed(
    ada: Any, ben: Any, mia: Any, sign_in: Any, desk: Desk
) -> None:
    change = changes.draft(with_address(mia), act="reset", by=ada, reason="She forgot it.")
    assert desk.letters == []
    page = sign_in(ben).post(f"/people/changes/{change.pk}/confirmation/").content.decode()
    (letter,) = desk.letters
    assert letter["To"] == "mia@example.org"
    assert LINK.search(letter.get_content())[1] in page  # type: ignore[index]
    assert newest("person mia", "mail.sent").summary == "password link to mia@example.org"


def test_a_refused_confirmation_mails_nothing(ada: Any, ben: Any, mia: Any, sign_in: Any, desk: Desk) -> None:
    change = changes.draft(with_address(mia), act="reset", by=ada, reason="She forgot it.")
    assert sign_in(ada).post(f"/people/changes/{change.pk}/confirmation/").status_code == 409
    assert desk.letters == []


@pytest.mark.django_db(transaction=True)
def test_a_letter_leaves_after_the_commit_and_holds_no_transaction(
    ada: Any, ben: Any, mia: Any, sign_in: Any, desk: Desk, as_role: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = changes.draft(with_address(mia), act="reset", by=ada, reason="She forgot it.")
    as_role("people")
    seen: list[tuple[bool, str, int]] = []
    send = mail.send

    def watch(**letter: str) -> None:
        status = Change.objects.get(pk=change.pk).status
        seen.append((connection.in_atomic_block, status, PasswordLink.objects.filter(person=mia).count()))
        send(**letter)

    monkeypatch.setattr(mail, "send", watch)
    browser = sign_in(ben)
    assert browser.post(f"/people/changes/{change.pk}/confirmation/").status_code == 200
    assert browser.post("/people/invitation/", INVITED).status_code == 200
    assert seen == [(False, "confirmed", 1), (False, "confirmed", 1)]
    assert len(desk.letters) == 2


def test_letters_run_out_for_one_person_and_for_one_address(ada: Any, ben: Any, mia: Any, desk: Desk) -> None:
    with_address(ada)
    for _ in range(letters.MOST_TO_ONE):
        assert letters.send_test(ada).why_not == ""
    refused = letters.send_test(ada)
    assert refused.why_not == "Too many letters within an hour. Try again in 59 min."
    assert newest("person ada", "mail.failed").error == refused.why_not
    assert len(desk.letters) == letters.MOST_TO_ONE
    Tally.objects.all().delete()
    for number in range(letters.MOST_BY_ONE):
        mia.email = f"mia{number}@example.org"
        letters.invite(mia, "token", by=ada)
    mia.email = "mia@example.org"
    assert "Too many letters" in letters.invite(mia, "token", by=ada).why_not
    assert letters.invite(mia, "token", by=ben).why_not == ""


def test_the_page_shows_everything_but_the_password(ada: Any, sign_in: Any, desk: Desk, settings: Any) -> None:
    page = sign_in(ada).get("/mail/").content.decode()
    for words in (
        "127.0.0.1",
        f"<dd>{settings.MAIL.port}</dd>",
        "Counterseal &lt;counterseal@example.org&gt;",
        "<dd>set</dd>",
    ):
        assert words in page
    assert "none: whoever is on the way can read the links" in page
    assert PASSWORD not in page
    assert 'give <a href="/me/">your own e-mail address</a> first' in page


def test_the_page_says_how_to_set_it_up(ada: Any, sign_in: Any, no_mail: None) -> None:
    page = sign_in(ada).get("/mail/").content.decode()
    assert all(name in page for name in smtp.VARIABLES)
    assert "Send a test mail" not in page


def test_a_test_letter_goes_to_who_asks(ada: Any, sign_in: Any, desk: Desk) -> None:
    browser = sign_in(with_address(ada))
    assert "Send a test mail to me" in browser.get("/mail/").content.decode()
    answer = browser.post("/mail/test/", {"to": "eve@example.org"}, follow=True)
    assert "The mail server took a test mail to ada@example.org." in answer.content.decode()
    assert [letter["To"] for letter in desk.letters] == ["ada@example.org"]
    assert newest("person ada", "mail.sent").summary == "test to ada@example.org"


def test_what_the_server_says_of_a_test_letter_is_shown(ada: Any, sign_in: Any, desk: Desk, settings: Any) -> None:
    settings.MAIL = smtp.parse(f"smtp://{NAME}:wrong@127.0.0.1:{settings.MAIL.port}", SENDER)
    answer = sign_in(with_address(ada)).post("/mail/test/")
    assert answer.status_code == 409
    assert "refused the name and password of COUNTERSEAL_SMTP_URL: 535" in answer.content.decode()
    assert "535" in newest("person ada", "mail.failed").error


def test_who_has_no_address_gets_no_test_letter(ada: Any, sign_in: Any, desk: Desk) -> None:
    answer = sign_in(ada).post("/mail/test/")
    assert (answer.status_code, "is no e-mail address" in answer.content.decode()) == (409, True)


@pytest.mark.parametrize("role", ["viewer", "on_call", "auditor"])
def test_only_admins_see_and_try_it(make_person: Any, sign_in: Any, desk: Desk, role: str) -> None:
    browser = sign_in(with_address(make_person("somebody", role)))
    assert browser.get("/mail/").status_code == 403
    assert browser.post("/mail/test/").status_code == 403
    assert 'href="/mail/"' not in browser.get("/me/").content.decode()
    assert desk.letters == []


def test_the_rail_leads_admins_there(ada: Any, sign_in: Any) -> None:
    assert 'href="/mail/"' in sign_in(ada).get("/me/").content.decode()


def test_ones_own_address_needs_the_password(mia: Any, sign_in: Any) -> None:
    browser = sign_in(mia)
    typed = {"email": "mia@example.org", "own_password": "guess"}
    refused = browser.post("/me/address/", typed)
    assert (refused.status_code, "4 tries left" in refused.content.decode()) == (422, True)
    assert browser.post("/me/address/", {**typed, "own_password": "correct horse battery"}).status_code == 302
    mia.refresh_from_db()
    assert mia.email == "mia@example.org"
    entry = newest("person mia", "person.changed")
    assert entry.summary == "changed their e-mail address"
    assert reading.payload_of(entry.pk).args == {"email": "mia@example.org", "was": ""}
    assert browser.post("/me/address/", {"email": "", "own_password": "correct horse battery"}).status_code == 302
    mia.refresh_from_db()
    assert mia.email == ""


def test_a_link_that_went_to_the_old_address_opens_nothing(ada: Any, ben: Any, mia: Any, sign_in: Any) -> None:
    token = changes.confirm(changes.draft(mia, act="reset", by=ada, reason="She forgot it.").pk, by=ben)
    sign_in(mia).post("/me/address/", {"email": "new@example.org", "own_password": "correct horse battery"})
    assert Client().get(f"/password/{token}/").status_code == 404
