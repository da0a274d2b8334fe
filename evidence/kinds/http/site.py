"""What a source's definition says about the server that it is read from, whatever that server is.

url: https, or http where that is what it says, with the path that everything is behind. reader_env: the variable with
the credential's secret; left out where the server asks for none. credential: how it is sent, "bearer", "basic" (the
variable holds user:password) or "header X-Api-Key". doctor_env: another one, which sees more of the server. hosts:
where redirects may lead besides; they never get the credential. addresses: those which are not everybody's and may be
reached all the same. headers: sent with each request. ca: the certificate, in PEM, of who signs the server's.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from evidence import credentials
from evidence.kinds import saying
from evidence.kinds.http import addresses, hosts
from evidence.kinds.http.addresses import Network
from evidence.kinds.http.hosts import Origin

KEYS = {"kind", "url", "environment"}
OPTIONAL = {"accepts", "addresses", "ca", "credential", "doctor_env", "headers", "hosts", "reader_env"}
# The end of a variable's name says which process is given it, and that it is no connection string of a database.
ENDS = {"reader_env": "_READER_TOKEN", "doctor_env": "_DOCTOR_TOKEN"}
CREDENTIAL = re.compile(r"bearer|basic|header [A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*")
# Headers that say which part of the data is meant or how it is written down. None of them carries a credential.
HEADERS = frozenset((
    "Accept", "Accept-Language", "API-Version", "Stripe-Version", "X-GitHub-Api-Version", "X-Scope-OrgID",
    "THANOS-TENANT",
))  # fmt: skip
# Headers that the client itself sends, or that say where a request ends.
RESERVED = frozenset((
    "accept", "accept-encoding", "cache-control", "connection", "content-length", "content-type", "cookie", "host",
    "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "expect", "range",
))  # fmt: skip
HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?")
MOST_HOSTS = 5
MOST_ADDRESSES = 20
LONGEST_CA = 64_000  # characters


@dataclass(frozen=True)
class Site:
    """A server with the credential that is sent to it. Two that say the same share their connections."""

    name: str  # of the source
    origin: Origin
    base: str  # the path that everything is behind
    others: frozenset[Origin]
    named: tuple[Network, ...]
    variable: str  # that holds the credential; empty for none
    credential: str
    headers: tuple[tuple[str, str], ...]
    ca: str = field(repr=False)


def of(name: str, body: Mapping[str, Any], key: str = "reader_env") -> Site:
    """The server of a checked body, as the reader sees it or, where the body has a doctor_env, as the doctor does."""
    origin, base = hosts.base(body["url"])
    return Site(
        name=name,
        origin=origin,
        base=base,
        others=frozenset(hosts.origin(text) for text in body.get("hosts", [])),
        named=tuple(addresses.network(text) for text in body.get("addresses", [])),
        variable=body.get(key, ""),
        credential=body.get("credential", ""),
        headers=tuple(sorted(body.get("headers", {}).items())),
        ca=body.get("ca", ""),
    )


def check(body: Mapping[str, Any], acceptable: Collection[str], optional: Collection[str] = ()) -> None:
    """Raise ValueError with a sentence unless the body describes a server. `optional`: what else it may say."""
    saying.check_keys(body, KEYS, OPTIONAL | set(optional))
    saying.check_environment(body)
    origin, _ = hosts.base(body["url"])
    _check_credentials(body)
    _check_hosts(body, origin)
    _check_addresses(body, origin)
    check_headers(body.get("headers", {}))
    _check_ca(body.get("ca"), origin)
    saying.check_accepts(body, acceptable)


def _check_credentials(body: Mapping[str, Any]) -> None:
    for key, end in ENDS.items():
        if key in body:
            credentials.check_variable(key, body[key])
            if not body[key].endswith(end):
                raise ValueError(f"{key} ends with {end}, which says what it is and who is given it.")
    if ("reader_env" in body) is not ("credential" in body) or ("doctor_env" in body and "reader_env" not in body):
        raise ValueError("A source with a reader_env says in credential how it is sent; one without has neither.")
    if "credential" in body and not _is(CREDENTIAL, body["credential"]):
        raise ValueError('credential is "bearer", "basic", or "header" and the name of the header that carries it.')
    if str(body.get("credential", ""))[7:].lower() in RESERVED:
        raise ValueError("credential names a header that is sent anyway; take another.")


def _is(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _check_hosts(body: Mapping[str, Any], own: Origin) -> None:
    found = body.get("hosts", [])
    if not isinstance(found, list) or len(found) > MOST_HOSTS:
        raise ValueError(f"hosts is a list of at most {MOST_HOSTS} addresses without a path.")
    for other in map(hosts.origin, found):
        if other.scheme != "https" and own.scheme == "https":
            raise ValueError("A redirect from https to http would undo what https is for; hosts are https.")


def _check_addresses(body: Mapping[str, Any], own: Origin) -> None:
    found = body.get("addresses", [])
    if not isinstance(found, list) or len(found) > MOST_ADDRESSES:
        raise ValueError(f"addresses is a list of at most {MOST_ADDRESSES} addresses and networks.")
    named = [addresses.network(text) for text in found]
    for literal in addresses.literal(own.host):
        if not addresses.is_allowed(literal, named):
            raise ValueError(f"{literal} is not everybody's address; name it in addresses if it is meant.")


def check_headers(headers: Any) -> None:
    """Raise ValueError unless these are headers of the short list, with values that can be sent."""
    if not isinstance(headers, dict):
        raise ValueError("headers is an object: names with values.")
    for name, value in headers.items():
        if name not in HEADERS:
            raise ValueError(f"headers: {name[:60]} is none of {', '.join(sorted(HEADERS))}.")
        if not _is(HEADER_VALUE, value):
            raise ValueError(f"headers: the value of {name} is at most 200 plain characters.")


def _check_ca(text: Any, own: Origin) -> None:
    if text is None:
        return
    if not isinstance(text, str) or len(text) > LONGEST_CA or "PRIVATE" in text or own.scheme != "https":
        raise ValueError("ca is the PEM text of certificates, without any key, for a url with https.")
    try:
        ssl.create_default_context(cadata=text)
    except ssl.SSLError as error:
        raise ValueError("ca holds no certificate that can be read.") from error
