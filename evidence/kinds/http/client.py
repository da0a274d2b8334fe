"""The one way in which sources are read over HTTP: guarded on every side, and never tried a second time.

GET, or the POST of a search that the kind of the source names (never a contract). Nowhere but to the hosts of the
source's definition, at addresses that were checked (evidence.kinds.http.wire), by no proxy and with no cookies. The
credential goes to the source's own origin alone, and never along a redirect. Size and time are capped over the whole of
it, whatever the server does.
"""

from __future__ import annotations

import base64
import os
import re
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpcore2
import httpx2

from evidence import exact_json
from evidence.bounds import DEFAULT, Limits
from evidence.credentials import of_variable
from evidence.errors import Refused
from evidence.kinds.http import bodies, hosts, wire
from evidence.kinds.http.hosts import Place
from evidence.kinds.http.site import Site

MOST_CONNECTIONS = 10
IDLE = 60.0  # seconds for which a connection is kept for the next call
MOST_REDIRECTS = 3
MOVED = (301, 302, 303, 307, 308)
SHUT = (401, 403)
LONGEST_SAID = 300  # characters of a server's own words that a sentence repeats
# What may be sent as a credential: everything that a header can carry and that is no space at its ends.
SENDABLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,8190}[\x21-\x7e])?")
TARGET = re.compile(r"/[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*(?:\?[A-Za-z0-9\-._~!$&'()*+,;=:@%/?]*)?")
LONGEST_TARGET = 8_000
FIXED = (
    ("User-Agent", "counterseal"),
    ("Accept-Encoding", "gzip"),
    ("Cache-Control", "no-cache"),  # an answer of before is none; each kind may say it in its server's own word
)
JSON = ("Accept", "application/json")
Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Reply:
    """An answer: its headers by their names in lower case, and its exact JSON."""

    headers: Mapping[str, str]
    value: Any


class Answered(Refused):
    """The server answered, and not with what was asked for: its status, and its JSON or plain text if it sent any.

    Both are the server's own words: they reach nobody but through `said`.
    """

    def __init__(self, status: int, value: Any, text: str, sentence: str) -> None:
        super().__init__(f"http_{status}", sentence)
        self.status = status
        self.value = value
        self.text = text


def get(site: Site, target: str, *, limits: Limits = DEFAULT, headers: Headers = ()) -> Reply:
    """The JSON at a path and query, behind the source's own path. Raises Refused, or Problem for an unset credential.

    `target` begins with a slash and is percent-encoded (see evidence.kinds.http.encoding). Raises Answered for every
    status but 200.
    """
    return _exchange(site, b"GET", target, None, limits, headers)


def search(site: Site, target: str, body: Any, *, limits: Limits = DEFAULT) -> Reply:
    """The JSON that a search answers with, asked by POST. Only for a target that the kind itself holds for a read."""
    content = exact_json.dumps(body).encode("ascii")
    return _exchange(site, b"POST", target, content, limits, (("Content-Type", "application/json"),))


def text(site: Site, target: str, *, limits: Limits = DEFAULT) -> str:
    """The plain text at a path and query, such as a log, with a mark for what is no UTF-8. Raises as `get` does."""
    with _answered(site, b"GET", target, None, limits, (("Accept", "text/plain, */*"),)) as response:
        return _taken(site, response, limits)[1].decode("utf-8", "replace")


def status(site: Site, target: str, *, limits: Limits = DEFAULT) -> int:
    """With which status a GET is answered, whatever else it is answered with. Raises Refused, or Problem."""
    with _answered(site, b"GET", target, None, limits, ()) as response:
        return response.status


def close() -> None:
    """Forget every connection."""
    with _lock:
        _pools.clear()


def said(site: Site, text: Any) -> str:
    """A server's own words for a sentence: short, printable, and without the credential, which it may repeat."""
    words = "".join(letter if letter.isprintable() else " " for letter in str(text))
    for secret in _secrets(site):
        words = words.replace(secret, "[masked]")
    return words[:LONGEST_SAID].strip()


def _secrets(site: Site) -> list[str]:
    """The credential in each form in which it is sent, the longest first."""
    found = os.environ.get(site.variable, "") if site.variable else ""
    _, _, password = found.partition(":")
    forms = {found, _basic(found), password if site.credential == "basic" else ""} - {""}
    return sorted(forms, key=len, reverse=True)


def _exchange(
    site: Site, method: bytes, target: str, content: bytes | None, limits: Limits, headers: Headers
) -> Reply:  # fmt: skip
    with _answered(site, method, target, content, limits, headers) as response:
        return _reply(site, response, limits)


@contextmanager
def _answered(
    site: Site, method: bytes, target: str, content: bytes | None, limits: Limits, headers: Headers
) -> Iterator[httpcore2.Response]:
    """The last answer, after redirects within what the definition names. Its body is read, or left, in the block."""
    if not TARGET.fullmatch(target) or len(target) > LONGEST_TARGET:
        raise Refused("parameters", "The arguments make no address that can be sent; shorten them.")
    place, asked = Place(site.origin, f"{site.base}{target}"), _once((*FIXED, JSON, *site.headers, *headers))
    pool, credential = _pool(site), _credential(site)
    with _refusals(site, limits), wire.within(limits.seconds):
        for step in range(MOST_REDIRECTS + 1):
            # Another host sees nothing of what the source's own is told. The credential goes along the path that was
            # asked for and no other, so that no answer, and no other host, leads it anywhere in the source.
            told = asked if place.origin == site.origin else (*FIXED, JSON)
            with _sent(pool, method, place, told if step else _once((*told, *credential)), content) as response:
                if response.status not in MOVED:
                    _check_is_let_in(site, step, response)
                    yield response
                    return
                place = _moved(site, method, place, response)
    raise Refused("redirect_refused", f"{site.name} leads on and on; give the address where it ends as its url.")


