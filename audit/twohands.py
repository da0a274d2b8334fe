"""Definitions change by two hands: one person drafts a version, another activates it.

Until there are two people who may activate, one may do both; that is recorded and shown as *solo*.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import simplejson
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from audit.models import Definition


class NotAllowed(Exception):
    """A sentence that says why a definition may not be changed so."""


@dataclass(frozen=True)
class DefinitionKind:
    """A kind of definition: how it is called, who may change it, and what makes a body valid."""

    name: str
    plural: str
    title: str
    permission: str
    check: Callable[[str, dict[str, Any]], None]  # raises ValueError with a sentence
    on_activate: Callable[[Definition], None] = lambda definition: None


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


def diff(older: Definition | None, newer: Definition) -> list[str]:
    """The lines of a unified diff between two versions' bodies, without its file header."""
    before = canonical_body(older.body).splitlines() if older else []
    return list(difflib.unified_diff(before, canonical_body(newer.body).splitlines(), lineterm="", n=2))[2:]


@transaction.atomic
def draft(kind: str, name: str, body: dict[str, Any], *, by: Any, reason: str) -> Definition:
    """A new version that waits for a second person. Raises NotAllowed or ValueError (an invalid body) with a sentence."""
    rules = KINDS[kind]
    _check_may(rules, by)
    rules.check(name, body)
    newest = Definition.objects.select_for_update().filter(kind=kind, name=name).order_by("-version").first()
    digest = digest_of(kind, name, body)
    if newest and newest.digest == digest:
        raise NotAllowed(f"Version {newest.version} of {name} already says exactly this.")
    version = Definition.objects.create(
        kind=kind, name=name, version=newest.version + 1 if newest else 1, body=body, digest=digest, reason=reason,
        drafted_by=by,
    )  # fmt: skip
    _record(Kind.DEFINITION_DRAFTED, version, by, reason)
    return version


@transaction.atomic
def activate(version_id: int, *, by: Any) -> Definition:
    """Put a drafted version in force and retire the one before. Raises NotAllowed with a sentence."""
    version = Definition.objects.select_for_update().get(pk=version_id)
    rules = KINDS[version.kind]
    _check_may(rules, by)
    solo = check_can_activate(version, by)
    rules.check(version.name, version.body)
    now = timezone.now()
    Definition.objects.filter(kind=version.kind, name=version.name, status=Definition.Status.ACTIVE).update(
        status=Definition.Status.RETIRED, retired_at=now
    )
    version.status, version.activated_by, version.activated_at, version.solo = "active", by, now, solo
    version.save(update_fields=["status", "activated_by", "activated_at", "solo"])
    _record(Kind.DEFINITION_ACTIVATED, version, by, "solo" if solo else "")
    rules.on_activate(version)
    return version


def check_can_activate(version: Definition, by: Any) -> bool:
    """True when activating would be solo. Raises NotAllowed when `by` drafted it and someone else could activate."""
    if version.status != Definition.Status.DRAFT:
        raise NotAllowed(f"Version {version.version} of {version.name} is {version.status}, so it cannot be activated.")
    if version.drafted_by_id != by.pk:
        return False
    permission = KINDS[version.kind].permission
    others = get_user_model().objects.filter(is_active=True).exclude(pk=by.pk)
    if any(other.has_perm(permission) for other in others):
        raise NotAllowed("You drafted this version, so someone else must activate it.")
    return True


def _check_may(rules: DefinitionKind, by: Any) -> None:
    if not by.has_perm(rules.permission):
        raise NotAllowed(f"Your role does not change {rules.plural}; ask an admin.")


def _record(kind: Kind, version: Definition, by: Any, note: str) -> None:
    log.record_with(
        kind,
        log.Actor("person", str(by), by.username),
        subject=f"{version.kind} {version.name} v{version.version}",
        summary=note[:200],
        tool_hash=version.digest,
        args={"kind": version.kind, "name": version.name, "version": version.version, "digest": version.digest},
        result=version.body if kind == Kind.DEFINITION_DRAFTED else None,
    )
