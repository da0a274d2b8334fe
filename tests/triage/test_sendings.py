"""Copying and sending the answer of an agreed draft."""

from __future__ import annotations

import hashlib
import smtplib
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from audit import reading
from audit.models import Entry
from gate.config import smtp
from gate.errors import NotAllowed, Stale
from gate.people import mail
from gate.triage import actions, sendings
from gate.triage.models import Draft, Sending
from tests import diffs
from tests.gate.conftest import make_draft as make_draft
from tests.people import post_office

pytestmark = pytest.mark.django_db
ANSWER = "The job failed twice and then succeeded.\nNothing is left to do."
LETTER = {"to": "noa@example.org", "text": ANSWER, "seen_sendings": "0"}


@pytest.fixture
def ada(make_person: Any) -> Any:
    return make_person("ada", full_name="Ada Lovelace")


@pytest.fixture
def desk(client: Client, ada: Any) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def office(settings: Any) -> Iterator[post_office.Desk]:
    """A mail server that takes letters."""
    with post_office.opened() as (office, port):
        settings.MAIL = smtp.parse(f"smtp://127.0.0.1:{port}", "counterseal@example.org")
        yield office


@pytest.fixture
def decided(make_draft: Callable[..., Draft], ada: Any) -> Callable[..., Draft]:
    """A draft that Ada decided about, with an answer."""

    def make(act: str = "agree", outcome: str = "pass", answer: str = ANSWER) -> Draft:
        draft = make_draft(outcome, title="Payout failed")
        draft.investigation.answer = answer
        draft.investigation.save()
        actions.review(draft.pk, by=ada, act=act, reason="It is as it says.", seen_version=1)
        draft.refresh_from_db()
        return draft

    return make


def address(draft: Draft) -> str:
    return f"/drafts/{draft.pk}/sending/"


def pages(draft: Draft) -> tuple[str, str]:
    return f"/drafts/{draft.pk}/", f"/incidents/{draft.investigation.incident_id}/"


def entries(draft: Draft) -> list[Entry]:
    return list(Entry.objects.filter(subject=draft.ref, kind__startswith="answer.").order_by("seq"))


@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_an_agreed_answer_is_offered_as_plain_text_on_both_pages(
    desk: Client, office: Any, decided: Any, outcome: str
) -> None:
    draft = decided(outcome=outcome)
    for page in pages(draft):
        text = desk.get(page).content.decode()
        assert f'aria-label="The answer, to be selected and copied">\n{ANSWER}</textarea>' in text
        assert 'data-copies="answer" hidden' in text
        assert address(draft) in text
        assert "agreed with by Ada Lovelace" in text
    for page in (*pages(draft), address(draft)):
        is_told = "The verdict is fail: no check shows that these words are true." in desk.get(page).content.decode()
        assert is_told == (outcome == "fail")


@pytest.mark.parametrize("act", ["overrule", "send_back"])
def test_what_was_not_agreed_with_is_neither_copied_nor_sent(desk: Client, office: Any, decided: Any, act: str) -> None:
    draft = decided(act)
    for page in (*pages(draft), address(draft)):
        text = desk.get(page).content.decode()
        assert "data-copies" not in text
        assert "Send this answer" not in text
    response = desk.post(address(draft), LETTER)
    assert response.status_code == 409
    assert f"Nobody agreed with {draft.ref}" in response.content.decode()
    assert not Sending.objects.exists()
    assert not office.letters
    refused = Entry.objects.filter(kind="person.refused", subject=draft.ref).latest("seq")
    assert "Nobody agreed" in refused.summary


def test_a_draft_that_waits_is_offered_to_nobody(desk: Client, office: Any, make_draft: Any) -> None:
    draft = make_draft()
    for page in pages(draft):
        assert "data-copies" not in desk.get(page).content.decode()
    assert desk.post(address(draft), LETTER).status_code == 409
    assert not office.letters


