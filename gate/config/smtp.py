"""The mail server that the environment names. Everything works without one: links are handed over by hand then."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.utils import parseaddr
from urllib.parse import SplitResult, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

from gate.config import environment
from gate.config.environment import HERE

URL, SENDER = "COUNTERSEAL_SMTP_URL", "COUNTERSEAL_MAIL_FROM"
VARIABLES = (URL, SENDER)
LIKE = "smtp://name:password@mail.example.org:587?tls=starttls or smtps://name:password@mail.example.org:465"
PLAIN, STARTTLS, TLS = "none", "STARTTLS", "TLS"
PORTS = {PLAIN: 25, STARTTLS: 587, TLS: 465}


@dataclass(frozen=True)
class MailServer:
    """Where mail is handed in, how, and in whose name."""

    host: str
    port: int
    encryption: str
    user: str
    password: str = field(repr=False)
    sender: str = ""

    @property
    def place(self) -> str:
        """Host and port, as sentences name them."""
        return f"{self.host}:{self.port}"


def configured() -> MailServer | None:
    """The server of the environment; None when there is none. Raises ImproperlyConfigured with what to set."""
    url, sender = (environment.text(name, "") for name in VARIABLES)
    if not url and not sender:
        return None
    if not url or not sender:
        raise ImproperlyConfigured(f"Set both {URL} and {SENDER}, or neither: mail needs a server and a sender.")
    return parse(url, sender)


def parse(url: str, sender: str) -> MailServer:
    """A server from its URL and sender. Raises ImproperlyConfigured; the sentence holds nothing of the URL."""
    parts = _split(url)
    encryption, port = _encryption(parts), _port(parts)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if bool(user) != bool(password):
        raise _wrong("it has a name without a password, or a password without a name")
    if not (user + password).isascii():
        raise _wrong("name and password may hold ASCII characters alone")
    host = parts.hostname or ""
    if password and encryption == PLAIN and host not in HERE:
        raise _wrong("it would send the password unencrypted; add ?tls=starttls, or write smtps")
    return MailServer(host, port or PORTS[encryption], encryption, user, password, _sender(sender))


def _split(url: str) -> SplitResult:
    if not url.isprintable() or " " in url:  # urlsplit would drop line breaks without a word
        raise _wrong("it holds spaces or line breaks")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise _wrong("its host cannot be read") from error
    if parts.scheme not in ("smtp", "smtps"):
        raise _wrong("it begins with neither smtp:// nor smtps://")
    if not parts.hostname:
        raise _wrong("it names no host")
    if parts.path not in ("", "/") or parts.fragment:
        raise _wrong("it goes on after the host; write / ? and # in a password as %2F %3F and %23")
    return parts


def _encryption(parts: SplitResult) -> str:
    known = {("smtp", ""): PLAIN, ("smtp", "tls=starttls"): STARTTLS, ("smtps", ""): TLS}
    if (parts.scheme, parts.query) not in known:
        raise _wrong("behind ? there may be tls=starttls, after smtp:// alone")
    return known[parts.scheme, parts.query]


def _port(parts: SplitResult) -> int | None:
    try:
        port = parts.port
    except ValueError as error:
        raise _wrong("its port is no number up to 65535") from error
    if port == 0:
        raise _wrong("its port is 0")
    return port


def _sender(text: str) -> str:
    name, address = parseaddr(text)
    try:
        validate_email(address)
    except ValidationError as error:
        raise ImproperlyConfigured(f"{SENDER} must be an address like counterseal@example.org.") from error
    if not text.isprintable() or text not in (address, f"{name} <{address}>"):
        raise ImproperlyConfigured(f"{SENDER} must be one address, like Counterseal <counterseal@example.org>.")
    return text


def _wrong(why: str) -> ImproperlyConfigured:
    # Not with the URL itself: it has a password in it.
    return ImproperlyConfigured(f"{URL} cannot be used: {why}. It must look like {LIKE}.")
