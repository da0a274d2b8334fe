"""What the API's schema says about authentication, and about bodies that take nothing but what they name."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension


class ClosedSerializer(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """A body that refuses unknown keys says so. Each one is a subclass that names its serializer."""

    def map_serializer(self, auto_schema: Any, direction: Any) -> Any:
        """The schema of the fields, closed."""
        stated = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return {**stated, "additionalProperties": False}


class ClosedToolCall(ClosedSerializer):  # type: ignore[no-untyped-call]
    target_class = "evidence.serializers.ToolCallSerializer"


class AgentToken(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """An agent's bearer token. Defining the class is what makes the schema's generator know it."""

    target_class = "evidence.authentication.AgentTokenAuthentication"
    name = "agentToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """The scheme as OpenAPI states it."""
        return {"type": "http", "scheme": "bearer", "description": "A token of an agent, like csa_…"}