def test_sending_is_recorded_before_and_after_and_in_full(desk: Client, office: Any, decided: Any) -> None:
    draft = decided()
    assert desk.post(address(draft), {**LETTER, "text": ANSWER.replace("\n", "\r\n")})["Location"] == pages(draft)[0]
    (letter,) = office.letters
    assert (letter["To"], letter["Subject"]) == (
        "noa@example.org", f"{draft.investigation.incident.ref}: Payout failed",
    )  # fmt: skip
    assert letter.get_content().replace("\r\n", "\n").strip() == ANSWER
    sending = Sending.objects.get()
    assert (sending.status, sending.text, sending.to) == ("sent", ANSWER, "noa@example.org")
    before, after = entries(draft)
    assert (before.kind, after.kind) == ("answer.attempted", "answer.sent")
    assert (after.actor, after.status, after.incident_id) == ("Ada Lovelace", "ok", draft.investigation.incident_id)
    for entry in (before, after):
        said = reading.payload_of(entry.pk).args
        assert (said["text"], said["to"], said["is_edited"]) == (ANSWER, "noa@example.org", False)
        assert said["sha256"] == hashlib.sha256(ANSWER.encode()).hexdigest()
    for page in pages(draft):
        text = desk.get(page).content.decode()
        assert "<b>Sent</b> to" in text
        assert "noa@example.org" in text
        assert "triage-agent’s words, unchanged" in text


def test_what_was_edited_is_shown_as_a_difference(desk: Client, office: Any, decided: Any) -> None:
    draft = decided()
    desk.post(address(draft), {**LETTER, "text": "Noa, it is over.\nNothing is left to do."})
    page = desk.get(pages(draft)[0]).content.decode()
    assert "Edited by Ada Lovelace" in page
    assert {"-The job failed twice and then succeeded.", "+Noa, it is over."} <= set(diffs.lines(page))
    assert "words, unchanged" not in page
    assert reading.payload_of(entries(draft)[-1].pk).args["is_edited"] is True


def test_the_words_are_the_agents_until_they_are_edited(desk: Client, office: Any, decided: Any) -> None:
    draft = decided()
    assert "answer answer--agents" in desk.get(address(draft)).content.decode()
    kept = desk.post(address(draft), {**LETTER, "to": "nobody", "text": "Mine."})
    page = kept.content.decode()
    assert kept.status_code == 422
    assert "Write one e-mail address" in page
    assert "Mine.</textarea>" in page
    assert "answer answer--agents" not in page
    same = desk.post(address(draft), {**LETTER, "to": "", "text": ANSWER.replace("\n", "\r\n")}).content.decode()
    assert "Say to whom." in same
    assert "answer answer--agents" in same
    assert not Sending.objects.exists()


@pytest.mark.parametrize("text", ["", " \r\n ", "x" * 40_001])
def test_nothing_and_too_much_are_asked_for_again(desk: Client, office: Any, decided: Any, text: str) -> None:
    assert desk.post(address(decided()), {**LETTER, "text": text}).status_code == 422
    assert not office.letters


def test_a_second_time_is_deliberate(desk: Client, office: Any, decided: Any) -> None:
    draft = decided()
    desk.post(address(draft), LETTER)
    double = desk.post(address(draft), {**LETTER, "text": "Typed twice."})
    assert double.status_code == 409
    assert "was sent while you were writing" in double.content.decode()
    assert "Typed twice.</textarea>" in double.content.decode()
    assert 'name="seen_sendings" value="1"' in double.content.decode()
    unsaid = desk.post(address(draft), {**LETTER, "seen_sendings": "1"})
    assert unsaid.status_code == 409
    assert "say that you want to send it again" in unsaid.content.decode()
    assert len(office.letters) == 1
    assert desk.post(address(draft), {**LETTER, "seen_sendings": "1", "again": "1"}).status_code == 302
    assert len(office.letters) == 2


