"""/tools/ on the people's plane. They come before the pages of all definitions, whose first word is data."""

from django.urls import path

from evidence import tool_views as views

app_name = "tools"
urlpatterns = [
    path("tools/", views.list_page, name="list"),
    path("tools/new/", views.new, name="new"),
    path("tools/<slug:name>/", views.one, name="one"),
    path("tools/<slug:name>/new/", views.new, name="new_version"),
    path("tools/<slug:name>/versions/<int:number>/activation/", views.activation, name="activation"),
    path("tools/<slug:name>/versions/<int:number>/retirement/", views.retirement, name="retirement"),
]
