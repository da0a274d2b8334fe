from django.urls import path

from gate.writes import views

app_name = "writes"
urlpatterns = [
    path("writes/", views.writes_page, name="list"),
    path("writes/new/", views.new_page, name="new"),
    path("writes/<int:pk>/", views.write_page, name="write"),
    path("writes/<int:pk>/progress/", views.progress, name="progress"),
    path("writes/<int:pk>/preview/", views.preview, name="preview"),
    path("writes/<int:pk>/decision/", views.decision, name="decision"),
]
