"""What the API's schema says about authentication."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class AgentToken(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """An agent's bearer token. Defining the class is what makes the schema's generator know it."""

    target_class = "evidence.authentication.AgentTokenAuthentication"
    name = "agentToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """The scheme as OpenAPI states it."""
        return {"type": "http", "scheme": "bearer", "description": "A token of an agent, like csa_…"}
