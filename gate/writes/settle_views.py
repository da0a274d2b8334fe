"""A person says what the target shows of a write that the writer could not find out about."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.writes import settling
from gate.writes.actions import LONGEST_REASON
from gate.writes.models import Settlement, WriteRequest
from gate.writes.views import render_write


class SettlementForm(forms.Form):
    """What was found, and by what it is known."""

    found = forms.ChoiceField(choices=Settlement.Found.choices, error_messages={"required": "Say what you found."})
    reason = forms.CharField(
        max_length=LONGEST_REASON, error_messages={"required": "Write what you looked at and what it showed."}
    )
    seen_version = forms.IntegerField()


@require_POST
def settlement(request: HttpRequest, pk: int) -> HttpResponse:
    """Say that it was executed, or that it was not."""
    write = get_object_or_404(WriteRequest, pk=pk)
    form = SettlementForm(request.POST)
    if not form.is_valid():
        return render_write(request, pk, status=422, settlement=form)
    try:
        settled = settling.settle(write, by=person_of(request), **form.cleaned_data)
    except NotAllowed as refused:
        return render_write(request, pk, status=409, refusal=refused, settlement=form)
    messages.success(request, told(settled))
    return redirect("writes:write", pk)


def told(write: WriteRequest) -> str:
    """What became of it, in a sentence."""
    if write.status in settling.SETTLES.values():
        return f"{write.ref} is settled; it never runs again."
    return f"{write.ref}: what you found is recorded; someone else must find the same."
