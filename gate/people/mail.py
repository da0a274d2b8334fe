"""Sending one plain letter. Callers MUST NOT be in a transaction: a slow server would hold its locks."""

from __future__ import annotations

import smtplib
import socket
import ssl
from contextlib import suppress

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend
from django.core.mail.message import sanitize_address
from django.core.validators import validate_email

from audit.masking import mask
from gate.config.smtp import STARTTLS, TLS, URL, MailServer

SECONDS = 5.0  # for each answer of the server
LONGEST_ANSWER = 200  # characters of what the server said
LONGEST_SUBJECT = 150


# The server may have taken the letter before it fell silent.
DOUBTFUL = (TimeoutError, ConnectionResetError, BrokenPipeError, smtplib.SMTPServerDisconnected)


class NotSent(Exception):
    """A letter did not go out. The text is one sentence that says what happened and what to do.

    `is_doubtful` where the server was reached and may have taken the letter all the same.
    """

    def __init__(self, sentence: str, *, is_doubtful: bool = False) -> None:
        super().__init__(sentence)
        self.is_doubtful = is_doubtful


def is_configured() -> bool:
    """Whether this process knows a mail server."""
    return settings.MAIL is not None


def send(*, to: str, subject: str, text: str) -> None:
    """Hand one plain letter to the mail server and wait until it took it. Raises NotSent.

    `to` is one bare address. What is not printable in `subject`, line breaks too, becomes a space; `text` may have
    lines, so what others wrote goes through `one_line` before it stands in it.
    """
    server: MailServer | None = settings.MAIL
    if server is None:
        raise NotSent(f"Mail is not set up here; an operator sets {URL}.")
    _check_address(to)
    backend = _backend(server)
    letter = EmailMessage(one_line(subject)[:LONGEST_SUBJECT], text, server.sender, [to], connection=backend)
    is_open = False
    try:
        is_open = bool(backend.open())
        letter.send()
    except (smtplib.SMTPException, OSError) as error:
        # Whoever was not reached took nothing.
        raise NotSent(_sentence(error, server), is_doubtful=is_open and isinstance(error, DOUBTFUL)) from error
    finally:
        _close(backend)  # also what was opened half


def _close(backend: EmailBackend) -> None:
    # What the server says to a goodbye is no word about the letter, which it has taken or refused by then.
    with suppress(smtplib.SMTPException, OSError):
        backend.close()


def one_line(text: str) -> str:
    """The text without line breaks, control characters or disguise: nobody's name begins a line of its own."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def _check_address(to: str) -> None:
    try:
        validate_email(to)
    except ValidationError as error:
        raise NotSent(f"“{one_line(to)[:100]}” is no e-mail address; correct it first.") from error
    if not _goes_out_as_written(to):
        raise NotSent(f"“{one_line(to)[:100]}” cannot be written to; spell it in ASCII, a domain as xn--….")


def _goes_out_as_written(to: str) -> bool:
    # What would be decoded, folded or spelled anew on its way would go elsewhere than the log says.
    try:
        return to.isprintable() and sanitize_address(to, "utf-8") == to
    except ValueError:  # a domain of letters that no domain has
        return False


def _backend(server: MailServer) -> EmailBackend:
    return EmailBackend(
        host=server.host, port=server.port, username=server.user, password=server.password, timeout=SECONDS,
        use_tls=server.encryption == STARTTLS, use_ssl=server.encryption == TLS,
    )  # fmt: skip


def _sentence(error: Exception, server: MailServer) -> str:
    return _refused(error, server) if isinstance(error, smtplib.SMTPException) else _unreached(error, server)


def _unreached(error: Exception, server: MailServer) -> str:
    at = f"The mail server {server.place}"
    if isinstance(error, socket.gaierror):
        return f"{at} was not found; check the host in {URL}."
    if isinstance(error, TimeoutError):
        return f"{at} did not answer within {SECONDS:.0f} s; check host and port in {URL}, and the network."
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{at} has a certificate that is not trusted ({_said(error.verify_message)}); nothing was sent."
    if isinstance(error, ssl.SSLError):
        return f"{at} does not speak TLS as {URL} says; check its scheme and port."
    return f"{at} cannot be reached ({_said(getattr(error, 'strerror', None) or str(error))}); check {URL}."


def _refused(error: smtplib.SMTPException, server: MailServer) -> str:
    at = f"The mail server {server.place}"
    if isinstance(error, smtplib.SMTPServerDisconnected):
        if isinstance(error.__context__, TimeoutError):
            return _unreached(error.__context__, server)
        return f"{at} hung up before it took the letter; try again, or ask who runs it."
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return f"{at} does not offer what {URL} asks for ({_said(str(error))}); nothing was sent."
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        ((code, answer),) = error.recipients.values()
        return f"{at} takes no letter for that address: {_answer(code, answer)}."
    if isinstance(error, smtplib.SMTPSenderRefused):
        return f"{at} takes no letter from {server.sender}: {_answer(error.smtp_code, error.smtp_error)}."
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return f"{at} refused the name and password of {URL}: {_answer(error.smtp_code, error.smtp_error)}."
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{at} refused: {_answer(error.smtp_code, error.smtp_error)}."
    return f"{at} cannot be used as {URL} says: {_said(str(error))}."


def _answer(code: int, answer: bytes | str) -> str:
    return f"{code} {_said(answer.decode('utf-8', 'replace') if isinstance(answer, bytes) else answer)}".strip()


def _said(answer: str) -> str:
    # A filter may quote what it refused, and a link that sets a password stands in it.
    return str(mask(one_line(answer)))[:LONGEST_ANSWER].rstrip(".")
