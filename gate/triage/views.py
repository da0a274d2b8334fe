"""Inbox and drafts. Each view fetches, calls one action, and answers."""

from __future__ import annotations

from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import etag, require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.triage import actions, arrivals, inbox, nothing, presenting
from gate.triage.forms import InboxForm, ReviewForm
from gate.triage.models import Draft


@require_GET
@vary_on_headers("HX-Request")
def inbox_page(request: HttpRequest) -> HttpResponse:
    """What waits, oldest first."""
    form = InboxForm(request.GET)
    is_fragment = request.headers.get("HX-Target") == "rows"
    newest = arrivals.newest()  # first: what comes in between is announced, and not lost
    groups = inbox.groups(form.filters(), person_of(request))
    waiting = sum(len(group.rows) for group in groups if group.is_yours)
    context = {
        "form": form, "filters": form.filters(), "groups": groups, "waiting": waiting,
        "newest": newest, "nothing": nothing.EmptyInbox(form.filters(), person_of(request)),
        "is_fragment": is_fragment,
    }  # fmt: skip
    return render(request, "gate/_inbox_rows.html" if is_fragment else "gate/inbox.html", context)


def _rail_tag(request: HttpRequest) -> str:
    seen = inbox.counts(person_of(request))
    return f'"{seen.all}-{seen.writes}-{quote(_arrived(request))}"'


def _arrived(request: HttpRequest) -> str:
    return arrivals.since(request.GET.get("newest", ""), person_of(request))


@require_GET
@etag(_rail_tag)
def rail(request: HttpRequest) -> HttpResponse:
    """The rail's counts, asked for every 15 s; unchanged ones answer 304. An inbox is told what it does not show."""
    return render(request, "ui/_counts.html", {"arrived": _arrived(request)})


@require_GET
def draft_page(request: HttpRequest, pk: int) -> HttpResponse:
    """A drafted verdict with its evidence beside it."""
    return _render_draft(request, pk, ReviewForm())


@require_POST
def review(request: HttpRequest, pk: int) -> HttpResponse:
    """Agree with, overrule or send back a draft."""
    get_object_or_404(Draft, pk=pk)
    form = ReviewForm(request.POST)
    if not form.is_valid():
        return _render_draft(request, pk, form, status=422)
    try:
        decision = actions.review(pk, by=person_of(request), **form.cleaned_data)
    except NotAllowed as refusal:
        return _render_draft(request, pk, form, status=409, refusal=refusal)
    messages.success(request, f"{decision.draft.ref}: {decision.draft.get_status_display().lower()}.")
    return redirect("gate:inbox")


def _render_draft(
    request: HttpRequest, pk: int, form: ReviewForm, *, status: int = 200, refusal: NotAllowed | None = None
) -> HttpResponse:
    page = presenting.draft_page(pk, person_of(request))
    context = {"page": page, "draft": page.draft, "form": form, "refusal": refusal}
    return render(request, "gate/draft.html", context, status=status)


@require_POST
def claim(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a draft for 15 minutes."""
    get_object_or_404(Draft, pk=pk)
    try:
        actions.claim(pk, by=person_of(request))
    except NotAllowed as refusal:
        return _render_draft(request, pk, ReviewForm(), status=409, refusal=refusal)
    return redirect("gate:draft", pk)


@require_POST
def snooze(request: HttpRequest, pk: int) -> HttpResponse:
    """Put a draft away for an hour."""
    get_object_or_404(Draft, pk=pk)
    try:
        draft = actions.snooze(pk, by=person_of(request))
    except NotAllowed as refusal:
        return _render_draft(request, pk, ReviewForm(), status=409, refusal=refusal)
    messages.success(request, f"{draft.ref} comes back in an hour.")
    return redirect("gate:inbox")
