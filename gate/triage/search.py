"""One box for incidents, drafts, writes and entries. An exact id leads there; words look through titles and subjects.

Every query is bounded: words look at the newest rows alone, and entries are found by number, key or subject only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Model, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.urls import reverse

from audit import reading, sentences
from audit.models import Entry
from gate.triage.models import Draft, Incident
from gate.writes.models import WriteRequest

LONGEST = 200
MOST_WORDS = 8
MOST_HITS = 20
NEWEST = 5000  # rows that words look through
REFERENCE = re.compile(r"([AIVW])-([1-9][0-9]{0,17})", re.ASCII | re.IGNORECASE)
NUMBER = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
KEY = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Hit:
    """Something that was found."""

    ref: str
    title: str
    url: str
    note: str
    at: datetime


@dataclass(frozen=True)
class Group:
    """What was found of one kind."""

    title: str
    hits: Sequence[Hit]


@dataclass(frozen=True)
class Found:
    """What a search came to: a place to go to at once, or groups of hits."""

    text: str
    place: str = ""
    groups: Sequence[Group] = field(default_factory=list)


def clean(typed: str) -> str:
    """What was typed, without what no row can hold, and no longer than anything that could be found."""
    return typed.replace("\0", "").strip()[:LONGEST]


def search(typed: str) -> Found:
    """Look for what was typed."""
    text = clean(typed)
    place = _exact(text)
    if place or not text:
        return Found(text, place)
    incidents = _incidents(text)
    groups = [
        Group("Incidents", [_incident_hit(one) for one in incidents]),
        Group("Drafts", _drafts(text, incidents)),
        Group("Writes", _writes(text)),
        Group("Entries", _entries(text)),
    ]
    return Found(text, groups=[group for group in groups if group.hits])


def _exact(text: str) -> str:
    """Where an id leads, when there is something of that id."""
    if KEY.fullmatch(text):
        entry = Entry.objects.filter(pk=UUID(text)).only("id", "seq").first()
        return reverse("audit:entry", args=[entry.seq]) if entry else ""
    matched = REFERENCE.fullmatch(text)
    if matched is None:
        return ""
    letter, number = matched[1].upper(), int(matched[2])
    if letter == "A":
        return reverse("audit:entry", args=[number]) if reading.by_seq(number) else ""
    model, name = _PLACES[letter]
    return reverse(name, args=[number]) if model._default_manager.filter(pk=number).exists() else ""


_PLACES: dict[str, tuple[type[Model], str]] = {
    "I": (Incident, "gate:incident"), "V": (Draft, "gate:draft"), "W": (WriteRequest, "writes:write"),
}  # fmt: skip


def _number(text: str) -> int | None:
    return int(text) if NUMBER.fullmatch(text) else None


def _newest(rows: QuerySet[Incident] | QuerySet[WriteRequest]) -> int:
    """The lowest number that words look at."""
    newest = rows.order_by("-pk").values_list("pk", flat=True).first()
    return 0 if newest is None else newest - NEWEST


def _incidents(text: str) -> list[Incident]:
    words = Q(pk__gt=_newest(Incident.objects.all()))
    for word in text.split()[:MOST_WORDS]:
        words &= Q(title__icontains=word) | Q(values__icontains=word)
    found = Incident.objects.annotate(values=Cast("subject", TextField())).filter(words | Q(pk=_number(text)))
    return list(found.select_related("incident_class").order_by("-pk")[:MOST_HITS])


def _incident_hit(one: Incident) -> Hit:
    subject = ", ".join(f"{key} {value}" for key, value in one.subject.items())
    return Hit(
        one.ref, one.title, reverse("gate:incident", args=[one.pk]),
        f"{one.get_status_display()}, {one.incident_class.name}, {subject}", one.opened_at,
    )  # fmt: skip


def _drafts(text: str, incidents: Sequence[Incident]) -> list[Hit]:
    """The drafts of the incidents that were found, for a draft bears the title of its incident."""
    about = Q(investigation__incident__in=incidents) | Q(pk=_number(text))
    found = Draft.objects.filter(about).select_related("investigation__incident").order_by("-pk")
    return [
        Hit(one.ref, one.investigation.incident.title, reverse("gate:draft", args=[one.pk]),
            f"{one.get_outcome_display()}, {one.get_status_display().lower()}", one.rendered_at)
        for one in found[:MOST_HITS]
    ]  # fmt: skip


def _writes(text: str) -> list[Hit]:
    words = Q(pk__gt=_newest(WriteRequest.objects.all()))
    for word in text.split()[:MOST_WORDS]:
        words &= Q(title__icontains=word)
    found = WriteRequest.objects.filter(words | Q(pk=_number(text))).order_by("-pk")
    return [
        Hit(one.ref, one.title, reverse("writes:write", args=[one.pk]), one.get_status_display(), one.proposed_at)
        for one in found[:MOST_HITS]
    ]


def _entries(text: str) -> list[Hit]:
    """Entries by number, or by exactly their subject: both have an index. Their words are not looked through."""
    number = _number(text)
    about = Q(subject=text) if number is None else Q(seq=number)
    found = Entry.objects.filter(about).order_by("-seq")[:MOST_HITS]
    return [
        Hit(one.ref, sentences.sentence(one), reverse("audit:entry", args=[one.seq]), one.summary, one.at)
        for one in found
    ]
