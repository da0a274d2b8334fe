"""What the shell around every page shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from audit import alarm, twohands
from gate.people.requests import person_of
from gate.triage import inbox
from gate.writes import breaking_glass


@dataclass(frozen=True)
class Place:
    """One link of the rail."""

    name: str
    url: str
    is_here: bool
    key: str = ""  # of a place that counts what waits there
    count: int = 0  # nothing is shown for none


class Shell:
    """The rail, worked out only when a page draws it: fragments do without its queries."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    @cached_property
    def waiting(self) -> inbox.Counts:
        """How much waits for the person who looks."""
        return inbox.counts(person_of(self.request))

    @cached_property
    def work(self) -> list[Place]:
        places = [
            self._place("Inbox", reverse("gate:inbox"), "inbox", self.waiting.all, also="/drafts/"),
            self._place("Writes", reverse("writes:list"), "writes", self.waiting.writes),
            self._place("Incidents", reverse("gate:incidents")),
        ]
        if self.glass:
            alone = f"{reverse('writes:list')}#alone"
            places.append(Place("Approved alone", alone, False, "alone", len(self.glass)))
        return places

    @cached_property
    def glass(self) -> list[breaking_glass.Open]:
        """What one person approved alone and others have still to review."""
        return breaking_glass.unreviewed()

    @cached_property
    def reading(self) -> list[Place]:
        definitions = [self._definitions(kind) for kind in ("source", "metric")]
        return [self._place("Audit log", reverse("audit:list")), *definitions]

    @cached_property
    def defining(self) -> list[Place]:
        kinds = [self._definitions(kind) for kind in ("rule", "policy", "class", "tool", "target")]
        people = self._place("People", reverse("people:list"))
        places = [*kinds, self._place("Agents", reverse("audit:agents"), "agents", self.waiting.alerts), people]
        if self.request.user.has_perm("people.try_mail"):
            places.append(self._place("Mail", reverse("people:mail")))
        return places

    @cached_property
    def standing(self) -> alarm.Standing:
        """How the log stands: its seal, and the alarm when there is one."""
        return alarm.standing()

    def _definitions(self, kind: str) -> Place:
        plural = twohands.KINDS[kind].plural
        # What policies ask about, over tools and targets; and the prices that metrics are computed with.
        also = {"policy": reverse("writes:coverage"), "metric": reverse("metrics:valuations")}.get(kind, "")
        return self._place(plural.capitalize(), reverse("definitions:list", args=[plural]), also=also)

    def _place(self, name: str, url: str, key: str = "", count: int = 0, also: str = "") -> Place:
        starts = (url, also) if also else (url,)
        return Place(name, url, self.request.path.startswith(starts), key, count)


def shell(request: HttpRequest) -> dict[str, Any]:
    """The rail, the CSP nonce for django-htmx's script tag, and the theme that the person chose."""
    return {
        "shell": Shell(request),
        "csp_nonce": getattr(request, "csp_nonce", ""),
        "theme": chosen_theme(request),
    }


def chosen_theme(request: HttpRequest) -> str:
    """The theme that the person chose for this browser: light, dark, or none."""
    theme = request.COOKIES.get("counterseal_theme", "")
    return theme if theme in {"light", "dark"} else ""
