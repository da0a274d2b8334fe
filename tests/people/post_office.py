"""A real SMTP server for tests, as obliging or as stubborn as a test wants it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.machine import free_port

NAME, PASSWORD = "counterseal", "kept-secret-in-the-environment"


class Desk:
    """Takes letters, or answers something else at one of its commands."""

    def __init__(self) -> None:
        self.letters: list[EmailMessage] = []
        self.raw: list[bytes] = []
        self.encrypted: list[bool] = []
        self.at_recipient = "250 OK"
        self.at_data = "250 OK"

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802
        envelope.rcpt_tos.append(address)
        return self.at_recipient

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.raw.append(envelope.content)
        self.letters.append(message_from_bytes(envelope.content, _class=EmailMessage, policy=policy.default))
        self.encrypted.append(session.ssl is not None)
        return self.at_data


def _login(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
    fits = isinstance(given, LoginPassword) and (given.login, given.password) == (NAME.encode(), PASSWORD.encode())
    return AuthResult(success=fits, handled=False)


@contextmanager
def opened(tls: ssl.SSLContext | None = None, **options: Any) -> Iterator[tuple[Desk, int]]:
    """A server on this machine: the desk and its port."""
    port = free_port()
    desk = Desk()
    controller = Controller(
        desk, "127.0.0.1", port, authenticator=_login, auth_require_tls=False, tls_context=tls, **options
    )
    controller.start()
    try:
        yield desk, port
    finally:
        controller.stop()


def certificate(directory: Path) -> Path:
    """A certificate of this machine's address with its key, in one file: it vouches for itself."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "desk")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = directory / "desk.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + plain)
    return file
