"""Writes over REST: the same handlers as the desk tools."""

from __future__ import annotations

from typing import Any, cast

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.agents import Principal
from evidence import desk as agents_desk
from evidence.errors import Problem
from evidence.serializers import refusals
from gate.writes import desk

ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "write": {"type": "string"},
        "status": {"type": "string"},
        "edition": {"type": "integer", "description": "It grows with each edit; nothing approved before counts."},
        "reason": {"type": "string", "description": "Of the decision that ended it, or the writer's; else empty."},
        "rule": {"type": "string", "description": "The rule of a policy that blocked it; else empty."},
        "needs": {"type": "array", "items": {"type": "string"}, "description": "What must still happen."},
    },
    "required": ["id", "write", "status", "edition", "reason", "rule", "needs"],
    "additionalProperties": False,
}


def _principal(request: Request) -> Principal:
    return cast(Principal, request.user)


class Writes(APIView):
    """Proposals."""

    @extend_schema(
        operation_id="propose_write",
        request={"application/json": desk.PROPOSE_SCHEMA},
        responses={
            201: OpenApiResponse(ANSWER, description="It is checked, and then waits for a person."),
            **refusals(404, 409, 422, 429),
        },
    )
    def post(self, request: Request) -> Response:
        """Propose a write. It is checked by a policy, and then waits for a person; nothing here approves it."""
        if not isinstance(request.data, dict):
            raise Problem(422, "wrong_arguments", "The body must be one JSON object.")
        return Response(agents_desk.call(_principal(request), desk.PROPOSE, request.data), status=201)


class OneWrite(APIView):
    """One proposal of the calling agent."""

    @extend_schema(
        operation_id="write_status",
        responses={200: OpenApiResponse(ANSWER, description="Where it stands."), **refusals(404, 409, 429)},
    )
    def get(self, request: Request, pk: int) -> Response:
        """Where an own write stands. Another agent's write and none at all are the same 404."""
        return Response(agents_desk.call(_principal(request), desk.STATUS, {"write": f"W-{pk}"}))
