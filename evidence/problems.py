"""Every refusal of the agents' plane as application/problem+json (RFC 9457), with one sentence in `detail`."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any, cast

import django.db
import psycopg
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework.exceptions import APIException, MethodNotAllowed, ValidationError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from audit import disk
from evidence import exact_json, recording
from evidence.errors import Problem

MEDIA_TYPE = "application/problem+json"
NOT_FOUND = "There is nothing at this address."
WRONG_METHOD = "This address does not take that method; see the Allow header."
BAD = "The request cannot be read."
UNAVAILABLE = Problem(503, "unavailable", "Our own database does not answer; nothing is shown. Try again in a moment.")
ONCE_THERE_IS_ROOM = "Try again once its operators have made room."
UNEXPECTED = Problem(500, "internal_error", "Something broke on our side; it was logged.")
# What our own database raises, through Django and beside it.
DATABASE_ERRORS = (django.db.Error, psycopg.Error)
logger = logging.getLogger(__name__)


def body(status: int, code: str, detail: str) -> dict[str, Any]:
    """The members that every problem has."""
    return {"title": HTTPStatus(status).phrase, "status": status, "code": code, "detail": detail}


def body_of(problem: Problem) -> dict[str, Any]:
    """The members of a problem that our own code raised; id and receipt are there when the call ran and failed."""
    stated = body(problem.status, problem.code, problem.sentence)
    if problem.retry_after:
        stated["retry_after"] = problem.retry_after
    return {**stated, "audit_id": problem.audit_id, "digest": problem.digest} if problem.audit_id else stated


def handle(exc: Exception, context: dict[str, Any]) -> Response | None:
    """REST framework's exception handler. None, for what nobody expected, becomes a 500."""
    try:
        _put_on_record(exc, context["request"])
    except Problem as problem:
        return _response(body_of(problem))
    if isinstance(exc, Problem):
        return _response(body_of(exc))
    if isinstance(exc, DATABASE_ERRORS):
        logger.error("The database failed a request.", exc_info=exc)
        return _response(body_of(of_database(exc)))
    if isinstance(exc, Http404):
        return _response(body(404, "not_found", NOT_FOUND))
    if isinstance(exc, PermissionDenied):
        return _response(body(403, "permission_denied", "You may not do this."))
    if isinstance(exc, APIException):
        return _of_framework(exc)
    return None


def of_database(error: BaseException) -> Problem:
    """What an agent is told when our own database failed: a full disk by its name."""
    full = disk.said_of(error)
    return Problem(503, "disk_full", f"{full} {ONCE_THERE_IS_ROOM}") if full else UNAVAILABLE


def _put_on_record(exc: Exception, request: Request) -> None:
    """A request of a caller that we know, refused before any handler took it, is an entry, too. Raises Problem.

    Strangers are counted elsewhere, and whoever only looks has asked for nothing.
    """
    if isinstance(exc, APIException):
        exc = Problem(exc.status_code, str(exc.default_code), _sentence(exc))
    if not isinstance(exc, Problem) or exc.is_recorded or request.method in SAFE_METHODS or request.user is None:
        return
    match = request.resolver_match
    summary = f"{request.method} /{match.route}" if match else ""
    recording.refusal(cast(recording.Caller, request.user), exc, {"summary": summary})


def _of_framework(exc: APIException) -> Response:
    code = str(exc.default_code)
    response = _response(body(exc.status_code, code, _sentence(exc)))
    challenge = getattr(exc, "auth_header", None)
    if challenge:
        response["WWW-Authenticate"] = challenge
    wait = getattr(exc, "wait", None)
    if wait:
        response["Retry-After"] = str(int(wait))
    if isinstance(exc, MethodNotAllowed):
        response.data["detail"] = WRONG_METHOD
    return response


def _sentence(exc: APIException) -> str:
    """One sentence; of a validation error the first one, with the name of its field."""
    if not isinstance(exc, ValidationError):
        return str(exc.detail)
    return first_fault(exc.detail)


def first_fault(detail: Any) -> str:
    """The first thing that is wrong with a form: the name of its field, and the sentence."""
    where, reason = _first(detail)
    return f"{where}: {reason}" if where else reason


def _first(detail: Any) -> tuple[str, str]:
    if isinstance(detail, dict) and detail:
        name, inner = next(iter(detail.items()))
        where, reason = _first(inner)
        own = "" if name == "non_field_errors" else str(name)
        return ".".join(part for part in (own, where) if part), reason
    if isinstance(detail, list) and detail:
        return _first(detail[0])
    return "", str(detail)


def _response(stated: dict[str, Any]) -> Response:
    headers = {"Retry-After": str(stated["retry_after"])} if "retry_after" in stated else None
    return Response(stated, status=stated["status"], headers=headers, content_type=MEDIA_TYPE)


def _plain(status: int, code: str, detail: str) -> HttpResponse:
    return HttpResponse(exact_json.dumps(body(status, code, detail)), status=status, content_type=MEDIA_TYPE)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400: a request that Django itself refuses."""
    return _plain(400, "bad_request", BAD)


def not_allowed(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler403."""
    return _plain(403, "permission_denied", "You may not do this.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404."""
    return _plain(404, "not_found", NOT_FOUND)


def too_long(most: int | None = None) -> HttpResponse:
    """What is said of a body that nobody reads to its end, with the limit where it is one of its own."""
    if most is not None:
        return _plain(413, "too_large", f"What is sent there may have up to {most:,} bytes; send less.")
    return _plain(413, "too_long", "The body is too long; send less.")


def wrong_method(request: HttpRequest) -> HttpResponse:
    """handler405."""
    return _plain(405, "method_not_allowed", WRONG_METHOD)


def broken(request: HttpRequest) -> HttpResponse:
    """handler500."""
    return _plain(UNEXPECTED.status, UNEXPECTED.code, UNEXPECTED.sentence)
