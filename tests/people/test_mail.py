"""Letters through a real mail server, and everything a server may answer instead of taking one."""

from __future__ import annotations

import smtplib
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.config import smtp
from gate.people import mail
from tests.people import post_office
from tests.people.post_office import NAME, PASSWORD

SENDER = "Counterseal <counterseal@example.org>"
LETTER = {"to": "mia@example.org", "subject": "Hello", "text": "One line.\n.\nAnother.\n"}


@pytest.fixture
def set_up(settings: Any) -> Any:
    """Let the process know a mail server."""

    def know(url: str) -> None:
        settings.MAIL = smtp.parse(url, SENDER)

    return know


def refusal(**letter: str) -> str:
    with pytest.raises(mail.NotSent) as refused:
        mail.send(**{**LETTER, **letter})
    return str(refused.value)


def test_without_a_server_nothing_is_sent_and_it_says_so(settings: Any) -> None:
    settings.MAIL = None
    assert not mail.is_configured()
    assert refusal() == "Mail is not set up here; an operator sets COUNTERSEAL_SMTP_URL."


def test_a_letter_arrives_as_it_was_written(set_up: Any) -> None:
    with post_office.opened() as (desk, port):
        set_up(f"smtp://{NAME}:{PASSWORD}@127.0.0.1:{port}")
        assert mail.is_configured()
        mail.send(**LETTER)
    (letter,) = desk.letters
    assert (letter["From"], letter["To"], letter["Subject"]) == (SENDER, "mia@example.org", "Hello")
    assert letter.get_content_type() == "text/plain"
    assert letter.get_content().replace("\r\n", "\n") == LETTER["text"]


@pytest.mark.parametrize("line", ["\n", "\r\n", "\r", "\u2028", "\x0b", "\x85", "\0"])
def test_no_subject_begins_a_header(set_up: Any, line: str) -> None:
    with post_office.opened() as (desk, port):
        set_up(f"smtp://127.0.0.1:{port}")
        mail.send(**{**LETTER, "subject": f"Hello{line}Bcc: eve@example.org{line}{line}<b>Body</b>"})
    (letter,) = desk.letters
    assert letter["Subject"] == "Hello Bcc: eve@example.org <b>Body</b>"
    assert letter["Bcc"] is None
    assert letter["To"] == "mia@example.org"


@pytest.mark.parametrize(
    "to",
    [
        "mia@example.org\nBcc: eve@example.org", "mia@example.org\r\nSubject: x", "mia@example.org, eve@example.org",
        "Mia <mia@example.org>", "mia@example.org\0", "mia", "", "mia@example.org>\r\nDATA",
    ],
)  # fmt: skip
def test_only_one_bare_address_is_written_to(set_up: Any, to: str) -> None:
    with post_office.opened() as (desk, port):
        set_up(f"smtp://127.0.0.1:{port}")
        assert "is no e-mail address" in refusal(to=to)
    assert desk.letters == []


@pytest.mark.parametrize(
    "to",
    [
        '"\x1cX"@example.org', '"\x1cBcc:eve@example.org"@example.org', '"\x01"@example.org', '"=?utf-8?q?=0A?="@a.org',
        "=?utf-8?q?eve?=@example.org", "a@fa\xdf.de", "a@ex\xe4mple.org", "a@exa\u2028mple.org", "a@\xad.org",
        "a@" + "\xe4" * 60 + ".org",
    ],
)  # fmt: skip
def test_a_letter_goes_to_what_is_written_or_to_nobody(set_up: Any, to: str) -> None:
    with post_office.opened() as (desk, port):
        set_up(f"smtp://127.0.0.1:{port}")
        assert "cannot be written to; spell it in ASCII" in refusal(to=to)
        assert not desk.raw


@pytest.mark.parametrize(
    "to", ["a@xn--exmple-cua.org", '"a,b"@example.org', "a+b@[127.0.0.1]", f"{'a' * 64}@example.org"]
)
def test_what_is_odd_and_sound_is_written_to(set_up: Any, to: str) -> None:
    with post_office.opened() as (desk, port):
        set_up(f"smtp://127.0.0.1:{port}")
        mail.send(**{**LETTER, "to": to})
    assert desk.letters[0]["To"] == to


