"""The people's page for what nobody caught. It needs no database, no session and no reader's zone."""

from __future__ import annotations

import sys

import django.db
import psycopg
from django.http import HttpRequest, HttpResponse

from audit import disk
from gate.config import refused

GONE = (django.db.OperationalError, django.db.InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")


def page(request: HttpRequest) -> HttpResponse:
    """handler500: a full disk and a database that is gone are said by their names, with 503; all else is a 500.

    Whoever only read changed nothing. Whoever sent something may be on record: the page says to look.
    """
    error = sys.exc_info()[1]
    full = disk.said_of(error) if error else None
    if full is not None:
        return _wait(
            refused.page(request, 503, "disk_full.html", sentence=full, is_certain=full == disk.NOTHING_CHANGED)
        )
    is_reading = request.method in SAFE
    if isinstance(error, GONE):
        return _wait(refused.page(request, 503, is_reading=is_reading))
    return refused.page(request, 500, is_reading=is_reading)


def _wait(response: HttpResponse) -> HttpResponse:
    response["Retry-After"] = "30"
    return response
