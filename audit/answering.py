"""How a page answers an act: on to what comes next, or the same page again with what kept the act from being done."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django import forms
from django.http import HttpResponse

from audit.refusing import NotAllowed

Outcome = TypeVar("Outcome")
Page = Callable[..., HttpResponse]  # draws the page again; takes `refusal` and `status`


def typed(
    form: forms.Form, act: Callable[..., Outcome], *, page: Page, done: Callable[[Outcome], HttpResponse]
) -> HttpResponse:
    """Do what was typed. 422 with the form's errors, 409 with a refusal's sentence; both keep what was typed."""
    if not form.is_valid():
        return page(form, status=422)
    try:
        outcome = act(**form.cleaned_data)
    except NotAllowed as refusal:
        return page(form, refusal=refusal, status=409)
    return done(outcome)


def pressed(act: Callable[[], Outcome], *, page: Page, done: Callable[[Outcome], HttpResponse]) -> HttpResponse:
    """Do what a button stands for. 409 with a refusal's sentence."""
    try:
        outcome = act()
    except NotAllowed as refusal:
        return page(refusal=refusal, status=409)
    return done(outcome)
