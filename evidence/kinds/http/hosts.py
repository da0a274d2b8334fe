"""Addresses of the web, read strictly: one spelling for each, and none that two readers understand in two ways.

No user before the host, no zone, no port 0, no number for an IPv4 address but four decimals, no capital letters, no
trailing dot, no letters beyond ASCII (a name in another script is written as its `xn--` form), no backslash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urljoin

LONGEST = 4_000  # characters of an address
PORTS = {"https": 443, "http": 80}
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_URL = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?(/[^?#]*)?(\?[^#]*)?(#.*)?", re.S)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label that some readers take for an IPv4 address
_CHARACTERS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*")  # RFC 3986: all that stands in an address
_SEGMENT = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")


@dataclass(frozen=True)
class Origin:
    """Where a request goes: how, to whom, by which port."""

    scheme: str
    host: str  # without brackets
    port: int

    @property
    def authority(self) -> str:
        """What the Host header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


@dataclass(frozen=True)
class Place:
    """An origin, and what is asked for there: path and query as they are sent."""

    origin: Origin
    target: str


def parse(text: object) -> Place:
    """An address of the web. Raises ValueError with a sentence."""
    if not isinstance(text, str) or len(text) > LONGEST or not _CHARACTERS.fullmatch(text):
        raise ValueError(f"An address is at most {LONGEST:,} characters that may stand in one.")
    found = _URL.fullmatch(text)
    if found is None:
        raise ValueError("An address is https:// or http://, a host in lower case without a user, and a path.")
    scheme, host, port, path, query, _ = found.groups()
    return Place(_origin(scheme, host, port), (path or "/") + (query or ""))


def _origin(scheme: str, host: str, port: str | None) -> Origin:
    number = int(port) if port else PORTS[scheme]
    if number > 65_535:
        raise ValueError("A port is a number from 1 to 65535.")
    if not _is_host(host):
        raise ValueError(f"{host[:80]} is no host: a name in lower case, four decimal numbers, or [an IPv6 address].")
    return Origin(scheme, host.strip("[]"), number)


def _is_host(host: str) -> bool:
    if host.startswith("["):
        return _is_spelled(IPv6Address, host[1:-1])
    if _is_spelled(IPv4Address, host):
        return True
    return len(host) <= 253 and _NAME.fullmatch(host) is not None and not _NUMBER.fullmatch(host.rsplit(".", 1)[-1])


def _is_spelled(kind: type[IPv4Address] | type[IPv6Address], text: str) -> bool:
    """Whether it is such an address, in the one spelling that it has."""
    try:
        return str(kind(text)) == text
    except ValueError:
        return False


def _parsed(key: str, text: object) -> Place:
    """An address that stands under a key of a body, which the sentence of a ValueError names."""
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from error


def base(text: object) -> tuple[Origin, str]:
    """The origin of a source and the path that all its own are behind, without a last slash. Raises ValueError."""
    place = _parsed("url", text)
    if not isinstance(text, str) or "?" in text or "#" in text or not _SEGMENT.fullmatch(place.target):
        raise ValueError("url ends with a plain path: no dots as a step, no escapes, no query.")
    return place.origin, place.target.rstrip("/")


def origin(text: object) -> Origin:
    """An origin alone, like https://mirror.example.com. Raises ValueError."""
    place = _parsed("hosts", text)
    if str(place.origin) != text:
        raise ValueError("hosts lists addresses without a path, like https://mirror.example.com.")
    return place.origin


def follow(place: Place, location: str) -> Place:
    """Where a redirect leads. Raises ValueError."""
    if not _CHARACTERS.fullmatch(location):
        raise ValueError("The redirect leads to something that is no address.")
    return parse(urljoin(f"{place.origin}{place.target}", location))