def _check_is_let_in(site: Site, step: int, response: httpcore2.Response) -> None:
    """Raise Refused where a redirect led to a door that wants the credential: it is not taken there."""
    if step and response.status in SHUT and site.variable:
        sentence = f"{site.name} leads to where it wants its credential, which no redirect is followed with"
        raise Refused("redirect_refused", f"{sentence}; let the tool ask for the path where it ends.")


def _once(headers: Headers) -> Headers:
    """Each header once: the credential before what a contract says, that before the source's, that before the usual."""
    return tuple({name.lower(): (name, value) for name, value in headers}.values())


def _credential(site: Site) -> Headers:
    """The header that carries the credential. Raises Problem when it is unset, Refused when no header can carry it."""
    if not site.variable:
        return ()
    secret = of_variable(site.name, site.variable)
    if not SENDABLE.fullmatch(secret):
        raise Refused("credential", f"What {site.variable} holds cannot be sent: plain characters on one line can.")
    if site.credential == "bearer":
        return (("Authorization", f"Bearer {secret}"),)
    if site.credential == "basic":
        return (("Authorization", f"Basic {_basic(secret)}"),)
    return ((site.credential.removeprefix("header "), secret),)


def _basic(secret: str) -> str:
    return base64.b64encode(secret.encode()).decode() if secret else ""


@contextmanager
def _refusals(site: Site, limits: Limits) -> Iterator[None]:
    """Everything that the connection raises, as Refused. Its own words are left out: they may repeat a header."""
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise Refused("too_slow", f"{site.name} took longer than {limits.seconds:g} seconds.") from error
    except httpcore2.ConnectError as error:
        is_untrusted = "CERTIFICATE" in str(error)
        why = "its certificate is not to be trusted" if is_untrusted else "look whether its server is up"
        raise Refused("unreachable", f"{site.name} could not be reached: {why}.") from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol) as error:
        raise Refused("broken_off", f"{site.name} gave no answer that could be read to its end.") from error


@contextmanager
def _sent(
    pool: httpcore2.ConnectionPool, method: bytes, place: Place, headers: Headers, content: bytes | None
) -> Iterator[httpcore2.Response]:
    origin = place.origin
    url = httpcore2.URL(
        scheme=origin.scheme.encode(), host=origin.host.encode(), port=origin.port, target=place.target.encode()
    )
    listed = [(name.encode(), value.encode()) for name, value in (("Host", origin.authority), *headers)]
    seconds = {"pool": wire.left(), "connect": wire.left(), "read": wire.left(), "write": wire.left()}
    with pool.stream(method, url, headers=listed, content=content, extensions={"timeout": seconds}) as response:
        yield response


def _reply(site: Site, response: httpcore2.Response, limits: Limits) -> Reply:
    headers, body = _taken(site, response, limits)
    return Reply(headers, bodies.value(body, headers))


def _taken(site: Site, response: httpcore2.Response, limits: Limits) -> tuple[dict[str, str], bytes]:
    """Headers and body of an answer. Raises Answered for one that is none."""
    headers = _by_name(response)
    body = bodies.taken(response.iter_stream(), headers, limits.bytes)
    if response.status != 200:
        sentence = f"{site.name} answered with {response.status}."
        raise Answered(response.status, _any_value(body, headers), _any_text(body, headers), sentence)
    return headers, body


def _any_value(body: bytes, headers: Mapping[str, str]) -> Any:
    """The JSON of an answer that is none, if it holds any."""
    try:
        return bodies.value(body, headers)
    except Refused:
        return None


def _any_text(body: bytes, headers: Mapping[str, str]) -> str:
    """The plain text of an answer, if it is any."""
    return body.decode("utf-8", "replace") if headers.get("content-type", "").startswith("text/plain") else ""


def _by_name(response: httpcore2.Response) -> dict[str, str]:
    """The headers by their names. Those that came twice are one list, as RFC 9110 has it."""
    found: dict[str, str] = {}
    for name, value in response.headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _moved(site: Site, method: bytes, place: Place, response: httpcore2.Response) -> Place:
    """Where a redirect leads, if the source's definition lets it. Raises Refused."""
    try:
        found = hosts.follow(place, _by_name(response).get("location", ""))
    except ValueError as error:
        raise Refused("redirect_refused", f"{site.name} leads to something that is no plain address.") from error
    if method != b"GET" or found.origin not in {site.origin, *site.others}:
        raise Refused(
            "redirect_refused", f"{site.name} leads to {found.origin}, which its hosts do not name; it is not followed."
        )
    return found


_pools: dict[tuple[str, str], tuple[Site, httpcore2.ConnectionPool]] = {}
_lock = threading.Lock()


def _pool(site: Site) -> httpcore2.ConnectionPool:
    """The connections of a source. A definition that changed takes none of those that were made before."""
    with _lock:
        before = _pools.get((site.name, site.variable))
        if before is not None and before[0] == site:
            return before[1]
        pool = httpcore2.ConnectionPool(
            ssl_context=_trust(site), max_connections=MOST_CONNECTIONS, max_keepalive_connections=MOST_CONNECTIONS,
            keepalive_expiry=IDLE, network_backend=wire.Wire(site.named),
        )  # fmt: skip
        _pools[site.name, site.variable] = (site, pool)
        return pool


def _trust(site: Site) -> ssl.SSLContext:
    """Whose certificates count: those that the definition names, else the machine's."""
    context = ssl.create_default_context(cadata=site.ca) if site.ca else httpx2.create_ssl_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
