"""Where a credential leads: mysql://reader:password@db.example:3306/shop_read?ssl_ca=/etc/ssl/db.pem

Nothing else of the driver's can be set there: no statement to run at sign-in, no file of options, no local files.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from audit.models import Definition
from evidence import credentials
from evidence.errors import Problem

SCHEMES = ("mysql", "mariadb")
OPTIONS = frozenset(("unix_socket", "ssl_ca", "ssl_cert", "ssl_key"))
PORT = 3306
UNREADABLE = (
    "is no address like mysql://reader:password@db.example:3306/shop_read; beside it only "
    f"{', '.join(sorted(OPTIONS))} can be said"
)


@dataclass(frozen=True)
class Address:
    """A server, and as whom to sign in there."""

    host: str
    port: int
    user: str
    password: str
    schema: str
    options: tuple[tuple[str, str], ...]

    @property
    def shown(self) -> str:
        """The address without the password."""
        more = "&".join(f"{name}={quote(value, safe='/')}" for name, value in self.options)
        return f"mysql://{quote(self.user)}@{self.host}:{self.port}/{self.schema}{f'?{more}' if more else ''}"

    def option(self, name: str) -> str | None:
        """The option of this name, or None."""
        return dict(self.options).get(name)


def of(source: Definition, key: str) -> Address:
    """The address that the source's `reader_env` or `doctor_env` holds. Raises Problem; it never repeats the value."""
    found = parsed(credentials.secret(source, key))
    if found is None:
        raise Problem(503, "source_unset", f"What {source.body[key]} holds {UNREADABLE}.")
    return found


def parsed(text: str) -> Address | None:
    """The address in the text, or None when it is none or says more than an address may."""
    try:
        parts = urlsplit(text)
        port = PORT if parts.port is None else parts.port
        options = tuple(sorted(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))))
    except ValueError:
        return None
    schema, user = unquote(parts.path.removeprefix("/")), unquote(parts.username or "")
    names = [name for name, _ in options]
    is_plain = (
        parts.scheme in SCHEMES and not parts.fragment and set(names) <= OPTIONS and len(set(names)) == len(names)
    )
    if not (is_plain and user and schema and parts.hostname):
        return None
    return Address(parts.hostname, port, user, unquote(parts.password or ""), schema, options)
