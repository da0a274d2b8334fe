"""Addresses of the people's plane. They stand before those of definitions in general, which take any name."""

from django.urls import path

from evidence import alert_views, source_views

app_name = "sources"
urlpatterns = [
    path("sources/", source_views.sources, name="list"),
    path("sources/new/", source_views.new, name="new"),
    path("sources/<slug:name>/", source_views.source, name="one"),
    path("sources/<slug:name>/new/", source_views.new, name="new_version"),
    path("sources/<slug:name>/proof/", source_views.prove, name="proof"),
    path("agents/alerts/<int:pk>/acknowledgment/", alert_views.acknowledgment, name="acknowledgment"),
]
