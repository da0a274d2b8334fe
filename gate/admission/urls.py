from django.urls import path

from gate.admission import policy_views as views

app_name = "policies"
urlpatterns = [
    path("policies/", views.list_page, name="list"),
    path("policies/new/", views.new, name="new"),
    path("policies/<slug:name>/", views.one, name="one"),
    path("policies/<slug:name>/new/", views.new, name="new_version"),
    path("policies/<slug:name>/decisions/<int:seq>/", views.decision, name="decision"),
    path("policies/<slug:name>/decisions/<int:seq>/labels/", views.labels, name="labels"),
    path("policies/<slug:name>/versions/<int:number>/observation/", views.observation, name="observation"),
    path("policies/<slug:name>/versions/<int:number>/activation/", views.activation, name="activation"),
]
