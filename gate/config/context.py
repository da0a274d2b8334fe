"""What the shell around every page shows."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def shell(request: HttpRequest) -> dict[str, Any]:
    """The CSP nonce for django-htmx's script tag, and the theme that the person chose."""
    theme = request.COOKIES.get("counterseal_theme", "")
    return {
        "csp_nonce": getattr(request, "csp_nonce", ""),
        "theme": theme if theme in {"light", "dark"} else "",
        "agents_origin": settings.AGENTS_ORIGIN,
    }
