"""What the API's schema says about monitors' tokens and reports; the rest is in evidence.openapi."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from evidence.openapi import ClosedSerializer

# What comes next: operation and status → the next operation, and what of the answer goes into it.
NEXT: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {
    ("report_incident", "201"): ("start_investigation", {"requestBody": {"incident": "$response.body#/incident"}}),
    ("start_investigation", "201"): (
        "submit_findings",
        {"parameters": {"path.investigation": "$response.body#/investigation"}},
    ),
    ("propose_write", "201"): ("write_status", {"parameters": {"path.id": "$response.body#/id"}}),
}


def say_what_is_next(result: dict[str, Any], **generated: Any) -> dict[str, Any]:
    """A hook of the generator: the links from an answer to the call that follows it."""
    operations = {each["operationId"]: each for methods in result["paths"].values() for each in methods.values()}
    for (operation, status), (following, given) in NEXT.items():
        # The people's plane has none of them, and the deployment check draws its schema too.
        if operation in operations:
            links = {following: {"operationId": following, **given}}
            operations[operation]["responses"][status]["links"] = links
    return result


def require_bodies(result: dict[str, Any], **generated: Any) -> dict[str, Any]:
    """A hook of the generator: a body of which something is required is required itself."""
    for methods in result["paths"].values():
        for operation in methods.values():
            body = operation.get("requestBody", {"content": {}})
            if any("required" in kind["schema"] for kind in body["content"].values()):
                body["required"] = True
    return result


class ClosedReport(ClosedSerializer):  # type: ignore[no-untyped-call]
    """A monitor's report refuses unknown keys."""

    target_class = "gate.triage.serializers.ReportSerializer"


class IntakeToken(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """A monitor's bearer token. Defining the class is what makes the schema's generator know it."""

    target_class = "gate.triage.api.IntakeAuthentication"
    name = "intakeToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """The scheme as OpenAPI states it."""
        return {"type": "http", "scheme": "bearer", "description": "A token of a monitor, like csi_…"}
