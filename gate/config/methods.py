"""What both planes say of a method that an address does not take: Django answers it without a word."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import get_resolver


class MethodMiddleware:
    """Has the plane's own answer given: the `handler405` of its addresses, which Django does not look for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or response.content:
            return response
        said: HttpResponse = get_resolver().resolve_error_handler(405)(request)
        said["Allow"] = response["Allow"]
        return said
