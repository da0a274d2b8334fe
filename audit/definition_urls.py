"""/tools/, /classes/, /targets/, /rules/, /sources/: one set of pages for every kind of definition."""

from django.urls import path

from audit import definition_views as views

app_name = "definitions"
urlpatterns = [
    path("<slug:plural>/", views.definitions, name="list"),
    path("<slug:plural>/new/", views.new, name="new"),
    path("<slug:plural>/<slug:name>/", views.definition, name="one"),
    path("<slug:plural>/<slug:name>/new/", views.new, name="new_version"),
    path("<slug:plural>/<slug:name>/versions/<int:number>/activation/", views.activation, name="activation"),
]
