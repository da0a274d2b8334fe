"""Discovery of metrics: which there are for an agent, and what one of them says about itself.

As with tools, a question is an entry and no evidence, and what is not for the agent is not there. A version's golden
values are not told: they are answers as of other moments.
"""

from __future__ import annotations

from typing import Any

from audit import log
from audit.agents import Principal
from evidence import discovery
from evidence.contracts import INVESTIGATION
from evidence.discovery import Told
from evidence.metrics import calls, schemas, serving
from evidence.metrics.asking import Decomposer, Variable
from evidence.metrics.definition import MetricVersion
from evidence.scope import Scope

LIST, DESCRIBE = "list_available_metrics", "describe_metric"
DESCRIBE_SCHEMA = {
    "type": "object",
    "properties": {calls.METRIC_ID: schemas.METRIC_ID, INVESTIGATION: discovery.WHICH},
    "required": [calls.METRIC_ID],
    "additionalProperties": False,
}


def register() -> None:
    """Offer both tools over MCP and REST."""
    discovery.offer(LIST, "The metrics that you may ask about now, each with its unit.", discovery.LIST_SCHEMA, _list)
    purpose = "Where one metric's number comes from, what it is taken apart into, and what may be asked about it."
    discovery.offer(DESCRIBE, purpose, DESCRIBE_SCHEMA, _describe)


def _list(principal: Principal, given: dict[str, Any], within: list[Scope]) -> Told:
    return Told({"metrics": [summary(principal, one) for one in calls.available(principal, within)]})


def _describe(principal: Principal, given: dict[str, Any], within: list[Scope]) -> Told:
    asked = given[calls.METRIC_ID]
    found = next((one for one in calls.available(principal, within) if one.metric_id == asked), None)
    if found is None:
        raise calls.no_such_metric()
    about: log.About = {
        "subject": f"metric {found.metric_id}", "tool_version": found.version, "tool_hash": found.digest,
    }  # fmt: skip
    return Told({"metric": described(principal, found)}, about)


def summary(principal: Principal, version: MetricVersion) -> dict[str, Any]:
    """A metric in a list: its name, and which tools have something to answer about it."""
    return {
        "metric_id": version.metric_id,
        "version": version.version,
        "digest": version.digest,
        "title": version.title,
        "unit": version.unit.name,
        "scope": dict(version.scope),
        "tools": [*calls.offered(principal, [version])],
    }


def described(principal: Principal, version: MetricVersion) -> dict[str, Any]:
    """All that a version says, but for its golden values and for what the agent's token may not ask."""
    may_compare = serving.TOOLS[schemas.COMPARE] in calls.offered(principal, [version])
    variables = version.supported_counterfactuals if may_compare else ()
    return {
        **summary(principal, version),
        "grain": version.grain,
        "source": version.source,
        "source_fields": dict(version.source_fields),
        "parameters": dict(version.parameters),
        "valuation": version.valuation,
        "measure": version.measure,
        "formula": version.formula,
        "null_policy": dict(version.null_policy),
        "decompositions": [_decomposer(one) for one in version.decomposers],
        "trace": version.trace_hook,
        "supported_counterfactuals": [_variable(one) for one in variables],
        "visibility_scope": version.visibility_scope,
        "limitations": list(version.limitations),
        "owner": version.owner,
        "review_by": version.review_by,
        "read_only": True,
        "returns_action_recommendations": False,
    }


def _decomposer(one: Decomposer) -> dict[str, Any]:
    return {"name": one.name, "type": one.type, "key": one.key, "kinds": list(one.kinds)}


def _variable(one: Variable) -> dict[str, Any]:
    return {
        "variable": one.name,
        "values": sorted(one.values),
        "model": one.model,
        "tolerance": None if one.tolerance is None else str(one.tolerance),
        "held_fixed": list(one.held_fixed),
        "not_modelled": list(one.not_modelled),
    }
