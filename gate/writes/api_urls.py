from django.urls import path

from gate.writes import api

urlpatterns = [
    path("writes", api.Writes.as_view()),
    path("writes/<int:pk>", api.OneWrite.as_view()),
]
