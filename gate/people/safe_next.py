"""Where a sign-in leads."""

from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme


def safe_next(request: HttpRequest, wanted: str) -> str:
    """The wanted address when it is one of ours, else the inbox: a link to our door leads nobody elsewhere."""
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return wanted
    return resolve_url("gate:inbox")
