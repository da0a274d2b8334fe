"""What a passkey is to sign about a write, and the receipt that proves afterwards what it signed."""

from __future__ import annotations

import json

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from gate.errors import NotAllowed
from gate.people.requests import person_of
from gate.writes import deciding, receipt_file
from gate.writes.forms import OfferForm
from gate.writes.models import WriteRequest


@never_cache
@require_POST
def options(request: HttpRequest, pk: int) -> HttpResponse:
    """The options of a key's signature under a decision."""
    write = get_object_or_404(WriteRequest, pk=pk)
    form = OfferForm(request.POST)
    if not form.is_valid():
        sentences = [str(one) for errors in form.errors.values() for one in errors]
        return JsonResponse({"sentence": " ".join(sentences)}, status=422)
    try:
        session = request.session.session_key or ""
        made = deciding.offer(write, by=person_of(request), session=session, **form.decided())
    except NotAllowed as refusal:
        return JsonResponse({"sentence": str(refusal)}, status=409)
    return JsonResponse({"publicKey": made})


@never_cache
@require_safe
def receipt(request: HttpRequest, pk: int) -> HttpResponse:
    """The receipt of an executed write, to be checked without us. 409 while it is not sealed. Raises Http404."""
    write = get_object_or_404(WriteRequest.objects.select_related("target"), pk=pk)
    if write.status != WriteRequest.Status.EXECUTED:
        raise Http404(f"{write.ref} was not executed, so there is no receipt.")
    try:
        made = receipt_file.of(write)
    except receipt_file.NotReady as reason:
        return HttpResponse(str(reason), status=409, content_type="text/plain")
    response = HttpResponse(json.dumps(made, indent=1) + "\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{write.ref}-receipt.json"'
    return response
