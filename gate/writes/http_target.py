"""An HTTP action as a target: one method on one address, with a body of one form, and how to read back what it did."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from evidence import arguments

METHODS = ("POST", "PUT", "PATCH", "DELETE")
KEYS = frozenset({"method", "url", "header", "body", "named_hosts", "timeout_seconds", "probe"})
PROBE_KEYS = frozenset({"url", "pointer", "equals"})
FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,62})\}")
FIELD_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[1-9][0-9]{0,4})?")
POINTER = re.compile(r"(/[^/\x00-\x20]*)+")
OURS = frozenset({"idempotency-key", "content-type", "content-length", "host", "connection", "transfer-encoding"})
LONGEST_URL = 2_000
LONGEST_TIMEOUT = 30  # seconds


class Misfit(ValueError):
    """An action that cannot be used: which part of it, as a path of keys, and the sentence that says why."""

    def __init__(self, part: str, why: str) -> None:
        super().__init__(why)
        self.part = part


@dataclass(frozen=True)
class Probe:
    """A GET whose answer says whether the action happened: the value at a pointer is then the expected one."""

    url: str
    pointer: str
    equals: Any  # text, a whole number, true or false, or {"field": name}: what that field of the body says


@dataclass(frozen=True)
class HttpAction:
    """What a target of the kind http does."""

    method: str
    url: str  # with {field} where a field of the body goes
    header: str  # that carries the credential
    body: dict[str, Any]  # JSON Schema
    named_hosts: frozenset[str]  # may be reached in the clear, and at a private address
    timeout_seconds: int
    probe: Probe | None


def of(body: Mapping[str, Any]) -> HttpAction:
    """The action of a checked body."""
    probe = body["probe"]
    return HttpAction(
        body["method"], body["url"], body["header"], body["body"], frozenset(body["named_hosts"]),
        body["timeout_seconds"], Probe(probe["url"], probe["pointer"], probe["equals"]) if probe else None,
    )  # fmt: skip


def check(body: Any) -> None:
    """Raises Misfit with a sentence when an action cannot be used."""
    if not isinstance(body, dict) or set(body) != KEYS:
        raise Misfit("", f"An action has exactly these keys: {', '.join(sorted(KEYS))}.")
    if body["method"] not in METHODS:
        raise Misfit("method", f"method is one of {', '.join(METHODS)}.")
    _check_header(body["header"])
    _check_schema(body["body"])
    _check_hosts(body["named_hosts"])
    _check_url(body, body["url"], "url")
    _check_timeout(body["timeout_seconds"])
    if body["method"] == "DELETE" and set(FIELD.findall(body["url"])) != set(body["body"]["properties"]):
        raise Misfit("url", "DELETE sends no body, so each of its fields stands in the url.")
    if body["probe"] is not None:
        _check_probe(body, body["probe"])


def _check_header(header: Any) -> None:
    if not isinstance(header, str) or not HEADER.fullmatch(header) or header.lower() in OURS:
        raise Misfit("header", "header names the header that carries the credential, like Authorization.")


def _check_schema(schema: Any) -> None:
    if flaw := arguments.flaw(schema):
        raise Misfit("body", f"The schema of body cannot be used: {flaw}")
    names = schema.get("properties")
    if not isinstance(names, dict) or schema.get("additionalProperties") is not False:
        raise Misfit("body", "The schema of body lists its properties and says additionalProperties false.")
    if odd := next((name for name in names if not FIELD_NAME.fullmatch(name)), None):
        raise Misfit("body", f"Call the field {odd[:60]} by letters, digits and underscores.")


def _check_hosts(hosts: Any) -> None:
    are_hosts = isinstance(hosts, list) and all(isinstance(one, str) and HOST.fullmatch(one) for one in hosts)
    if not are_hosts:
        raise Misfit(
            "named_hosts", "named_hosts lists hosts, in lower case and with their port where it is not the usual one."
        )


def _check_timeout(value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LONGEST_TIMEOUT:
        raise Misfit("timeout_seconds", f"timeout_seconds is a whole number from 1 to {LONGEST_TIMEOUT}.")


def _check_url(body: Mapping[str, Any], url: Any, part: str) -> None:
    if not isinstance(url, str) or len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise Misfit(part, f"{WORDS[part]} is an address of at most {LONGEST_URL:,} plain characters.")
    bare = FIELD.sub("0", url)
    if "{" in bare or "}" in bare:
        raise Misfit(part, f"{WORDS[part]} names fields like {{refund_id}}.")
    _check_address(body, urlsplit(bare), urlsplit(url).netloc, part)
    required = set(body["body"].get("required", []))
    if lost := set(FIELD.findall(url)) - required:
        raise Misfit(part, f"{WORDS[part]} names {', '.join(sorted(lost))}, which the schema of body does not require.")


WORDS = {"url": "url", "probe.url": "the probe's url"}


def _check_address(body: Mapping[str, Any], parts: Any, netloc: str, part: str) -> None:
    if not HOST.fullmatch(netloc) or parts.fragment or not parts.path.startswith("/"):
        raise Misfit(part, f"{WORDS[part]} has a host in lower case and a path, and neither a user nor a fragment.")
    if parts.scheme != "https" and not (parts.scheme == "http" and netloc in body["named_hosts"]):
        raise Misfit(part, f"{WORDS[part]} is https, or http to a host that named_hosts names.")
    if is_private(parts.hostname) and netloc not in body["named_hosts"]:
        raise Misfit(part, f"{WORDS[part]} leads to a private address, which named_hosts does not name.")


def is_private(host: str) -> bool:
    """Whether a host is written as an address that is not everybody's."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False


def _check_probe(body: Mapping[str, Any], probe: Any) -> None:
    if not isinstance(probe, dict) or set(probe) != PROBE_KEYS:
        raise Misfit("probe", f"A probe has exactly these keys: {', '.join(sorted(PROBE_KEYS))}; or it is null.")
    _check_url(body, probe["url"], "probe.url")
    if not isinstance(probe["pointer"], str) or not POINTER.fullmatch(probe["pointer"]):
        raise Misfit("probe.pointer", "The probe's pointer is a JSON pointer, like /refund/status.")
    _check_expected(body["body"], probe["equals"])


def _check_expected(schema: Mapping[str, Any], equals: Any) -> None:
    if isinstance(equals, dict):
        if set(equals) != {"field"} or equals["field"] not in schema.get("required", []):
            raise Misfit(
                "probe.equals", 'The probe equals a value, or {"field": name} for a field that the body requires.'
            )
    elif not isinstance(equals, str | int):
        raise Misfit("probe.equals", "The probe equals text, a whole number, true or false.")
