"""The people's plane: HTML behind a session."""

from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from gate.config import components
from gate.config.health import healthz
from gate.config.metrics import metrics

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="gate:inbox")),
    path("healthz", healthz),
    path("metrics", metrics, {"has_drafts": True}),
    path("ui/", components.page),
    path("", include("gate.people.urls")),
    path("", include("gate.triage.urls")),
    path("", include("gate.writes.urls")),
    path("", include("gate.admission.urls")),
    path("", include("evidence.people_urls")),
    path("", include("evidence.tool_urls")),
    path("", include("evidence.metric_urls")),
    path("", include("audit.urls")),
]

handler400 = "gate.config.refused.bad_request"
handler403 = "gate.config.refused.not_allowed"
handler404 = "gate.config.refused.not_found"
handler405 = "gate.config.refused.wrong_method"
handler500 = "gate.config.broken.page"
