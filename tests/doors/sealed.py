"""What no door may change, as values to be compared: decisions, reviews, drafts, people, executions."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from audit.models import Agent, AgentToken, Definition
from gate.people.models import Change, Key, PasswordLink, Person
from gate.triage.models import Draft, IntakeToken, Review, Sending
from gate.triage.rule_models import Drift, FlipSignature, PromotedCase, Replay, Trial
from gate.writes.models import Decision, Execution, PinnedKey, Preview, PreviewRequest, WriteRequest

WHO_ONE_IS = ("username", "role", "is_active", "is_staff", "is_superuser")
DECIDED = ("approved", "executing", "executed", "rejected", "changes_requested", "withdrawn")


def decided() -> dict[str, Any]:
    """What only a person on call changes, and what only the writer does after that."""
    return {
        "decisions": rows(Decision),
        "reviews": rows(Review),
        "sendings": rows(Sending),
        "executions": rows(Execution),
        "drafts": rows(Draft),
        "writes": list(WriteRequest.objects.filter(status__in=DECIDED).values_list("pk", "status")),
    }


def governed(me: str = "") -> dict[str, Any]:
    """What only admins change: who may do what, and by which definitions. One's own password is one's own."""
    return {
        "people": sorted(Person.objects.values_list(*WHO_ONE_IS)),
        "passwords": sorted(Person.objects.exclude(username=me).values_list("username", "password")),
        "changes": rows(Change),
        "keys": list(Key.objects.exclude(person__username=me).order_by("pk").values()),
        "pinned keys": rows(PinnedKey),
        "links": rows(PasswordLink),
        "definitions": rows(Definition),
        "agents": rows(Agent),
        "agents' tokens": rows(AgentToken),
        "intake tokens": rows(IntakeToken),
        "trials": rows(Trial),
        "signatures": rows(FlipSignature),
        "drift": rows(Drift),
    }


def previewed() -> dict[str, Any]:
    """What people on call and admins ask for."""
    return {
        "preview requests": rows(PreviewRequest),
        "previews": rows(Preview),
        "cases": rows(PromotedCase),
        "replays": rows(Replay),
    }


def everything() -> dict[str, Any]:
    """All that no agent, no monitor, no stranger, no task and no command changes."""
    return {**decided(), **governed(), **previewed()}


def rows(model: type[Model]) -> list[dict[str, Any]]:
    return list(model._default_manager.order_by("pk").values())
