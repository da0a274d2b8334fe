"""What the shell around every page shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from audit import twohands
from gate.people.requests import person_of
from gate.triage import inbox


@dataclass(frozen=True)
class Place:
    """One link of the rail."""

    name: str
    url: str
    is_here: bool
    count: int | None = None  # nothing is shown for none


class Shell:
    """The rail, worked out only when a page draws it: fragments do without its queries."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    @property
    def here(self) -> str:
        """The path that decides which place is marked; a fragment of the rail carries its page's path."""
        if self.request.path == reverse("gate:rail"):
            return self.request.GET.get("at", "")
        return self.request.path

    @cached_property
    def work(self) -> list[Place]:
        waiting = inbox.counts(person_of(self.request))
        return [
            self._place("Inbox", reverse("gate:inbox"), waiting.all, also="/drafts/"),
            self._place("Writes", reverse("writes:list"), waiting.writes),
            self._place("Incidents", reverse("gate:incidents")),
        ]

    @cached_property
    def reading(self) -> list[Place]:
        return [self._place("Audit log", reverse("audit:list")), self._definitions("source")]

    @cached_property
    def defining(self) -> list[Place]:
        kinds = [self._definitions(kind) for kind in ("rule", "class", "tool", "target")]
        people = self._place("People", reverse("people:list"))
        return [*kinds, self._place("Agents", reverse("audit:agents")), people]

    def _definitions(self, kind: str) -> Place:
        plural = twohands.KINDS[kind].plural
        return self._place(plural.capitalize(), reverse("definitions:list", args=[plural]))

    def _place(self, name: str, url: str, count: int | None = None, also: str = "") -> Place:
        starts = (url, also) if also else (url,)
        return Place(name, url, self.here.startswith(starts), count or None)


def shell(request: HttpRequest) -> dict[str, Any]:
    """The rail, the CSP nonce for django-htmx's script tag, and the theme that the person chose."""
    theme = request.COOKIES.get("counterseal_theme", "")
    return {
        "shell": Shell(request),
        "csp_nonce": getattr(request, "csp_nonce", ""),
        "theme": theme if theme in {"light", "dark"} else "",
    }
