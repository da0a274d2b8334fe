"""One HTTP exchange with a target: nowhere but where it was sent, at most once, and not for ever."""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx2

from gate.writes.http_statement import Request
from gate.writes.targets import WriteTarget

LARGEST_ANSWER = 256 * 1024


class NotSent(Exception):
    """Nothing left this machine; the sentence says why."""


class NoAnswer(Exception):
    """It may have arrived, and nobody said so; the sentence says what happened instead."""


class Unreadable(Exception):
    """A read-back that says nothing; the sentence says why."""


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: bytes  # not more of it than is taken
    is_cut: bool


def send(target: WriteTarget, request: Request, key: UUID) -> Answer:
    """Send the action once. Raises NotSent or NoAnswer."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": str(key)}
    return _exchange(target, request.method, request.url, headers, request.body.encode())


def read(target: WriteTarget, url: str, pointer: str) -> str:
    """The value at a pointer of a GET's answer, as canonical JSON. Raises Unreadable."""
    try:
        answer = _exchange(target, "GET", url, {"Accept": "application/json"}, None)
    except (NotSent, NoAnswer) as reason:
        raise Unreadable(str(reason)) from reason
    if answer.status != 200 or answer.is_cut:
        said = "more than is read" if answer.is_cut else str(answer.status)
        raise Unreadable(f"The read-back of {target.name} was answered with {said}.")
    return _at(target, answer.body, pointer)


def _at(target: WriteTarget, body: bytes, pointer: str) -> str:
    try:
        value: Any = json.loads(body, parse_float=Decimal)
        for part in pointer.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            value = value[int(name)] if isinstance(value, list) and name.isdecimal() else _member(value, name)
    except (ValueError, KeyError, IndexError, RecursionError) as error:
        raise Unreadable(f"The read-back of {target.name} has no {pointer}.") from error
    if isinstance(value, Decimal | dict | list):
        raise Unreadable(f"The read-back of {target.name} has no single text, whole number, true or false there.")
    return json.dumps(value, ensure_ascii=False)


def _member(value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        raise KeyError(name)
    return value[name]


def _exchange(
    target: WriteTarget, method: str, url: str, headers: Mapping[str, str], body: bytes | None
) -> Answer:  # fmt: skip
    assert target.action is not None  # the caller has one
    credential = os.environ.get(target.credential_env)
    if not credential:
        raise NotSent(f"The writer has no credential for {target.name}: set {target.credential_env}.")
    parts = urlsplit(url)
    address = _address(target, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    where = httpx2.URL(url).copy_with(host=address)
    sent = {"Host": parts.netloc, target.action.header: credential, "User-Agent": "counterseal", **headers}
    extensions = {"sni_hostname": parts.hostname} if parts.scheme == "https" else {}
    deadline = time.monotonic() + target.action.timeout_seconds
    try:
        with (
            # The name was resolved above, and no proxy, redirect or second resolution leads anywhere else.
            httpx2.Client(timeout=target.action.timeout_seconds, follow_redirects=False, trust_env=False) as client,
            client.stream(method, where, headers=sent, content=body, extensions=extensions) as got,
        ):
            return _read(target, got, deadline)
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol) as error:
        raise NotSent(f"{target.name} could not be reached; ask whoever runs it, then propose it again.") from error
    except httpx2.HTTPError as error:
        raise NoAnswer(f"{target.name} gave no answer that could be read.") from error


def _read(target: WriteTarget, got: httpx2.Response, deadline: float) -> Answer:
    body = b""
    for piece in got.iter_bytes():
        body += piece
        if len(body) > LARGEST_ANSWER:
            return Answer(got.status_code, body[:LARGEST_ANSWER], True)
        if time.monotonic() > deadline:
            raise NoAnswer(f"{target.name} took longer to answer than it is waited for.")
    return Answer(got.status_code, body, False)


def _address(target: WriteTarget, host: str, port: int) -> str:
    """The address that the host has now. Raises NotSent for one that is not everybody's, unless the target names it."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotSent(f"{host} has no address; ask whoever runs {target.name}.") from error
    addresses = [str(one[4][0]) for one in found]
    if not _is_named(target, host, port) and any(not ipaddress.ip_address(one).is_global for one in addresses):
        raise NotSent(f"{host} leads to a private address, which {target.name} does not name; nothing is sent there.")
    return addresses[0]


def _is_named(target: WriteTarget, host: str, port: int) -> bool:
    assert target.action is not None
    usual = port in (80, 443)
    return f"{host}:{port}" in target.action.named_hosts or (usual and host in target.action.named_hosts)