def test_a_refusal_of_the_server_is_told_and_kept_and_can_be_tried_again(
    desk: Client, office: Any, decided: Any
) -> None:
    draft = decided()
    office.at_recipient = "550 No such mailbox"
    response = desk.post(address(draft), LETTER)
    page = response.content.decode()
    assert response.status_code == 409
    for words in ("It was not sent.", "550 No such mailbox", "noa@example.org", "Nothing tries again by itself."):
        assert words in page
    assert Sending.objects.get().status == "refused"
    last = entries(draft)[-1]
    assert (last.kind, last.status) == ("answer.refused", "refused")
    assert "550 No such mailbox" in last.error
    assert "Send it again" not in page
    office.at_recipient = "250 OK"
    assert desk.post(address(draft), {**LETTER, "seen_sendings": "1"}).status_code == 302


@pytest.mark.parametrize("cause", [TimeoutError(), smtplib.SMTPServerDisconnected("gone"), ConnectionResetError()])
def test_a_server_that_falls_silent_leaves_it_unknown(
    desk: Client, office: Any, decided: Any, monkeypatch: pytest.MonkeyPatch, cause: Exception
) -> None:
    def silent(*_: Any, **__: Any) -> int:
        raise cause

    monkeypatch.setattr("django.core.mail.EmailMessage.send", silent)
    draft = decided()
    response = desk.post(address(draft), LETTER)
    assert response.status_code == 409
    assert "We cannot tell whether it was sent." in response.content.decode()
    assert "Send it again" in response.content.decode()
    assert Sending.objects.get().status == "unknown"
    assert (entries(draft)[-1].kind, entries(draft)[-1].status) == ("answer.unknown", "unknown")
    assert "Not known whether it was sent" in desk.get(pages(draft)[0]).content.decode()


