"""What every page of the people's plane goes through: a session, the reader's own zone, and no disguised text."""

import zoneinfo
from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from audit.marked_json import undisguised
from gate.people import visits


class SignedInMiddleware(LoginRequiredMiddleware):
    """Leads a stranger to the sign-in. What a script asks for is refused: the sign-in would land in its place."""

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., HttpResponseBase],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        """None for those who are signed in, and where nobody needs to be."""
        is_stream = "text/event-stream" in request.headers.get("Accept", "")
        to_sign_in = super().process_view(request, view_func, view_args, view_kwargs)
        if to_sign_in and (is_stream or "HX-Request" in request.headers):
            return HttpResponse("You are signed out. Sign in to go on.", status=401, content_type="text/plain")
        return to_sign_in


class TimeZoneMiddleware:
    """Activates the signed-in person's time zone for the length of the request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = getattr(request.user, "time_zone", "UTC")
        with timezone.override(zoneinfo.ZoneInfo(zone)):
            return self.get_response(request)


class VisitMiddleware:
    """Notes when each browser was last here, for the list of one's own sessions."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            visits.see(request)
        return self.get_response(request)


class UndisguisedMiddleware:
    """Shows invisible and direction-turning characters as escapes, whoever wrote them and wherever they stand.

    Agents, monitors and production data write what people decide by: it must read the way it is.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.streaming and response.get("Content-Type", "").startswith("text/html"):
            response.content = undisguised(response.content.decode()).encode()
        return response
