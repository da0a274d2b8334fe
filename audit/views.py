"""The log's pages: the list, one entry, and its exact bytes."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.middleware import HtmxDetails

from audit import alarm, browse, list_page, reading, retention, surroundings
from audit.entry_page import entry_page
from audit.models import Entry, Retained


class HtmxRequest(HttpRequest):
    """A request as django-htmx's middleware hands it on."""

    htmx: HtmxDetails


may_view = permission_required("audit.view", raise_exception=True)


@require_safe
@may_view
@vary_on_headers("HX-Request")
def entries(request: HtmxRequest) -> HttpResponse:
    """The list. htmx gets its rows alone; going back in the browser gets the whole page."""
    before, after = _number(request, "before"), _number(request, "after")
    context = list_page.context_of(
        request.user,
        browse.Filters.of(request.GET.dict()),
        before=before,
        after=after,
        is_following="follow" in request.GET and before is None and after is None,
    )
    status = 422 if context["problem"] else 200
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "audit/_rows.html", context, status=status)
    return render(request, "audit/list.html", list_page.with_form(context), status=status)


@require_safe
@may_view
def news(request: HttpRequest) -> HttpResponse:
    """How many matching entries came since the page was read: a strip that asks for itself again, and moves nothing."""
    filters, newest = browse.Filters.of(request.GET.dict()), _number(request, "newest") or 0
    try:
        count = browse.new_since(filters, newest)
    except browse.BadFilter as problem:
        return HttpResponse(str(problem), status=422, content_type="text/plain")
    return render(request, "audit/_news.html", {"filters": filters, "newest_shown": newest, "count": count})


@require_safe
def seal_strip(request: HttpRequest) -> HttpResponse:
    """The rail's foot: how far the log is sealed. Everybody who signs in sees it on every page."""
    found = alarm.standing()
    return render(request, "ui/_seal_strip.html", {"seal": found.seal, "alarm": found.alarm})


def _number(request: HttpRequest, name: str) -> int | None:
    """A position in the log; anything else is no position, as an old link must still open."""
    typed = request.GET.get(name, "")
    return int(typed) if typed.isdecimal() and len(typed) <= 18 else None


@require_safe
@may_view
def entry(request: HttpRequest, seq: int) -> HttpResponse:
    """One entry, checked while it is shown."""
    found = reading.by_seq(seq)
    if found is None:
        return _gone(request, f"A-{seq}", retention.pruned_number(seq))
    return render(request, "audit/entry.html", {"page": entry_page(found, request.user)})


@require_safe
@may_view
def permalink(request: HttpRequest, key: UUID) -> HttpResponse:
    """An entry by its key, which outlives renumbering in a restored log."""
    found = Entry.objects.filter(pk=key).first()
    if found is None:
        return _gone(request, str(key), retention.pruned_key(key))
    return redirect("audit:entry", found.seq)


@require_safe
@may_view
def exact_bytes(request: HttpRequest, seq: int) -> HttpResponse:
    """The bytes that the commitment was taken over: the result, or with ?part=args the arguments."""
    found = reading.by_seq(seq)
    if found is None:
        return _gone(request, f"A-{seq}", retention.pruned_number(seq))
    part = request.GET.get("part", "result")
    if part not in ("args", "result"):
        raise Http404("An entry has arguments and a result.")
    surroundings.recorded_view(found, surroundings.of(found), request.user)
    content = reading.content_of(found)
    raw = content.args_raw if part == "args" else content.result_raw
    if content.redacted_by is not None and not raw:
        return HttpResponse(content.why, status=410, content_type="text/plain")
    if not content.is_intact and content.redacted_by is None:
        sentence = f"These are not the bytes that were written, so they are not handed out as such. {content.why}"
        return HttpResponse(sentence, status=409, content_type="text/plain")
    response = HttpResponse(raw, content_type="application/json")
    response["Cache-Control"] = "no-store"
    response["Content-Disposition"] = f'attachment; filename="A-{seq}-{part}.json"'
    return response


def _gone(request: HttpRequest, what: str, retained: Retained | None) -> HttpResponse:
    """The page of an entry that was there: pruned, by what and when. Raises Http404 for one that never was."""
    if retained is None:
        raise Http404(f"There is no entry {what}.")
    return render(request, "audit/pruned.html", {"what": what, "retained": retained}, status=410)
