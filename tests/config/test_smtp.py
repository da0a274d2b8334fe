"""The mail server that the environment names, read strictly."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from gate.config import smtp

SENDER = "Counterseal <counterseal@example.org>"
SECRET = "s3cret-in-the-url"


@pytest.mark.parametrize(
    ("url", "host", "port", "encryption", "user", "password"),
    [
        ("smtp://a:p%40%3A%2F@mail.example.org:2525?tls=starttls", "mail.example.org", 2525, "STARTTLS", "a", "p@:/"),
        ("smtp://ada:secret@mail.example.org?tls=starttls", "mail.example.org", 587, "STARTTLS", "ada", "secret"),
        ("smtps://ada%40b.org:secret@mail.example.org", "mail.example.org", 465, "TLS", "ada@b.org", "secret"),
        ("smtp://relay.example.org", "relay.example.org", 25, "none", "", ""),
        ("smtp://ada:secret@localhost:1025/", "localhost", 1025, "none", "ada", "secret"),
        ("smtp://[::1]:1025", "::1", 1025, "none", "", ""),
    ],
)  # fmt: skip
def test_a_url_says_all_there_is_to_say(
    url: str, host: str, port: int, encryption: str, user: str, password: str
) -> None:
    found = smtp.parse(url, SENDER)
    assert (found.host, found.port, found.encryption, found.user, found.password, found.sender) == (
        host, port, encryption, user, password, SENDER,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (f"mail.example.org:{SECRET}", "neither smtp:// nor smtps://"),
        (f"https://ada:{SECRET}@mail.example.org", "neither smtp:// nor smtps://"),
        (f"smtp://ada:{SECRET}@", "names no host"),
        (f"smtp://ada:{SECRET}@mail.example.org:99999?tls=starttls", "its port"),
        (f"smtp://ada:{SECRET}@mail.example.org:0?tls=starttls", "its port"),
        (f"smtp://ada:{SECRET}@[::1", "its host"),
        (f"smtp://ada:{SECRET}@mail.example.org", "unencrypted"),
        (f"smtp://ada:{SECRET}@mail.example.org?tls=no", "tls=starttls"),
        (f"smtp://ada:{SECRET}@mail.example.org?tls=starttls&more=1", "tls=starttls"),
        (f"smtps://ada:{SECRET}@mail.example.org?tls=starttls", "tls=starttls"),
        (f"smtps://ada:{SECRET}@mail.example.org/inbox", "after the host"),
        (f"smtps://ada:{SECRET}#1@mail.example.org", "after the host"),
        (f"smtps://ada:{SECRET}@mail.example.org\nX: y", "line breaks"),
        (f"smtps://{SECRET}@mail.example.org", "a name without a password"),
        (f"smtps://:{SECRET}@mail.example.org", "a password without a name"),
        (f"smtps://ada:{SECRET}%C3%A4@mail.example.org", "ASCII"),
    ],
)
def test_a_wrong_url_is_refused_with_a_hint_that_holds_nothing_of_it(url: str, why: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refusal:
        smtp.parse(url, SENDER)
    assert why in str(refusal.value)
    assert smtp.LIKE in str(refusal.value)
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize(
    "sender",
    ["Counterseal", "a@", "a@example.org, b@example.org", "A <a@example.org> B", "A\r\nBcc: b@b.org <a@example.org>"],
)  # fmt: skip
def test_a_sender_is_one_address(sender: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="COUNTERSEAL_MAIL_FROM"):
        smtp.parse("smtp://relay.example.org", sender)


def test_it_is_both_variables_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in smtp.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert smtp.configured() is None
    monkeypatch.setenv("COUNTERSEAL_SMTP_URL", "smtp://relay.example.org")
    with pytest.raises(ImproperlyConfigured, match="Set both"):
        smtp.configured()
    monkeypatch.setenv("COUNTERSEAL_MAIL_FROM", SENDER)
    found = smtp.configured()
    assert found is not None
    assert found.place == "relay.example.org:25"


def test_the_password_is_not_in_what_a_traceback_prints() -> None:
    assert SECRET not in repr(smtp.parse(f"smtps://ada:{SECRET}@mail.example.org", SENDER))


@given(st.text(max_size=60))
def test_whatever_is_set_is_a_server_or_a_hint(text: str) -> None:
    for url in (text, f"smtp://{text}", f"smtps://ada:{text}@mail.example.org"):
        try:
            assert smtp.parse(url, SENDER).host
        except ImproperlyConfigured as refusal:
            hint = str(refusal)
            assert "It must look like" in hint
