"""Redacting an entry, as a page: what would go, where else it stands, and the second person's button."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from audit import answering, reading, redacting
from audit.log import Recorded
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
    ask = partial(redacting.ask, entry, by=request.user)
    return answering.typed(
        RedactionForm(request.POST), ask, page=partial(_render, request, entry),
        done=lambda asked: redirect("audit:redaction", seq),
    )  # fmt: skip


@require_POST
@may_redact
def confirmation(request: HttpRequest, pk: int) -> HttpResponse:
    """Take away what another person asked for."""
    wanted = get_object_or_404(Redaction, pk=pk)

    def done(receipt: Recorded) -> HttpResponse:
        messages.success(request, f"{wanted.ref}: {wanted.get_part_display()} redacted, recorded as {receipt.ref}.")
        return redirect("audit:entry", wanted.entry_seq)

    return answering.pressed(partial(redacting.confirm, pk, by=request.user), page=_page_of(request, wanted), done=done)


@require_POST
@may_redact
def withdrawal(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a request back."""
    wanted = get_object_or_404(Redaction, pk=pk)
    return answering.pressed(
        partial(redacting.withdraw, pk, by=request.user), page=_page_of(request, wanted),
        done=lambda withdrawn: redirect("audit:entry", wanted.entry_seq),
    )  # fmt: skip


def _page_of(request: HttpRequest, wanted: Redaction) -> answering.Page:
    return lambda **said: _render(request, _entry(wanted.entry_seq), RedactionForm(), **said)


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
