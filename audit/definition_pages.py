"""What the pages of definitions show."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from audit import marked_json, twohands
from audit.models import Definition
from audit.refusing import NotAllowed


@dataclass(frozen=True)
class Row:
    """One definition in the list of its kind: its versions, newest first."""

    name: str
    versions: list[Definition]

    @property
    def in_force(self) -> Definition | None:
        return next((one for one in self.versions if one.status == Definition.Status.ACTIVE), None)

    @property
    def shown(self) -> Definition:
        """The version in force, or the newest when none is."""
        return self.in_force or self.versions[0]

    @property
    def waiting(self) -> int:
        """Drafts that may still be put in force: those after the one that is."""
        reached = self.in_force.version if self.in_force else 0
        return sum(one.status == Definition.Status.DRAFT and one.version > reached for one in self.versions)


@dataclass(frozen=True)
class Version:
    """One version with its change, and whether the person who looks may put it in force."""

    definition: Definition
    changed: list[str]
    compared_with: Definition | None
    why_not: str  # why this person may not activate it; empty when they may
    is_solo: bool  # activating it would be by one hand

    @property
    def is_draft(self) -> bool:
        return self.definition.status == Definition.Status.DRAFT


def rows(kind: str) -> list[Row]:
    """Every definition of a kind by name, with one query."""
    found = _versions(kind).order_by("name", "-version")
    return [Row(name, list(versions)) for name, versions in groupby(found, key=lambda one: one.name)]


def one(kind: str, name: str, person: Any) -> tuple[Row, list[Version]] | None:
    """A definition with its versions as `person` may act on them, or None when there is none."""
    versions = list(_versions(kind).filter(name=name).order_by("-version"))
    if not versions:
        return None
    row = Row(name, versions)
    return row, [_version(version, row, person) for version in versions]


def _versions(kind: str) -> Any:
    return Definition.objects.filter(kind=kind).select_related("drafted_by", "activated_by")


def _version(version: Definition, row: Row, person: Any) -> Version:
    before = _base(version, row)
    changed = [marked_json.undisguised(line) for line in twohands.diff(before, version)]
    why_not, is_solo = _why_not(version, person)
    return Version(version, changed, before, why_not, is_solo)


def _base(version: Definition, row: Row) -> Definition | None:
    """What a version's change is read against: for a draft what is in force, else the version before it."""
    if version.status == Definition.Status.DRAFT and row.in_force and row.in_force.version < version.version:
        return row.in_force
    return next((one for one in row.versions if one.version < version.version), None)


def _why_not(version: Definition, person: Any) -> tuple[str, bool]:
    if version.status not in (Definition.Status.DRAFT, Definition.Status.SHADOW):
        return "", False
    try:
        twohands.check_may_change(version.kind, person)
        return "", twohands.check_can_activate(version, person)
    except NotAllowed as refusal:
        return str(refusal), False


def body_lines(version: Definition) -> Iterable[marked_json.Line]:
    """The body in pretty JSON, its keys in the order of the diffs beside it."""
    return marked_json.lines(json.loads(twohands.canonical_body(version.body)))


def long_texts(version: Definition) -> list[tuple[str, str]]:
    """The body's values of several lines, such as SQL, as people read them: with their line breaks."""
    texts = [(key, value) for key, value in version.body.items() if isinstance(value, str) and "\n" in value]
    return [(key, "\n".join(map(marked_json.undisguised, value.splitlines()))) for key, value in texts]
