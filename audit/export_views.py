"""The log leaves through these pages: what the list's filters select, and the proof of one entry."""

from __future__ import annotations

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from audit import browse, list_page, log, reading
from audit.export import Export
from audit.export_formats import FORMATS, JSONL
from audit.export_rows import Selection


@require_POST
@permission_required("audit.export", raise_exception=True)
def export(request: HttpRequest) -> HttpResponseBase:
    """Everything that the filters of the address select, in the form that was chosen."""
    filters = browse.Filters.of(request.GET.dict())
    form = FORMATS.get(request.POST.get("format", ""))
    if form is None:
        return HttpResponse("Choose JSONL, CSV or OCSF.", status=422, content_type="text/plain")
    try:
        return _download(Export(Selection(filters), form, log.Actor.person(request.user)))
    except browse.BadFilter as problem:
        context = {**list_page.context_of(request.user, filters), "problem": problem}
        return render(request, "audit/list.html", list_page.with_form(context), status=422)


@require_POST
@permission_required("audit.view", raise_exception=True)
def proof(request: HttpRequest, seq: int) -> HttpResponseBase:
    """One entry with its content, its proof and the checkpoint, for `python -m audit.verify`."""
    if reading.by_seq(seq) is None:
        raise Http404(f"There is no entry A-{seq}.")
    return _download(Export(Selection(seq=seq), JSONL, log.Actor.person(request.user)))


def _download(export: Export) -> StreamingHttpResponse:
    response = StreamingHttpResponse(export.stream(), content_type=export.form.content_type)
    response["Content-Disposition"] = f'attachment; filename="{export.file_name}"'
    response["Cache-Control"] = "no-store"
    return response
