"""What the API's schema says about monitors' tokens; agents' tokens are described in evidence.openapi."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class IntakeToken(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A monitor's bearer token. Defining the class is what makes the schema's generator know it."""

    target_class = "gate.triage.api.IntakeAuthentication"
    name = "intakeToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """The scheme as OpenAPI states it."""
        return {"type": "http", "scheme": "bearer", "description": "A token of a monitor, like csi_…"}
