"""Tools over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evidence import catalog
from evidence.authentication import AgentTokenAuthentication, principal_of
from evidence.exact_json import ExactJSONParser, ExactJSONRenderer
from evidence.serializers import ToolAnswerSerializer, ToolCallSerializer, ToolListSerializer, refusals


class ToolView(APIView):
    """What the two addresses share: agents' tokens, and JSON that keeps every digit."""

    authentication_classes = [AgentTokenAuthentication]
    parser_classes = [ExactJSONParser]
    renderer_classes = [ExactJSONRenderer]


class Tools(ToolView):
    @extend_schema(operation_id="list_tools", responses={200: ToolListSerializer, **refusals()})
    def get(self, request: Request) -> Response:
        """The tools that your token is good for, as they are in force now."""
        return Response({"tools": [tool.stated() for tool in catalog.offered(principal_of(request))]})


class ToolCall(ToolView):
    @extend_schema(
        operation_id="call_tool",
        request=ToolCallSerializer,
        responses={200: ToolAnswerSerializer, **refusals(404, 409, 422, 429, 502)},
    )
    def post(self, request: Request, name: str) -> Response:
        """Call a tool. A call that ran and failed is answered 502 with the id of its entry."""
        asked = ToolCallSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        body: Any = request.data
        given: dict[str, Any] = body.get("arguments", {})  # as it came: the serializer would copy and coerce
        answer = catalog.call(principal_of(request), name, given, asked.validated_data["investigation"])
        return Response(answer)
