from django.urls import path

from gate.writes import (
    around_views,
    covering_views,
    group_views,
    settle_views,
    signing_views,
    target_views,
    undo_views,
    views,
)

app_name = "writes"
urlpatterns = [
    path("writes/", views.writes_page, name="list"),
    path("writes/new/", views.new_page, name="new"),
    path("writes/<int:pk>/", views.write_page, name="write"),
    path("writes/<int:pk>/edit/", views.edit_page, name="edit"),
    path("writes/<int:pk>/progress/", views.progress, name="progress"),
    path("writes/<int:pk>/preview/", views.preview, name="preview"),
    path("writes/<int:pk>/rows/<slug:key>/", group_views.group_page, name="group"),
    path("writes/<int:pk>/undo/", undo_views.undo, name="undo"),
    path("writes/<int:pk>/decision/", views.decision, name="decision"),
    path("writes/<int:pk>/decision/options/", signing_views.options, name="options"),
    path("writes/<int:pk>/comments/", around_views.comments, name="comments"),
    path("writes/<int:pk>/reviews/", around_views.reviews, name="reviews"),
    path("writes/canaries/", around_views.canaries_page, name="canaries"),
    path("writes/canaries/<int:pk>/lifting/", around_views.lifting, name="lifting"),
    path("writes/<int:pk>/settlement/", settle_views.settlement, name="settlement"),
    path("coverage/", covering_views.coverage_page, name="coverage"),
    # Targets have pages of their own; they are put in force as any other definition.
    path("targets/", target_views.list_page, name="targets"),
    path("targets/new/", target_views.new, name="new_target"),
    path("targets/<slug:name>/", target_views.one, name="target"),
    path("targets/<slug:name>/new/", target_views.new, name="new_target_version"),
    path("writes/<int:pk>/receipt.json", signing_views.receipt, name="receipt"),
]
