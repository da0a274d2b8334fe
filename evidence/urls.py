from django.urls import path

from evidence import api

app_name = "evidence"

urlpatterns = [
    path("tools", api.Tools.as_view(), name="tools"),
    path("tools/<str:name>", api.ToolCall.as_view(), name="tool"),
]
