"""The agents' plane: REST below /api/v1/, its schema, and the health of the installation. MCP is beside Django."""

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView

from gate.config import openapi  # noqa: F401 - defining the scheme is what registers it
from gate.config.health import healthz
from gate.config.metrics import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/v1/", include("evidence.urls")),
    path("api/v1/", include("gate.triage.api_urls")),
    path("api/v1/", include("gate.writes.api_urls")),
    path("api/v1/", include("gate.admission.api_urls")),
    path("api/v1/schema", SpectacularAPIView.as_view(), name="schema"),
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
]

handler400 = "evidence.problems.bad_request"
handler403 = "evidence.problems.not_allowed"
handler404 = "evidence.problems.not_found"
handler405 = "evidence.problems.wrong_method"
handler500 = "evidence.problems.broken"