def test_names_in_a_letter_begin_no_line() -> None:
    assert mail.one_line("Mia\nYour link: http://evil.example\u202e\t x") == "Mia Your link: http://evil.example x"


def test_a_wrong_password_is_said_without_it(set_up: Any) -> None:
    with post_office.opened() as (desk, port):
        set_up(f"smtp://{NAME}:wrong-password@127.0.0.1:{port}")
        said = refusal()
    assert said.startswith(
        f"The mail server 127.0.0.1:{port} refused the name and password of COUNTERSEAL_SMTP_URL: 535"
    )
    assert "wrong-password" not in said
    assert desk.letters == []


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's side of TLS, with a certificate that this process trusts."""
    file = post_office.certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def test_starttls_encrypts_before_the_password_is_said(set_up: Any, tls: ssl.SSLContext) -> None:
    with post_office.opened(tls, require_starttls=True) as (desk, port):
        set_up(f"smtp://{NAME}:{PASSWORD}@127.0.0.1:{port}?tls=starttls")
        mail.send(**LETTER)
    assert desk.encrypted == [True]


def test_without_starttls_nothing_is_sent(set_up: Any) -> None:
    with post_office.opened() as (desk, port):
        set_up(f"smtp://{NAME}:{PASSWORD}@127.0.0.1:{port}?tls=starttls")
        said = refusal()
    assert "STARTTLS" in said
    assert said.endswith("nothing was sent.")
    assert desk.letters == []


def test_a_certificate_of_somebody_else_is_not_trusted(
    set_up: Any, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with post_office.opened(tls) as (desk, port):
        set_up(f"smtp://{NAME}:{PASSWORD}@127.0.0.1:{port}?tls=starttls")
        assert "has a certificate that is not trusted (self-signed certificate); nothing was sent" in refusal()
    assert desk.letters == []


def test_a_server_that_speaks_no_tls_is_named_as_such(set_up: Any) -> None:
    with post_office.opened() as (_, port):
        set_up(f"smtps://127.0.0.1:{port}")
        assert "does not speak TLS as COUNTERSEAL_SMTP_URL says" in refusal()


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server that takes calls and says nothing."""
    monkeypatch.setattr(mail, "SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_server_that_never_answers_is_not_waited_for(set_up: Any, silent: int) -> None:
    set_up(f"smtp://127.0.0.1:{silent}")
    assert refusal().startswith(f"The mail server 127.0.0.1:{silent} did not answer within")


def test_the_wait_is_short() -> None:
    assert mail.SECONDS <= 5


def test_nobody_listens(set_up: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    set_up(f"smtp://127.0.0.1:{port}")
    assert "cannot be reached (Connection refused); check COUNTERSEAL_SMTP_URL." in refusal()


def test_a_host_that_is_not_there(set_up: Any) -> None:
    set_up("smtp://mail.invalid")
    assert refusal() == "The mail server mail.invalid:25 was not found; check the host in COUNTERSEAL_SMTP_URL."


def test_a_letter_that_was_taken_is_taken_however_the_server_says_goodbye(
    set_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rude(backend: mail.EmailBackend) -> None:
        raise smtplib.SMTPResponseException(500, b"Line too long")

    with post_office.opened() as (desk, port):
        set_up(f"smtp://127.0.0.1:{port}")
        monkeypatch.setattr(mail.EmailBackend, "close", rude)
        mail.send(**LETTER)
    assert len(desk.letters) == 1


def test_a_recipient_that_is_refused(set_up: Any) -> None:
    with post_office.opened() as (desk, port):
        desk.at_recipient = "550 No such mailbox\r\n"
        set_up(f"smtp://127.0.0.1:{port}")
        assert refusal().endswith("takes no letter for that address: 550 No such mailbox.")


def test_what_a_filter_quotes_of_a_link_is_masked(set_up: Any) -> None:
    link = "http://localhost:8000/password/csp_" + "x" * 43 + "/"
    with post_office.opened() as (desk, port):
        desk.at_data = f"554 Suspicious link {link}"
        set_up(f"smtp://127.0.0.1:{port}")
        said = refusal(text=link)
    assert "554 Suspicious link http://localhost:8000/password/[masked: Counterseal token]/" in said
