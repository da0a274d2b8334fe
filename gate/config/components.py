"""Every component in both themes, for whoever works on the screens. Only with DEBUG: it shows nothing that is real."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.forms import BoundField, CharField, ChoiceField, Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from audit import marked_json
from gate.config.context import Place
from gate.triage.inbox import Row
from gate.triage.presenting import parts

RESULT = {"error": "ReadTimeout", "count": 0, "scanned": 18204, "complete": True}
DIFF = [
    "--- version 1",
    "+++ version 2",
    "@@ -1,3 +1,3 @@",
    " {",
    '-  "budget_calls": 12',
    '+  "budget_calls": 20',
    " }",
]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The components that pages are built from. Raises Http404 without DEBUG."""
    if not settings.DEBUG:
        raise Http404
    themes = [(theme, places(theme), *fields(theme)) for theme in ("light", "dark")]
    return render(request, "ui/components.html", {"themes": themes, **examples()})


def examples() -> dict[str, Any]:
    """One example of what each component takes."""
    return {
        "rows": [_row("Payout settlement failed twice on read timeouts, then succeeded", "ok"),
                 _row("Inventory sync failed twice; that it stopped is not shown", "bad")],
        "json": marked_json.lines(RESULT, {"/count": [3], "/scanned": [5]}, {"/window": [4]}),
        "diff": DIFF,
        "sentence": parts("The job is `succeeded`, and nothing holds it."),
    }  # fmt: skip


def places(theme: str) -> list[Place]:
    """Two places of a rail, whose count has an id of its own on the page."""
    return [Place("Inbox", "#inbox", True, f"example-{theme}", 9), Place("Incidents", "#incidents", False)]


def fields(theme: str) -> tuple[BoundField, BoundField]:
    """A field that was filled in wrongly and a choice, whose names occur once on the page."""
    why, kind = f"why-{theme}", f"kind-{theme}"
    form = Form({why: "Agree", kind: "http"})
    form.fields[why] = CharField(min_length=12)
    form.fields[kind] = ChoiceField(choices=[("postgresql", "PostgreSQL"), ("http", "HTTP action")])
    return form[why], form[kind]


def _row(title: str, state: str) -> Row:
    words = {"ok": "✓ Pass, 6 of 6 checks hold", "bad": "✕ Fail, 5 of 6 checks hold"}[state]
    since = timezone.now() - timedelta(hours=4)
    return Row(
        "◇", "state--agent", "V-2041", "#row", title, "I-318", words, f"chip--{state} chip--drafted", "Unclaimed", since
    )
