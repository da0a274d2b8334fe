"""Pages of the log and of definitions. Definitions come last: the first word of their addresses is data."""

from django.urls import include, path

from audit import views

log_urls = [
    path("audit/", views.entries, name="list"),
    path("audit/<int:seq>/", views.entry, name="entry"),
    path("audit/<int:seq>.json", views.exact_bytes, name="bytes"),
    path("audit/<uuid:key>/", views.permalink, name="permalink"),
    path("agents/", views.agents, name="agents"),
    path("agents/tokens/<int:pk>/revocation/", views.revocation, name="revocation"),
]

urlpatterns = [
    path("", include((log_urls, "audit"))),
    path("", include("audit.definition_urls")),
]
