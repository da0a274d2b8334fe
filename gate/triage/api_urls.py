"""Triage's addresses on the agents' plane, below /api/v1/."""

from django.urls import path

from gate.triage import api

urlpatterns = [
    path("incidents", api.Incidents.as_view()),
    path("investigations", api.Investigations.as_view()),
    path("investigations/<int:investigation>/findings", api.Findings.as_view()),
]
