"""Definitions change by two hands: one person drafts a version, another activates it.

Until there are two people who may activate, one may do both; that is recorded and shown as *solo*.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import simplejson
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from audit import log, seconding, vouching
from audit.kinds import Kind
from audit.models import Definition
from audit.refusing import NotAllowed

NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")
TEXT_LINE = re.compile(r'(?P<key>(?P<indent> +)"(?:[^"\\]|\\.)*"): (?P<text>"(?:[^"\\]|\\.)*"),?')
CHANNEL = "definitions"  # of notices that something else is in force
RESERVED = ("new", "replay", "drift")  # pages beside those of definitions


@dataclass(frozen=True)
class Standing:
    """How a definition in force fares in the world, where its layer can tell: each line holds or not, and says why."""

    holds: bool
    word: str
    lines: Sequence[tuple[bool, str, str]]
    why_not: str = ""  # why it is not served, when it does not hold
    said: str = ""  # by what it was proven
    layers: Sequence[tuple[str, str]] = ()  # what could go wrong, and which line stops it first
    at: datetime | None = None  # when it was proven


def _no_standings(definitions: Sequence[Definition]) -> dict[str, Standing]:
    return {}


@dataclass(frozen=True)
class DefinitionKind:
    """A kind of definition: how it is called, who may change it, and what makes a body valid."""

    name: str
    plural: str
    title: str
    permission: str
    check: Callable[[str, dict[str, Any]], None]  # raises ValueError with a sentence
    on_activate: Callable[[Definition], None] = lambda definition: None
    standings: Callable[[Sequence[Definition]], dict[str, Standing]] = _no_standings  # by name
    example: Mapping[str, Any] = field(default_factory=dict)  # where a new draft starts from
    hint: str = ""  # where a body comes from, when no example can show it
    has_shadow: bool = False  # a version may run beside the one in force, and decide nothing
    can_retire: bool = False  # the version in force may be taken out of force without another in its place
    # What a version has to have shown before it is put in force; raises NotAllowed with a sentence.
    check_earned: Callable[[Definition, Any], None] = lambda definition, by: None

    @property
    def act(self) -> seconding.Act:
        """Who drafts and activates. A draft outlives its author's role: another person has read it."""
        return seconding.Act(
            self.permission,
            no_role=f"Your role does not change {self.plural}; ask an admin.",
            alone="You drafted this version, so someone else must activate it.",
        )


KINDS: dict[str, DefinitionKind] = {}


def register(kind: DefinitionKind) -> None:
    """Make a kind of definition known; its layer calls this once at start."""
    KINDS[kind.name] = kind


def canonical_body(body: dict[str, Any]) -> str:
    """A body's canonical text: what is hashed, and what diffs compare line by line."""
    return simplejson.dumps(body, sort_keys=True, indent=2, ensure_ascii=False)


def digest_of(kind: str, name: str, body: dict[str, Any]) -> str:
    """SHA-256 (hex) over kind, name and canonical body: the hash that entries and approvals carry."""
    return hashlib.sha256(f"definition/v1\0{kind}\0{name}\0{canonical_body(body)}".encode()).hexdigest()


def active(kind: str, name: str) -> Definition | None:
    """The version in force, or None."""
    return Definition.objects.filter(kind=kind, name=name, status=Definition.Status.ACTIVE).first()


def waiting() -> QuerySet[Definition]:
    """Drafted versions that may still be put in force."""
    in_force = Definition.objects.filter(kind=OuterRef("kind"), name=OuterRef("name")).exclude(
        status=Definition.Status.DRAFT
    )
    drafts = Definition.objects.filter(status=Definition.Status.DRAFT)
    return drafts.exclude(Exists(in_force.filter(version__gt=OuterRef("version"))))


def diff(older: Definition | None, newer: Definition) -> list[str]:
    """The lines of a unified diff between two versions' bodies, without its file header."""
    before = lines(older.body) if older else []
    return list(difflib.unified_diff(before, lines(newer.body), lineterm="", n=2))[2:]


def lines(body: dict[str, Any]) -> list[str]:
    """The lines of a canonical body as people compare them: a text of several lines, like SQL, has a line for each.

    Each of those stands behind a bar, so that none looks like a part of the body.
    """
    return [part for line in canonical_body(body).split("\n") for part in _parts(line)]


