from django.urls import path

from gate.triage import views

app_name = "gate"
urlpatterns = [
    path("inbox/", views.inbox_page, name="inbox"),
    path("inbox/rail/", views.rail, name="rail"),
    path("drafts/<int:pk>/", views.draft_page, name="draft"),
    path("drafts/<int:pk>/review/", views.review, name="review"),
    path("drafts/<int:pk>/claim/", views.claim, name="claim"),
    path("drafts/<int:pk>/snooze/", views.snooze, name="snooze"),
    path("incidents/", views.incidents_page, name="incidents"),
    path("incidents/<int:pk>/", views.incident_page, name="incident"),
]
