"""How mail goes out, and a letter to try it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from evidence.models import AgentAlert
from evidence.monitoring_models import Letter
from gate.config.smtp import MailServer
from gate.people import letters
from gate.people.requests import person_of

MOST_UNTOLD = 100  # alerts
may_try = permission_required("people.try_mail", raise_exception=True)


@require_safe
@may_try
def mail(request: HttpRequest) -> HttpResponse:
    """The mail server, without its password."""
    return render(request, "people/mail.html", _context())


@require_POST
@may_try
def test(request: HttpRequest) -> HttpResponse:
    """Send the reader a test mail and say what became of it."""
    outcome = letters.send_test(person_of(request))
    if outcome.why_not:
        return render(request, "people/mail.html", {**_context(), "why_not": outcome.why_not}, status=409)
    messages.success(request, f"The mail server took a test mail to {outcome.address}.")
    return redirect("people:mail")


def _context() -> dict[str, Any]:
    # Field by field: what a page does not get, it cannot show.
    server: MailServer | None = settings.MAIL
    if server is None:
        return {}
    lost = AgentAlert.objects.filter(state=AgentAlert.State.OPEN, letter__in=(Letter.GIVEN_UP, Letter.UNKNOWN))
    return {
        "untold": sorted(set(lost.values_list("agent", flat=True)[:MOST_UNTOLD])),
        "host": server.host, "port": server.port, "encryption": server.encryption, "sender": server.sender,
        "user": server.user, "has_password": bool(server.password),
    }  # fmt: skip
