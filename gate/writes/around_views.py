"""What people do around a write that decides nothing about it: comment, review afterwards, lift a pause."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.writes import breaking_glass, canaries, commenting
from gate.writes.around_forms import CommentForm, LiftForm, ReviewForm
from gate.writes.models import CanaryAnswer, Decision, WriteRequest
from gate.writes.views import render_write


@require_POST
def comments(request: HttpRequest, pk: int) -> HttpResponse:
    """Comment on a write."""
    write = get_object_or_404(WriteRequest, pk=pk)
    form = CommentForm(request.POST)
    if not form.is_valid():
        return render_write(request, pk, status=422, comment=form)
    try:
        commenting.comment(write, by=person_of(request), text=form.cleaned_data["text"])
    except NotAllowed as refusal:
        return render_write(request, pk, status=409, refusal=refusal, comment=form)
    messages.success(request, f"{write.ref}: your comment is recorded.")
    return redirect("writes:write", pk)


@require_POST
def reviews(request: HttpRequest, pk: int) -> HttpResponse:
    """Review afterwards what one person approved alone."""
    alone = Decision.objects.select_related("write__target", "write__proposed_by_agent", "by")
    decision = get_object_or_404(alone, write=pk, act=Decision.Act.BREAK_GLASS)
    form = ReviewForm(request.POST)
    if not form.is_valid():
        return render_write(request, pk, status=422, review=form)
    try:
        breaking_glass.review(decision, by=person_of(request), **form.cleaned_data)
    except NotAllowed as refusal:
        return render_write(request, pk, status=409, refusal=refusal, review=form)
    messages.success(request, f"{decision.write.ref}: your review is recorded.")
    return redirect("writes:write", pk)


@require_safe
@permission_required("gate.view_canaries", raise_exception=True)
def canaries_page(request: HttpRequest) -> HttpResponse:
    """Who caught and who approved what was placed to be turned down."""
    return _render_canaries(request, LiftForm())


@require_POST
@permission_required("gate.lift_pause", raise_exception=True)
def lifting(request: HttpRequest, pk: int) -> HttpResponse:
    """Let an approver who was paused approve again."""
    paused = get_object_or_404(CanaryAnswer.objects.select_related("by"), pk=pk)
    form = LiftForm(request.POST)
    if not form.is_valid():
        return _render_canaries(request, form, status=422)
    try:
        canaries.lift(paused, by=person_of(request), reason=form.cleaned_data["reason"])
    except NotAllowed as refusal:
        return _render_canaries(request, form, status=409, refusal=refusal)
    messages.success(request, f"{paused.by} may approve writes again.")
    return redirect("writes:canaries")


def _render_canaries(
    request: HttpRequest, form: LiftForm, *, status: int = 200, refusal: NotAllowed | None = None
) -> HttpResponse:
    context = {"scores": canaries.scores(), "form": form, "refusal": refusal}
    return render(request, "gate/canaries.html", context, status=status)
