"""Saving a filter of the list under a name, and removing it."""

from __future__ import annotations

from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from audit import list_page, saved_views
from audit.browse import Filters
from audit.models import SavedView
from audit.refusing import NotAllowed


@require_POST
@permission_required("audit.view", raise_exception=True)
def save(request: HttpRequest) -> HttpResponse:
    """Keep filters, as the list's address has them, under a name."""
    filters = Filters.of(QueryDict(request.POST.get("query", "")).dict())
    name = request.POST.get("name", "")
    is_shared = request.POST.get("is_shared") == "on"
    try:
        view = saved_views.save(filters, name=name, is_shared=is_shared, by=request.user)
    except NotAllowed as refusal:
        context = list_page.context_of(request.user, filters)
        typed = {"save_refusal": refusal, "save_name": name, "save_shared": is_shared}
        return render(request, "audit/list.html", {**list_page.with_form(context), **typed}, status=409)
    return redirect(f"{reverse('audit:list')}?{view.query}")


@require_POST
@permission_required("audit.view", raise_exception=True)
def removal(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a view of one's own."""
    try:
        saved_views.remove(pk, by=request.user)
    except SavedView.DoesNotExist as unknown:
        raise Http404(str(unknown)) from unknown
    return redirect("audit:list")
