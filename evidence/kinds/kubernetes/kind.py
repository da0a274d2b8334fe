"""Kubernetes as a kind of source: objects, lists, events and logs of pods, out of a closed list of resources."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from audit.models import Definition
from evidence import credentials
from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds import bound, moments
from evidence.kinds.fields import CLOSED_SITE, Field, Sort, accepts
from evidence.kinds.http import client, proving, site
from evidence.kinds.kind import Found, request_of
from evidence.kinds.kubernetes import asking, names, proof, resources, rights, role
from evidence.kinds.kubernetes.asking import Asked
from evidence.kinds.kubernetes.completeness import CODES, LOGS, incomplete
from evidence.layers import Attack
from evidence.stating import Proven

if TYPE_CHECKING:
    from evidence.contracts import Contract

ALWAYS_GET = "the client, which sends GET, and neither watches nor upgrades a connection"
LISTED = "the closed list of resources, which has no secrets and no subresource but a pod's log"
PLACES = "the namespaces that the source exposes"
NEEDED = {"namespaces", "resources", "reader_env", "doctor_env"}
OWN = NEEDED | {"everywhere", "events_kept_seconds"}
MOST_NAMESPACES = 20
LONGEST_KEPT = 30 * 24 * 3_600


class Kubernetes:
    """The API of a cluster, Kubernetes 1.28 or newer."""

    name = "kubernetes"
    title = "The API of a cluster, Kubernetes 1.28 or newer"
    fields = (
        *CLOSED_SITE,
        Field("namespaces", "Namespaces that tools may read, one a line", "Like shop.", Sort.LINES, is_needed=True,
              is_listed_empty=True),
        Field("everywhere", "Tools may read every namespace", sort=Sort.YES),
        Field("events_kept_seconds", "Seconds for which the API server keeps events",
              "Its --event-ttl; empty: one hour.", Sort.NUMBER),
        Field("resources", "Resources that tools may read", "No tool reads any other.", Sort.SEVERAL, is_needed=True,
              choices=tuple((one, one) for one in sorted((*resources.RESOURCES, resources.LOG)))),
        accepts(rights.ACCEPTABLE),
    )  # fmt: skip
    attacks = (
        Attack("Creating, changing and deleting objects", ("verbs", "tries"), ALWAYS_GET),
        Attack("Commands in containers: exec, attach, portforward, proxies", ("opening", "tries"), LISTED),
        Attack("Becoming another: impersonate, escalate, bind, tokens", ("verbs", "opening", "tries"), ALWAYS_GET),
        Attack("Reading secrets", ("secrets", "tries"), LISTED),
        Attack("Reading other resources", ("resources",), LISTED),
        Attack("Rights in namespaces that nobody named", ("bindings_seen", "verbs"), PLACES),
        Attack("Connections that never end: watch, follow", (), ALWAYS_GET),
        *proving.ATTACKS,
    )
    codes: Mapping[str, str] = CODES
    source_example: Mapping[str, Any] = {
        "kind": "kubernetes",
        "url": "https://kubernetes.example.com:6443",
        "reader_env": "MYCLUSTER_READER_TOKEN",
        "doctor_env": "MYCLUSTER_DOCTOR_TOKEN",
        "credential": "bearer",
        "environment": "production",
        "namespaces": ["myshop"],
        "resources": ["deployments", "events", "jobs", "pods", "pods/log"],
    }
    tool_example: Mapping[str, Any] = {
        "request": {
            "act": "read",
            "kind": "jobs",
            "namespace": "myshop",
            "name": {"argument": "job_id"},
        }
    }

    def check_source(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body describes a cluster and what of it is exposed."""
        site.check(body, rights.ACCEPTABLE, optional=OWN)
        missing = sorted(NEEDED - set(body))
        if missing:
            raise ValueError(f"A source of the kind kubernetes says its {missing[0]}.")
        credentials.check_two(body)
        resources.check(body["resources"])
        _check_namespaces(body["namespaces"], body.get("everywhere", False))
        kept = body.get("events_kept_seconds", 1)
        if not isinstance(kept, int) or isinstance(kept, bool) or not 0 < kept <= LONGEST_KEPT:
            raise ValueError("events_kept_seconds is how long the API server keeps events (--event-ttl), in seconds.")

    def check_tool(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body's request can become nothing but a read."""
        asking.check(bound.request(body), body)

    def credentials(self, source: Definition) -> tuple[str, ...]:
        """The reader's and the doctor's variables."""
        return proving.credentials(source)

    def address(self, source: Definition) -> str:
        """Where the reader's credential leads, and as whom. Raises Problem when it is unset."""
        return proving.address(source)

    def prove(self, source: Definition) -> Proven:
        """Both sides of the proof: see proof."""
        return proof.prove(source)

    def read(self, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits) -> Found:
        """One GET. Raises Refused, or Problem for a credential that is not set."""
        now, place = datetime.now(UTC), site.of(source.name, source.body)
        asked = asking.compose(request_of(contract), source.body, given, limits, now)
        try:
            return _log(place, asked, limits) if asked.about["act"] == LOGS else _object(place, asked, limits)
        except client.Answered as answered:
            raise Refused(answered.code, _told(place, answered)) from answered

    def strongest_reader(self, source: Definition) -> list[str]:
        """The roles, bindings and service accounts of the reader and the doctor, as YAML."""
        return list(role.script(source))


def _check_namespaces(found: Any, everywhere: Any) -> None:
    if not isinstance(everywhere, bool):
        raise ValueError("everywhere is true where tools may read every namespace, else false or left out.")
    if not isinstance(found, list) or len(found) > MOST_NAMESPACES or not (found or everywhere):
        raise ValueError(f"namespaces lists the namespaces that tools may read, at most {MOST_NAMESPACES}.")
    for namespace in found:
        names.label(namespace, "Each of namespaces")


def _object(place: site.Site, asked: Asked, limits: Limits) -> Found:
    """An object or list. A Status in its place tells of a fault, whatever the status of HTTP says."""
    answer = client.get(place, asked.target, limits=limits).value
    if not isinstance(answer, dict):
        raise Refused("wrong_shape", "The answer is no object.")
    if answer.get("kind") == "Status":
        raise Refused("status", f"{place.name} answered with a Status: {client.said(place, answer.get('message', ''))}")
    return Found(answer, False, incomplete(asked.about, answer))


def _log(place: site.Site, asked: Asked, limits: Limits) -> Found:
    """The lines of a log up to the asked end, each with its time. Whether it was cut, what came before that shows."""
    text = client.text(place, asked.target, limits=limits)
    # Not splitlines: a line may hold other characters that end one elsewhere, and only its first part has the time.
    kept = "\n".join(line for line in text.split("\n") if not _is_later(line, asked.ends))
    answer = {"status": "success" if kept else "no_data", "error": None, "data": kept or None}
    codes = (*incomplete(asked.about, {"data": text}), *incomplete(asked.about, answer))
    return Found(answer, False, tuple(dict.fromkeys(codes)))


def _is_later(line: str, ends: datetime | None) -> bool:
    if ends is None:
        return False
    try:
        return moments.parse(line.partition(" ")[0]) > ends
    except ValueError:
        return False  # a line of the kubelet's own, without a time


def _told(place: site.Site, answered: client.Answered) -> str:
    """What the API server says itself, which is often the only way to tell what was wrong."""
    message = answered.value.get("message") if isinstance(answered.value, dict) else None
    words = client.said(place, message) if message else ""
    return f"{answered.sentence.rstrip('.')}: {words}" if words else answered.sentence
