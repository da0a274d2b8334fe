"""Triage's API alone, as the agents' plane mounts it."""

from django.urls import include, path

urlpatterns = [path("api/v1/", include("gate.triage.api_urls"))]
