"""Triage's addresses on the agents' plane, below /api/v1/."""

from django.urls import path

from gate.triage import api, trace_api

urlpatterns = [
    path("incidents", api.Incidents.as_view()),
    path("investigations", api.Investigations.as_view()),
    path("investigations/<int:investigation>/findings", api.Findings.as_view()),
    path("investigations/<int:investigation>/trace", trace_api.Traces.as_view()),
]