def _parts(line: str) -> list[str]:
    matched = TEXT_LINE.fullmatch(line)
    text: str = simplejson.loads(matched["text"]) if matched else ""
    if matched is None or "\n" not in text:
        return [line]
    return [f"{matched['key']}:", *(f"{matched['indent']}  | {part}" for part in text.split("\n"))]


@transaction.atomic
def draft(kind: str, name: str, body: dict[str, Any], *, by: Any, reason: str) -> Definition:
    """A new version that waits for a second person. Raises NotAllowed, or ValueError for an invalid name or body."""
    rules = KINDS[kind]
    check_may_change(kind, by)
    check_name(name)
    _check_text(body)
    rules.check(name, body)
    seconding.lock(_turn(kind, name))
    newest = Definition.objects.filter(kind=kind, name=name).order_by("-version").first()
    digest = digest_of(kind, name, body)
    if newest and newest.digest == digest and newest.status != Definition.Status.RETIRED:
        raise NotAllowed(f"Version {newest.version} of {name} already says exactly this.")
    version = Definition.objects.create(
        kind=kind, name=name, version=newest.version + 1 if newest else 1, body=body, digest=digest, reason=reason,
        drafted_by=by,
    )  # fmt: skip
    version.refresh_from_db(fields=["body"])
    if digest_of(kind, name, version.body) != digest:
        raise ValueError("The body holds a number that does not come back as it was stored; write it without exponent.")
    _record(Kind.DEFINITION_DRAFTED, version, by, reason)
    return version


def _turn(kind: str, name: str) -> str:
    """Changes of one definition come one after another."""
    return f"definition {kind} {name}"


def check_name(name: str) -> None:
    """Raises ValueError with a sentence for what cannot name a definition: it stands in addresses."""
    if not NAME.fullmatch(name) or name in RESERVED:
        raise ValueError("A name is 1 to 80 letters, digits, hyphens or underscores, and not new, replay or drift.")


def _check_text(value: Any) -> None:
    """JSON may carry NUL and half of a surrogate pair; PostgreSQL's jsonb and UTF-8 do not."""
    if isinstance(value, str) and re.search("[\0\ud800-\udfff]", value):
        raise ValueError("The body holds a character that cannot be stored: NUL or half of a surrogate pair.")
    if isinstance(value, dict):
        _check_text([*value.keys(), *value.values()])
    if isinstance(value, list):
        for child in value:
            _check_text(child)


def hold(kind: str, name: str) -> None:
    """Keep what is in force under a name as it is until the transaction ends, which must not take long."""
    seconding.lock(_turn(kind, name))


@transaction.atomic
def activate(version_id: int, *, by: Any) -> Definition:
    """Put a drafted version in force and retire the one before.

    Raises NotAllowed with a sentence, and ValueError when the body has become invalid since it was drafted.
    """
    version, rules = _taken_up(version_id, by)
    solo = check_can_activate(version, by)
    rules.check(version.name, version.body)
    now = timezone.now()
    before = active(version.kind, version.name)
    if before is not None:
        before.status, before.retired_at = Definition.Status.RETIRED, now
        before.save(update_fields=["status", "retired_at"])
    version.status, version.activated_by, version.activated_at, version.solo = "active", by, now, solo
    version.save(update_fields=["status", "activated_by", "activated_at", "solo"])
    _record(Kind.DEFINITION_ACTIVATED, version, by, "in force, solo" if solo else "in force", before)
    _announce(version)
    rules.on_activate(version)
    return version


@transaction.atomic
def retire(version_id: int, *, by: Any, reason: str) -> Definition:
    """Take the version in force out of force. One hand is enough: it takes away, and bringing back takes two.

    Raises NotAllowed with a sentence.
    """
    version, rules = _taken_up(version_id, by)
    if not rules.can_retire:
        raise NotAllowed(f"{rules.title} are not retired; draft a version that takes this one's place.")
    if version.status != Definition.Status.ACTIVE:
        raise NotAllowed(f"Version {version.version} of {version.name} is {version.status}, so it cannot be retired.")
    version.status, version.retired_at = Definition.Status.RETIRED, timezone.now()
    version.save(update_fields=["status", "retired_at"])
    _record(Kind.DEFINITION_RETIRED, version, by, f"out of force: {reason}")
    _announce(version)
    return version


