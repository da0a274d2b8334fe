"""Pages of the log and of definitions. Definitions come last: the first word of their addresses is data."""

from django.urls import include, path

from audit import agent_views, views

log_urls = [
    path("audit/", views.entries, name="list"),
    path("audit/<int:seq>/", views.entry, name="entry"),
    path("audit/<int:seq>.json", views.exact_bytes, name="bytes"),
    path("audit/<uuid:key>/", views.permalink, name="permalink"),
    path("agents/", agent_views.agents, name="agents"),
    path("agents/tokens/<int:pk>/revocation/", agent_views.revocation, name="revocation"),
    path("agents/<slug:name>/", agent_views.agent, name="agent"),
    path("agents/<slug:name>/tokens/", agent_views.tokens, name="agent_tokens"),
    path("agents/<slug:name>/budget/", agent_views.budget, name="agent_budget"),
    path("agents/<slug:name>/stop/", agent_views.stop, name="agent_stop"),
    path("agents/<slug:name>/start/", agent_views.start, name="agent_start"),
]

urlpatterns = [
    path("", include((log_urls, "audit"))),
    path("", include("audit.definition_urls")),
]
