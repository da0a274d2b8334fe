"""What every page of the people's plane goes through: the reader's own zone, and no disguised text."""

import zoneinfo
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from audit.marked_json import undisguised
from gate.people import visits


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