def _announce(version: Definition) -> None:
    """Say on CHANNEL, once this is committed, that something else is in force: with the kind, and nothing more."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_notify(%s, %s)", [CHANNEL, version.kind])


def come_with(other: Definition, kind: str, name: str, body: dict[str, Any]) -> None:
    """Put in force what the product needs along with another definition that two hands have just put in force.

    It is theirs as the other one is, in the caller's transaction. What is in force under this name already stays.
    """
    seconding.lock(_turn(kind, name))
    versions = Definition.objects.filter(kind=kind, name=name)
    if versions.filter(status=Definition.Status.ACTIVE).exists():
        return
    KINDS[kind].check(name, body)
    newest = versions.order_by("-version").first()
    version = Definition.objects.create(
        kind=kind, name=name, version=newest.version + 1 if newest else 1, body=body,
        digest=digest_of(kind, name, body), reason=f"It comes with {other.kind} {other.name}.",
        status=Definition.Status.ACTIVE, drafted_by=other.drafted_by, activated_by=other.activated_by,
        activated_at=other.activated_at, solo=other.solo,
    )  # fmt: skip
    _record(Kind.DEFINITION_ACTIVATED, version, other.activated_by, f"in force, with {other.kind} {other.name}")
    _announce(version)


def _taken_up(version_id: int, by: Any) -> tuple[Definition, DefinitionKind]:
    """A version as it is now that its turn has come, with its kind. Raises NotAllowed when `by` may not change it."""
    version = Definition.objects.get(pk=version_id)
    seconding.lock(_turn(version.kind, version.name))
    version.refresh_from_db()
    check_may_change(version.kind, by)
    return version, KINDS[version.kind]


def check_can_activate(version: Definition, by: Any) -> bool:
    """True when activating would be solo. Raises NotAllowed with the sentence that says why it cannot be."""
    if version.status not in (Definition.Status.DRAFT, Definition.Status.SHADOW):
        raise NotAllowed(f"Version {version.version} of {version.name} is {version.status}, so it cannot be activated.")
    later = Definition.objects.filter(kind=version.kind, name=version.name, version__gt=version.version)
    newer = later.filter(activated_at__isnull=False).order_by("version").last()
    if newer:
        # Its diff was drafted against what was in force then, and would silently undo what came since.
        raise NotAllowed(f"Version {newer.version} of {version.name} was activated since; draft this change anew.")
    if not vouching.is_vouched(version, str(version)):
        raise NotAllowed("The log does not say that this version was drafted as it stands here; draft it anew.")
    solo = seconding.check_second(KINDS[version.kind].act, version.drafted_by, by)
    KINDS[version.kind].check_earned(version, by)
    return solo


@transaction.atomic
def shadow(version_id: int, *, by: Any) -> Definition:
    """Have a drafted version run beside the one in force. It decides nothing, so one hand is enough.

    Raises NotAllowed with a sentence, and ValueError when the body has become invalid since it was drafted.
    """
    version, rules = _taken_up(version_id, by)
    if not rules.has_shadow:
        raise NotAllowed(f"{rules.title} have no shadow: a version is drafted, and then it is in force.")
    if version.status != Definition.Status.DRAFT:
        raise NotAllowed(f"Version {version.version} of {version.name} is {version.status}, so it cannot go to shadow.")
    rules.check(version.name, version.body)
    version.status = Definition.Status.SHADOW
    version.save(update_fields=["status"])
    _record(Kind.DEFINITION_SHADOWED, version, by, "in shadow; it decides nothing")
    return version


def check_may_change(kind: str, by: Any) -> None:
    """Raises NotAllowed when the role of `by` does not change definitions of this kind."""
    seconding.check_may(KINDS[kind].act, by)


def _record(kind: Kind, version: Definition, by: Any, note: str, before: Definition | None = None) -> None:
    """`before`: the version that this one has put out of force."""
    log.record_with(
        kind,
        log.Actor.person(by),
        subject=f"{version.kind} {version.name} v{version.version}",
        summary=note,
        tool_hash=version.digest,
        args={
            "kind": version.kind,
            "name": version.name,
            "version": version.version,
            "digest": version.digest,
            "rows": vouching.rows(version, *([before] if before else [])),
        },
        result=version.body if kind == Kind.DEFINITION_DRAFTED else None,
    )
