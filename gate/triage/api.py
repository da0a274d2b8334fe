"""Triage over REST: monitors report incidents, agents start investigations and hand in findings."""

from __future__ import annotations

from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evidence import desk, problems
from evidence.authentication import bearer_of, principal_of
from evidence.errors import Problem
from evidence.serializers import refusals
from gate.triage import intake
from gate.triage.desk import START
from gate.triage.serializers import (
    WITHOUT_NUL,
    ReceivedSerializer,
    ReportSerializer,
    StartedSerializer,
    TakenSerializer,
)
from gate.triage.submissions import FINDING, FINDING_PROPERTIES, PROPERTIES, SCHEMA

# The desk's own schemas leave out what is refused with a sentence that says why: other keys, and NUL.
NOTE = {"note": {**FINDING_PROPERTIES["note"], "pattern": WITHOUT_NUL}}
CLOSED_FINDING = {**FINDING, "properties": {**FINDING_PROPERTIES, **NOTE}, "additionalProperties": False}
SUBMITTED = {
    "findings": {**PROPERTIES["findings"], "items": CLOSED_FINDING},
    "answer": {**PROPERTIES["answer"], "pattern": WITHOUT_NUL},
}
SUBMISSION = {**SCHEMA, "properties": {**PROPERTIES, **SUBMITTED}, "additionalProperties": False}


class IntakeAuthentication(BaseAuthentication):
    """An intake token as bearer. An agent's token is none: it opens no incidents."""

    def authenticate(self, request: Request) -> tuple[intake.Monitor, None]:
        """Raises AuthenticationFailed; there is no anonymous report."""
        token = bearer_of(request)
        monitor = None if token is None else intake.authenticate(token)
        if monitor is None:
            raise AuthenticationFailed("Send a valid intake token: Authorization: Bearer csi_…")
        return monitor, None

    def authenticate_header(self, request: Request) -> str:
        """What the 401 asks for."""
        return "Bearer"


class Incidents(APIView):
    """Reports of monitors."""

    authentication_classes = [IntakeAuthentication]

    @extend_schema(
        operation_id="report_incident",
        request=ReportSerializer,
        responses={201: TakenSerializer, 200: TakenSerializer, **refusals(404, 409, 422)},
    )
    def post(self, request: Request) -> Response:
        """Open an incident, or tell the open one of the same key what is new."""
        monitor = cast(intake.Monitor, request.user)
        try:
            incident, is_new = intake.receive(_report(request.data), monitor)
        except Problem as problem:
            intake.record_refusal(monitor, problem, request.data)
            raise
        answer = {"incident": incident.ref, "id": incident.pk, "status": incident.status}
        return Response(answer, status=201 if is_new else 200)


class Investigations(APIView):
    """Investigations of the agent whose token it is."""

    @extend_schema(
        operation_id="start_investigation",
        request={"application/json": START},
        responses={201: StartedSerializer, **refusals(404, 409, 422, 429)},
    )
    def post(self, request: Request) -> Response:
        """Start looking into an incident."""
        briefed = desk.call(principal_of(request), "start_investigation", _object(request.data))
        return Response(briefed, status=201)


class Findings(APIView):
    """The one submission of an investigation."""

    @extend_schema(
        operation_id="submit_findings",
        parameters=[OpenApiParameter("investigation", {"type": "integer", "minimum": 1}, OpenApiParameter.PATH)],
        request={"application/json": SUBMISSION},
        responses={202: ReceivedSerializer, **refusals(404, 409, 422, 429)},
    )
    def post(self, request: Request, investigation: int) -> Response:
        """Hand in hypothesis, findings and answer."""
        given = _object(request.data)
        if "investigation" in given:
            raise Problem(422, "wrong_arguments", "The address says which investigation; leave the key out.")
        handed_in = {**given, "investigation": investigation}
        return Response(desk.call(principal_of(request), "submit_findings", handed_in), status=202)


def _report(data: Any) -> intake.Report:
    form = ReportSerializer(data=data)
    if not form.is_valid():
        raise Problem(422, "wrong_report", problems.first_fault(form.errors))
    return form.report()


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Problem(422, "wrong_arguments", "Send a JSON object.")
    return data
