"""Nobody else's page may have our people's keys sign: keys work in our own pages alone."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

POLICY = "publickey-credentials-get=(self), publickey-credentials-create=(self)"


class KeyPolicyMiddleware:
    """Says so to the browser, on every page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Permissions-Policy"] = POLICY
        return response
