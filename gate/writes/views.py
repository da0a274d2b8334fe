"""Writes: the list, one write, its preview and the decision. Each view fetches, calls one action, and answers."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.writes import actions, admission, deciding, editing, presenting, queue, state_words, viewing
from gate.writes.forms import DecisionForm, EditForm, ProposalForm, again
from gate.writes.models import WriteRequest


@require_GET
def writes_page(request: HttpRequest) -> HttpResponse:
    """What is proposed, and what was decided."""
    before = request.GET.get("before", "")
    page = queue.page(person_of(request), int(before) if before.isdecimal() and len(before) < 19 else None)
    return render(request, "gate/writes.html", {"page": page})


@require_http_methods(["GET", "POST"])
def new_page(request: HttpRequest) -> HttpResponse:
    """Propose a write by hand, from nothing or from one that is over."""
    form = ProposalForm(request.POST or None, initial=_again(request.GET.get("again", "")))
    refusal: NotAllowed | None = None
    if request.method == "POST" and form.is_valid():
        try:
            write = actions.propose(by_person=person_of(request), **form.cleaned_data)
            return redirect("writes:write", write.pk)
        except NotAllowed as reason:
            refusal = reason
    status = 422 if request.method == "POST" else 200
    return render(request, "gate/write_new.html", {"form": form, "refusal": refusal}, status=status)


@require_http_methods(["GET", "POST"])
def edit_page(request: HttpRequest, pk: int) -> HttpResponse:
    """The next edition of an own write."""
    write = get_object_or_404(WriteRequest.objects.select_related("target"), pk=pk)
    form = EditForm(request.POST or None, initial={**again(write), "seen_version": write.version})
    refusal: NotAllowed | None = None
    if request.method == "POST" and form.is_valid():
        try:
            editing.edit(write, by_person=person_of(request), **form.cleaned_data)
            return redirect("writes:write", write.pk)
        except NotAllowed as reason:
            refusal = reason
    status = 422 if request.method == "POST" else 200
    return render(request, "gate/write_new.html", {"form": form, "refusal": refusal, "edited": write}, status=status)


def _again(number: str) -> dict[str, str]:
    known = number.isdecimal() and len(number) < 19
    write = WriteRequest.objects.select_related("target").filter(pk=int(number)).first() if known else None
    return again(write) if write else {}


@never_cache
@require_GET
def write_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Exactly what will run, what it would change, and who may approve it."""
    return render_write(request, pk, DecisionForm())


@require_GET
def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Whether the writer is still at it. A page that waits holds no input, so it may load itself anew when not."""
    page = presenting.write_page(pk, person_of(request))
    response = render(request, "gate/_write_progress.html", {"page": page, "write": page.write})
    if not page.is_running or request.GET.get("seen") != str(page.write.version):
        response["HX-Refresh"] = "true"
    return response


@require_POST
def preview(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the writer for a preview."""
    write = get_object_or_404(WriteRequest, pk=pk)
    try:
        actions.ask_preview(write, person_of(request))
    except admission.Outdated:
        pass  # it is being checked anew, as its page says
    except NotAllowed as refusal:
        return render_write(request, pk, DecisionForm(), status=409, refusal=refusal)
    return redirect("writes:write", pk)


@sensitive_post_parameters("password")
@require_POST
def decision(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve, reject, request changes to or withdraw a write."""
    write = get_object_or_404(WriteRequest, pk=pk)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return render_write(request, pk, form, status=422)
    try:
        session = request.session.session_key or ""
        decided = deciding.decide(write, by=person_of(request), session=session, **form.decided())
    except deciding.WrongPassword as refusal:
        form.add_error("password", str(refusal))
        return render_write(request, pk, form, status=422)
    except NotAllowed as refusal:
        return render_write(request, pk, form, status=409, refusal=refusal)
    messages.success(request, state_words.told(decided))
    return redirect("writes:write", pk)


def render_write(
    request: HttpRequest, pk: int, form: DecisionForm | None = None, *, status: int = 200,
    refusal: NotAllowed | None = None, **typed: Form,
) -> HttpResponse:  # fmt: skip
    """The page of a write, with why something was not taken; what was typed stays in the form of that name."""
    person = person_of(request)
    page = presenting.write_page(pk, person)
    viewing.note(person, page.preview)
    shown = {"page": page, "write": page.write, "form": form or DecisionForm(), "refusal": refusal, **typed}
    return render(request, "gate/write.html", {**shown, "origin": settings.ORIGIN}, status=status)
