"""Sources, contracts and recorded calls for the tests of the HTTP kinds, none of which needs a database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import simplejson

from audit.models import Definition
from evidence.contracts import Contract
from gate.triage.cases import RecordedCall

CALLED_AT = datetime(2026, 9, 14, 9, 0, tzinfo=UTC)


def source(body: Mapping[str, Any], name: str = "mine") -> Definition:
    return Definition(kind="source", name=name, version=1, body=dict(body))


def schema(*names: str, required: tuple[str, ...] | None = None) -> dict[str, Any]:
    """An input schema that takes anything under these names."""
    needed = list(names if required is None else required)
    return {"type": "object", "properties": {name: {} for name in names}, "required": needed}


def contract(request: dict[str, Any] | None, name: str = "es_search", **changes: Any) -> Contract:
    common: dict[str, Any] = {
        "name": name, "version": 1, "digest": "", "purpose": "", "source": "mine", "query_type": "state",
        "input_schema": {"type": "object"}, "output_schema": {"type": "object"}, "visibility_scope": "live",
        "limitations": [], "request": request,
    }  # fmt: skip
    return Contract(**{**common, **changes})


def recorded(tool: str, args: dict[str, Any], result: dict[str, Any], truncated: bool = False) -> RecordedCall:
    """The call as a rule's reader gets it: what was stored as JSON, and read again."""
    stored = simplejson.loads(simplejson.dumps({"args": args, "result": result}, use_decimal=True), use_decimal=True)
    return RecordedCall(
        audit_id="A-1", incident_id=1, run_id="1", tool=tool, tool_version=1, tool_hash="", source="mine", status="ok",
        called_at=CALLED_AT, finished_at=CALLED_AT, args=stored["args"], result=stored["result"], truncated=truncated,
        is_intact=True, digest="",
    )  # fmt: skip
