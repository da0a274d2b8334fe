"""Redacting an entry, as a page: what would go, where else it stands, and the second person's button."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from audit import reading, redacting
from audit.models import Entry, Redaction
from audit.redaction_page import RedactionPage
from audit.refusing import NotAllowed
from audit.upkeep_forms import RedactionForm

may_redact = permission_required(redacting.PERMISSION, raise_exception=True)


@require_http_methods(["GET", "HEAD", "POST"])
@may_redact
def page(request: HttpRequest, seq: int) -> HttpResponse:
    """What a redaction of an entry would take away; or ask for it."""
    entry = _entry(seq)
    if request.method != "POST":
        return _render(request, entry, RedactionForm())
    form = RedactionForm(request.POST)
    if not form.is_valid():
        return _render(request, entry, form, status=422)
    try:
        redacting.ask(entry, by=request.user, **form.cleaned_data)
    except NotAllowed as refusal:
        return _render(request, entry, form, refusal=refusal, status=409)
    return redirect("audit:redaction", seq)


@require_POST
@may_redact
def confirmation(request: HttpRequest, pk: int) -> HttpResponse:
    """Take away what another person asked for."""
    wanted = get_object_or_404(Redaction, pk=pk)
    try:
        receipt = redacting.confirm(pk, by=request.user)
    except NotAllowed as refusal:
        return _refused(request, wanted, refusal)
    messages.success(request, f"{wanted.ref}: {wanted.get_part_display()} redacted, recorded as {receipt.ref}.")
    return redirect("audit:entry", wanted.entry_seq)


@require_POST
@may_redact
def withdrawal(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a request back."""
    wanted = get_object_or_404(Redaction, pk=pk)
    try:
        redacting.withdraw(pk, by=request.user)
    except NotAllowed as refusal:
        return _refused(request, wanted, refusal)
    return redirect("audit:entry", wanted.entry_seq)


def _refused(request: HttpRequest, wanted: Redaction, refusal: NotAllowed) -> HttpResponse:
    return _render(request, _entry(wanted.entry_seq), RedactionForm(), refusal=refusal, status=409)


def _render(
    request: HttpRequest, entry: Entry, form: RedactionForm, *, refusal: NotAllowed | None = None, status: int = 200
) -> HttpResponse:
    context = {"page": RedactionPage(entry, request.user), "form": form, "refusal": refusal}
    return render(request, "audit/redaction.html", context, status=status)


def _entry(seq: int) -> Entry:
    found = reading.by_seq(seq)
    if found is None:
        raise Http404(f"There is no entry A-{seq}.")
    return found