def test_an_attempt_that_nobody_finished_is_committed_and_shown_as_unknown(
    desk: Client, ada: Any, office: Any, decided: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(**_: Any) -> None:
        assert Sending.objects.get().status == "trying"
        raise KeyboardInterrupt

    monkeypatch.setattr(mail, "send", killed)
    draft = decided()
    with pytest.raises(KeyboardInterrupt):
        sendings.send(draft.pk, by=ada, to="noa@example.org", text=ANSWER, seen_sendings=0, again=False)
    assert "Being sent" in desk.get(pages(draft)[0]).content.decode()
    Sending.objects.update(begun_at=timezone.now() - timedelta(minutes=2))
    page = desk.get(pages(draft)[0]).content.decode()
    assert "Not known whether it was sent" in page
    assert "Nobody learned what came of it" in page
    with pytest.raises(NotAllowed, match="may be with somebody already"):
        sendings.send(draft.pk, by=ada, to="noa@example.org", text=ANSWER, seen_sendings=1, again=False)


def test_without_mail_it_can_be_copied_and_the_page_says_why_not_more(
    desk: Client, settings: Any, decided: Any
) -> None:
    settings.MAIL = None
    draft = decided()
    for page in (*pages(draft), address(draft)):
        assert "Mail is not set up here, so copy the answer instead" in desk.get(page).content.decode()
    assert 'data-copies="answer"' in desk.get(pages(draft)[0]).content.decode()
    kept = desk.post(address(draft), {**LETTER, "text": "Typed."})
    assert kept.status_code == 409
    assert "Typed.</textarea>" in kept.content.decode()
    assert not Sending.objects.exists()


@pytest.mark.parametrize("role", ["viewer", "admin", "auditor"])
def test_who_reviews_nothing_sends_nothing(
    client: Client, make_person: Any, office: Any, decided: Any, role: str
) -> None:
    draft = decided()
    client.force_login(make_person("vera", role))
    for page in pages(draft):
        assert "Your role sends no answers; someone on call does." in client.get(page).content.decode()
        assert address(draft) not in client.get(page).content.decode()
    assert client.post(address(draft), LETTER).status_code == 409
    assert not office.letters


def test_what_an_agent_hid_in_its_answer_is_seen_copied_and_sent_as_what_it_is(
    desk: Client, office: Any, decided: Any
) -> None:
    draft = decided(answer="</textarea><script>alert(1)</script> \u202edliaf\nall\u200bclear")
    for page in (*pages(draft), address(draft)):
        text = desk.get(page).content.decode()
        assert "<script>alert" not in text
        assert "\\u202edliaf\nall\\u200bclear</textarea>" in text
    shown = "</textarea><script>alert(1)</script> \\u202edliaf\r\nall\\u200bclear"
    desk.post(address(draft), {**LETTER, "text": shown})
    assert "\\u202edliaf" in office.letters[0].get_content()
    assert "words, unchanged" in desk.get(pages(draft)[0]).content.decode()


def test_nobody_writes_headers_or_several_addresses(desk: Client, office: Any, decided: Any) -> None:
    draft = decided()
    for to in ("a@example.org, b@example.org", "a@example.org\nBcc: b@example.org", "Ada <a@example.org>"):
        assert desk.post(address(draft), {**LETTER, "to": to}).status_code == 422
    assert not office.letters


def test_an_address_longer_than_we_can_keep_is_asked_for_again(desk: Client, office: Any, decided: Any) -> None:
    long = f"noa@{'.'.join(['b' * 60] * 4)}.example.org"  # sound, and longer than the column
    answer = desk.post(address(decided()), {**LETTER, "to": long})
    assert (answer.status_code, "at most 254 characters" in answer.content.decode()) == (422, True)
    assert not Sending.objects.exists()


def test_nobody_sends_letters_without_end(
    desk: Client, office: Any, decided: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sendings, "MOST_BY_ONE", 2)
    drafts = [decided() for _ in range(3)]  # each answer once: no draft alone is too many
    answers = [desk.post(address(draft), LETTER) for draft in drafts]
    assert [answer.status_code for answer in answers] == [302, 302, 409]
    assert "You sent 2 answers within an hour. Try again in" in answers[2].content.decode()
    assert len(office.letters) == Sending.objects.count() == 2
    (refused,) = Entry.objects.filter(subject=drafts[2].ref, kind="person.refused")
    assert "You sent 2 answers" in refused.summary


@pytest.mark.django_db(transaction=True)
def test_of_two_presses_at_once_one_is_sent_with_the_rights_of_the_people_plane(
    as_role: Any, ada: Any, office: Any, decided: Any
) -> None:
    draft = decided()
    as_role("people")
    refused, together = [], threading.Barrier(2)

    def press() -> None:
        together.wait()
        try:
            sendings.send(draft.pk, by=ada, to="noa@example.org", text=ANSWER, seen_sendings=0, again=False)
        except Stale as stale:
            refused.append(stale)
        finally:
            connection.close()

    threads = [threading.Thread(target=press) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), len(office.letters)) == (1, 1)
    assert Sending.objects.get().status == "sent"


@pytest.mark.parametrize("process", ["agents", "worker", "writer"])
@pytest.mark.django_db(transaction=True)
def test_no_other_process_reads_or_writes_sendings(as_role: Any, process: str) -> None:
    from django.db.utils import ProgrammingError

    as_role(process)
    with pytest.raises(ProgrammingError, match="permission denied"):
        Sending.objects.exists()


def test_the_page_needs_a_session_and_a_token(ada: Any, office: Any, decided: Any) -> None:
    draft = decided()
    assert Client().post(address(draft), LETTER)["Location"].startswith("/sign-in/")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ada)
    assert strict.post(address(draft), LETTER).status_code == 403
    assert not Sending.objects.exists()


def test_a_page_needs_as_many_queries_for_ten_sendings_as_for_one(
    desk: Client,
    ada: Any,
    office: Any,
    decided: Any,
    django_assert_max_num_queries: Any,
    django_assert_num_queries: Any,
) -> None:
    draft = decided()
    for page in pages(draft):
        with django_assert_max_num_queries(25) as first:
            desk.get(page)
        Sending.objects.bulk_create(
            Sending(draft=draft, by=ada, to="noa@example.org", subject="s", text="t", status="sent") for _ in range(9)
        )
        with django_assert_num_queries(len(first)):
            desk.get(page)
