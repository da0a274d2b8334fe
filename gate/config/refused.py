"""The people's pages for what no view answers: one sentence that says what to do, and nothing of how we are built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from gate.config.context import chosen_theme


def page(request: HttpRequest, status: int, template: str = "", **context: Any) -> HttpResponse:
    """The page of a status. It asks no database, session or context processor: each may be the trouble."""
    context["theme"] = chosen_theme(request)
    return HttpResponse(render_to_string(template or f"{status}.html", context), status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400: what Django itself cannot read. That a form is too long has a status of its own."""
    return page(request, 413 if isinstance(exception, RequestDataTooBig) else 400)


def not_allowed(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler403, with the sentence of whoever refused."""
    return page(request, 403, sentence=str(exception))


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form whose token is missing or old. Why is for us: it says which cookie we look for."""
    return page(request, 403, "403_csrf.html")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404."""
    return page(request, 404)


def wrong_method(request: HttpRequest) -> HttpResponse:
    """handler405."""
    return page(request, 405)


def too_long(most: str = "a form up to 1 MB") -> HttpResponse:
    """What is said before Django sees the request, so with the headers that every page has. `most` is its limit."""
    headers = {
        "Content-Security-Policy": build_policy(), "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": settings.X_FRAME_OPTIONS, "Referrer-Policy": settings.SECURE_REFERRER_POLICY,
    }  # fmt: skip
    return HttpResponse(render_to_string("413.html", {"most": most}), status=413, headers=headers)


class CharsetMiddleware:
    """Refuses what says that it is no UTF-8: Django would read it by any codec of Python's, also by such that raise."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (request.encoding or "utf-8").lower() not in ("utf-8", "utf8"):
            raise BadRequest("Our pages are UTF-8, and so are their forms.")
        return self.get_response(request)
