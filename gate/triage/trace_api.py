"""The agents' door for traces: the file as it is, in any format that is known."""

from __future__ import annotations

from typing import IO, Any, cast

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.agents import Principal
from audit.budgets import CALLS
from evidence import budgets
from evidence.authentication import principal_of
from evidence.errors import Problem
from evidence.serializers import refusals
from evidence.survival.formats import FORMATS
from evidence.survival.formats.collected import TraceError
from evidence.survival.formats.reading import AUTO
from gate.triage import trace_uploads, traces
from gate.triage.models import Investigation
from gate.triage.trace_models import Trace

SCOPE = "investigate"


class RawParser(BaseParser):
    """A body as bytes, under "raw": what it is, its reader finds out."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> dict[str, Any]:
        """Raises Problem when it is longer than a trace may be."""
        raw: bytes = stream.read(trace_uploads.LONGEST + 1)
        if len(raw) > trace_uploads.LONGEST:
            raise Problem(413, "too_large", f"A trace holds up to {trace_uploads.LONGEST:,} bytes; send less.")
        return {"raw": raw}


class LinesParser(RawParser):
    """The same for lines of JSON."""

    media_type = "application/x-ndjson"


class UploadedSerializer(serializers.Serializer[Any]):
    """What became of an upload: records are those kept and those skipped."""

    trace = serializers.IntegerField()
    format = serializers.CharField()
    sha256 = serializers.CharField(help_text="Of the text as it is kept: parsed, its secrets masked.")
    size = serializers.IntegerField(help_text="Its bytes.")
    records = serializers.IntegerField()
    kept = serializers.IntegerField()
    skipped = serializers.DictField(child=serializers.IntegerField(), help_text="Reason → how many.")
    steps = serializers.IntegerField()


class Traces(APIView):
    """Traces of an investigation of the agent whose token it is."""

    parser_classes = [RawParser, LinesParser]

    @extend_schema(
        operation_id="upload_trace",
        parameters=[
            OpenApiParameter("investigation", {"type": "integer", "minimum": 1}, OpenApiParameter.PATH),
            OpenApiParameter(
                "trace_format", {"type": "string", "enum": [AUTO, *FORMATS]}, OpenApiParameter.QUERY,
                description="Found out by default.",
            ),
        ],
        request={"application/json": {}, "application/x-ndjson": {"type": "string"}},
        responses={201: UploadedSerializer, 200: UploadedSerializer, **refusals(404, 409, 422, 429)},
    )  # fmt: skip
    def post(self, request: Request, investigation: int) -> Response:
        """Hand in what your client wrote down. The same content twice is one trace; it changes no verdict."""
        principal = principal_of(request)
        own = _own(principal, investigation)
        budgets.take(principal, CALLS)
        try:
            raw = cast(dict[str, bytes], request.data).get("raw", b"")
            read = traces.read(raw, request.query_params.get("trace_format", AUTO))
            trace, is_new = traces.keep(own.pk, read, origin=Trace.Origin.AGENT, by=principal.actor())
        except TraceError as error:
            raise Problem(422, "no_trace", error.sentence) from error
        except traces.TooMany as error:
            raise Problem(409, "too_many_traces", traces.TOO_MANY) from error
        return Response(_told(trace), status=201 if is_new else 200)


def _own(principal: Principal, investigation: int) -> Investigation:
    """The agent's own investigation, at whatever it stands. Raises Problem."""
    found = Investigation.objects.filter(agent_id=principal.agent_id, pk=investigation).first()
    if found is None or SCOPE not in principal.scopes:
        raise Problem(404, "unknown_investigation", "You have no investigation of that number.")
    return found


def _told(trace: Trace) -> dict[str, Any]:
    return {
        "trace": trace.pk, "format": trace.format, "sha256": trace.sha256, "size": trace.size,
        "records": trace.records, "kept": trace.kept, "skipped": trace.skipped, "steps": trace.steps,
    }  # fmt: skip
