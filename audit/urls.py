"""Pages of the log and of definitions. Definitions come last: the first word of their addresses is data."""

from django.urls import include, path

from audit import (
    agent_views,
    alarm_views,
    export_views,
    health_views,
    hold_views,
    redaction_views,
    saved_view_views,
    views,
)

log_urls = [
    path("audit/", views.entries, name="list"),
    path("audit/health/", health_views.page, name="health"),
    path("audit/health/starts/", health_views.starts, name="starts"),
    path("audit/health/verifying/", health_views.verifying, name="verifying"),
    path("audit/verifications/", health_views.ask, name="ask_verification"),
    path("audit/news/", views.news, name="news"),
    path("audit/views/", saved_view_views.save, name="save_view"),
    path("audit/views/<int:pk>/removal/", saved_view_views.removal, name="view_removal"),
    path("audit/seal/", views.seal_strip, name="seal"),
    path("audit/alarm/", alarm_views.page, name="alarm"),
    path("audit/overrides/<int:pk>/confirmation/", alarm_views.confirmation, name="override_confirmation"),
    path("audit/overrides/<int:pk>/withdrawal/", alarm_views.withdrawal, name="override_withdrawal"),
    path("audit/verifications/<int:pk>/", alarm_views.verification, name="verification"),
    path("audit/export/", export_views.export, name="export"),
    path("audit/holds/", hold_views.page, name="holds"),
    path("audit/holds/<int:pk>/lifting/", hold_views.lifting, name="lifting"),
    path("audit/redactions/<int:pk>/confirmation/", redaction_views.confirmation, name="redaction_confirmation"),
    path("audit/redactions/<int:pk>/withdrawal/", redaction_views.withdrawal, name="redaction_withdrawal"),
    path("audit/<int:seq>/", views.entry, name="entry"),
    path("audit/<int:seq>/redaction/", redaction_views.page, name="redaction"),
    path("audit/<int:seq>/proof/", export_views.proof, name="proof"),
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
