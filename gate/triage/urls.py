from django.urls import path

from gate.triage import answer_views, incident_views, intake_views, nudges, search_views, views

app_name = "gate"
urlpatterns = [
    path("inbox/", views.inbox_page, name="inbox"),
    path("inbox/rail/", views.rail, name="rail"),
    path("inbox/nudges/", nudges.nudges, name="nudges"),
    path("drafts/<int:pk>/", views.draft_page, name="draft"),
    path("drafts/<int:pk>/review/", views.review, name="review"),
    path("drafts/<int:pk>/claim/", views.claim, name="claim"),
    path("drafts/<int:pk>/snooze/", views.snooze, name="snooze"),
    path("drafts/<int:pk>/sending/", answer_views.sending, name="sending"),
    path("intake-tokens/", intake_views.intake_tokens, name="intake_tokens"),
    path("intake-tokens/<int:pk>/revocation/", intake_views.revocation, name="intake_revocation"),
    path("search/", search_views.search_page, name="search"),
    path("incidents/", incident_views.incidents_page, name="incidents"),
    path("incidents/new/", incident_views.new_page, name="new_incident"),
    path("incidents/<int:pk>/", incident_views.incident_page, name="incident"),
    path("incidents/<int:pk>/closing/", incident_views.closing, name="closing"),
    path("incidents/<int:pk>/reopening/", incident_views.reopening, name="reopening"),
    path("incidents/<int:pk>/assignment/", incident_views.assignment, name="assignment"),
    path("incidents/<int:pk>/comments/", incident_views.comments, name="comments"),
    path("incidents/<int:pk>/investigations/<int:investigation>/stop/", incident_views.stop, name="stop"),
]
