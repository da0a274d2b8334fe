"""Admission's addresses on the agents' plane, below /api/v1/."""

from django.urls import path

from gate.admission import api

urlpatterns = [
    path("admission/decide", api.Decide.as_view()),
    path("admission/policies/<slug:name>/questions", api.Questions.as_view()),
    path("hooks/claude-code", api.ClaudeCodeHook.as_view()),
]
