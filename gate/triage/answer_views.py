"""Sending an agreed answer, as a page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.triage import answers, sendings
from gate.triage.answer_forms import SendForm
from gate.triage.models import Draft, Sending


@require_http_methods(["GET", "HEAD", "POST"])
def sending(request: HttpRequest, pk: int) -> HttpResponse:
    """Send the answer of an agreed draft: the address, the words, and whom it went to before."""
    found = Draft.objects.select_related("investigation__incident", "investigation__agent", "review__by")
    draft = get_object_or_404(found, pk=pk)
    if request.method != "POST":
        return _render(request, draft, SendForm())
    form = SendForm(request.POST)
    if not form.is_valid():
        return _render(request, draft, form, status=422)
    try:
        done = sendings.send(pk, by=person_of(request), **form.cleaned_data)
    except NotAllowed as refusal:
        return _render(request, draft, form, status=409, refusal=refusal)
    if done.status == Sending.Status.SENT:
        messages.success(request, f"{draft.ref}: the answer was sent to {done.to}.")
        return redirect("gate:draft", pk)
    return _render(request, draft, form, status=409, failed=done)


def _render(
    request: HttpRequest, draft: Draft, form: SendForm, *, status: int = 200, refusal: NotAllowed | None = None,
    failed: Sending | None = None,
) -> HttpResponse:  # fmt: skip
    answer = answers.Answer(draft, person_of(request))
    typed = answers.plain(str(form["text"].value() or "")) if form.is_bound else answer.text
    context = {
        "draft": draft, "answer": answer, "form": form, "typed": typed, "subject": sendings.subject_of(draft),
        "refusal": refusal, "failed": failed,
    }  # fmt: skip
    return render(request, "gate/sending.html", context, status=status)
