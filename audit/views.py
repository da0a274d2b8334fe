"""The log's pages: the list, one entry, and its exact bytes."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.middleware import HtmxDetails

from audit import browse, reading
from audit.entry_page import entry_page
from audit.models import Entry


class HtmxRequest(HttpRequest):
    """A request as django-htmx's middleware hands it on."""

    htmx: HtmxDetails


may_view = permission_required("audit.view", raise_exception=True)


@require_safe
@may_view
@vary_on_headers("HX-Request")
def entries(request: HtmxRequest) -> HttpResponse:
    """The list. htmx gets its rows alone; going back in the browser gets the whole page."""
    filters = browse.Filters.of(request.GET.dict())
    context = {"filters": filters, "views": browse.VIEWS, "problem": None}
    try:
        page = browse.page(filters, before=_number(request, "before"), after=_number(request, "after"))
    except browse.BadFilter as problem:
        page, context["problem"] = browse.Page(), problem
    context["page"] = page
    if not page.entries and not context["problem"]:
        context["ways_out"] = browse.ways_out(filters)
    status = 422 if context["problem"] else 200
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "audit/_rows.html", context, status=status)
    return render(request, "audit/list.html", {**context, "choices": browse.choices(filters)}, status=status)


def _number(request: HttpRequest, name: str) -> int | None:
    """A position in the log; anything else is no position, as an old link must still open."""
    typed = request.GET.get(name, "")
    return int(typed) if typed.isdecimal() and len(typed) <= 18 else None


@require_safe
@may_view
def entry(request: HttpRequest, seq: int) -> HttpResponse:
    """One entry, checked while it is shown."""
    return render(request, "audit/entry.html", {"page": entry_page(_entry(seq))})


@require_safe
@may_view
def permalink(request: HttpRequest, key: UUID) -> HttpResponse:
    """An entry by its key, which outlives renumbering in a restored log."""
    return redirect("audit:entry", get_object_or_404(Entry, pk=key).seq)


@require_safe
@may_view
def exact_bytes(request: HttpRequest, seq: int) -> HttpResponse:
    """The bytes that the commitment was taken over: the result, or with ?part=args the arguments."""
    content = reading.content_of(_entry(seq))
    part = "args" if request.GET.get("part") == "args" else "result"
    raw = content.args_raw if part == "args" else content.result_raw
    response = HttpResponse(raw, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="A-{seq}-{part}.json"'
    return response


def _entry(seq: int) -> Entry:
    found = reading.by_seq(seq)
    if found is None:
        raise Http404(f"There is no entry A-{seq}.")
    return found
