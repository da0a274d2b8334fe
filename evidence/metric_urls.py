"""/metrics/ and /valuations/ on the people's plane. They come before the pages of all definitions."""

from django.urls import URLPattern, path

from evidence import metric_draft_views as drafts
from evidence import metric_views as views
from evidence import valuation_views as valuations

app_name = "metrics"
urlpatterns: list[URLPattern] = [
    path("metrics/", views.list_page, name="list"),
    path("metrics/new/", drafts.new, name="new"),
    path("metrics/<slug:name>/", views.one, name="one"),
    path("metrics/<slug:name>/asks/", views.asking, name="asking"),
    path("metrics/<slug:name>/asks/<int:pk>/", views.asked, name="ask"),
    path("metrics/<slug:name>/new/", drafts.new, name="new_version"),
    path("metrics/<slug:name>/versions/<int:number>/", drafts.version, name="draft"),
    path("metrics/<slug:name>/versions/<int:number>/golden/", drafts.golden, name="golden"),
    path("metrics/<slug:name>/versions/<int:number>/activation/", drafts.activation, name="activation"),
    path("metrics/<slug:name>/versions/<int:number>/retirement/", drafts.retirement, name="retirement"),
    path("valuations/", valuations.list_page, name="valuations"),
    path("valuations/new/", valuations.new, name="new_valuation"),
    path("valuations/<slug:name>/", valuations.one, name="valuation"),
    path("valuations/<slug:name>/new/", valuations.new, name="new_valuation_version"),
    path(
        "valuations/<slug:name>/versions/<int:number>/activation/",
        valuations.activation,
        name="valuation_activation",
    ),
]
