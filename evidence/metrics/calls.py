"""Calls about metrics, as the gateway takes them: a tool and the metric that it is asked about are one contract.

The tools are the product's own and always the same. What there is to ask about is a definition: a metric that does not
exist, is not in force, or is not of the incident's class is answered alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from audit import versions
from audit.agents import Principal
from audit.at_once import Asked
from audit.models import Definition
from evidence import arguments
from evidence.contracts import INVESTIGATION, Contract
from evidence.errors import Problem
from evidence.kinds.kind import Found
from evidence.metrics import registry, saying, schemas, serving
from evidence.metrics.definition import VISIBILITY_SCOPE, MetricVersion
from evidence.scope import Scope

METRIC_ID = "metric_id"
WHAT_IF = "what_if"  # what a token carries besides `tools` to ask what a value would have been: audit.agents.SCOPES
METRIC, MECHANISM = "metric", "mechanism"
ACCOUNTING = "Accounting does not establish causality."


@dataclass(frozen=True)
class Tool:
    """One of the product's own tools that read a metric's source."""

    kind: str
    purpose: str
    query_type: str
    limitations: tuple[str, ...]

    @property
    def input_schema(self) -> dict[str, Any]:
        """What the agent says: which metric, and the question."""
        asked = schemas.ASKED[self.kind]
        properties = {METRIC_ID: schemas.METRIC_ID, **asked["properties"]}
        return {**asked, "properties": properties, "required": [METRIC_ID, *asked["required"]]}

    @property
    def output_schema(self) -> dict[str, Any]:
        """What it is answered."""
        return schemas.ANSWERED[self.kind]


SAME_TIME = "What stands side by side happened at the same time; nothing says that one came of the other."
TOOLS: Mapping[str, Tool] = {
    serving.TOOLS[tool.kind]: tool
    for tool in (
        Tool(
            schemas.EXPLAIN, "A metric's value as of the decision point, of what it is made, and how far it is known.",
            METRIC, (ACCOUNTING, "A value that is not known is null, with the reasons as codes."),
        ),
        Tool(
            schemas.TRACE_ENTITY, "What was recorded of one entity of a metric, in order, with its gaps.", MECHANISM,
            (SAME_TIME,),
        ),
        Tool(
            schemas.TRACE_EVENT, "Where in a metric's scope one kind of event was recorded, in order.", MECHANISM,
            (SAME_TIME,),
        ),
        Tool(
            schemas.COMPARE, "What a metric's value would be with one listed variable set otherwise and the rest held.",
            MECHANISM, ("It holds inside the bounds and under what is held fixed, and says what is not modeled.",),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class MetricCall(Contract):
    """A tool's contract about one metric: version and digest are the metric's, and its source is what is read."""

    tool: Tool = field(kw_only=True)
    metric: MetricVersion = field(kw_only=True)

    @classmethod
    def about(cls, name: str, metric: MetricVersion) -> MetricCall:
        """The contract of the tool of this name about a metric."""
        tool = TOOLS[name]
        return cls(
            name=name, version=metric.version, digest=metric.digest, purpose=tool.purpose, source=metric.source,
            query_type=tool.query_type, input_schema=tool.input_schema, output_schema=tool.output_schema,
            visibility_scope=VISIBILITY_SCOPE, limitations=list(tool.limitations), tool=tool, metric=metric,
        )  # fmt: skip

    def is_offered(self, within: Scope) -> bool:
        """Whether the incident's class lets the metric be asked about."""
        return within.allows_metric(self.metric.metric_id)

    def misfit(self, given: dict[str, Any]) -> str:
        """Why the arguments are no question to this metric, as one sentence; empty when they are."""
        return serving.misfit(self.tool.kind, self.metric, _question(given))

    def misfit_of_result(self, result: dict[str, Any]) -> str:
        """Why a result is not what the tool promises, as one sentence; empty when it is."""
        return arguments.misfit(_OUTPUTS[self.name], result)

    def read(
        self, source: Definition, certificate: str, given: dict[str, Any], at: datetime, run: str, entry: str
    ) -> Found:
        """The answer as of `at`. Raises Refused and Problem, as a source's kind does."""
        kind, question = self.tool.kind, _question(given)
        found = serving.answer(
            kind, self.metric, question, at, source=source, certificate=certificate, run=run, entries=(entry,)
        )
        return Found(found.result, found.truncated, found.incomplete)


def _question(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key != METRIC_ID}


def asked(principal: Principal, name: str, given: Mapping[str, Any]) -> Asked[Contract | None]:
    """The contract of a metric tool about the metric that the arguments name, where it is in force, as a statement."""
    found = versions.asked(registry.METRIC, named(given) if is_for(principal, name) else "")
    return Asked(found.statement, found.values, lambda rows: _about(name, found.told(rows)))


def _about(name: str, definition: Definition | None) -> MetricCall | None:
    metric = None if definition is None else registry.of(definition)
    return None if metric is None or not metric.is_for_agents else MetricCall.about(name, metric)


def named(given: Mapping[str, Any]) -> str:
    """The metric that arguments name, as far as they name one: they are not checked yet."""
    said = given.get(METRIC_ID)
    return said if isinstance(said, str) and saying.NAME.fullmatch(said) else ""


def is_for(principal: Principal, name: str) -> bool:
    """Whether this is a metric tool that a token is good for."""
    wanted = {"tools", WHAT_IF} if name == serving.TOOLS[schemas.COMPARE] else {"tools"}
    return name in TOOLS and wanted <= principal.scopes


def unknown(name: str, given: Mapping[str, Any]) -> Problem:
    """The one answer for a metric that does not exist, is not in force, or is not for this agent: they look the same.

    Whoever names none at all is told how to ask.
    """
    sentence = "" if isinstance(given.get(METRIC_ID), str) else arguments.misfit(_INPUTS[name], dict(given))
    return Problem(422, "wrong_arguments", sentence) if sentence else no_such_metric()


def no_such_metric() -> Problem:
    """There is none for this agent, whatever there is for others."""
    return Problem(
        404, "no_such_metric", "There is no such metric for you here; list_available_metrics names the ones there are."
    )


def available(principal: Principal, within: Sequence[Scope]) -> list[MetricVersion]:
    """The metrics that an agent may ask about: those of its incidents' classes, or without one, all in force."""
    known = registry.all_active() if "tools" in principal.scopes else []
    found = [one for one in known if one.is_for_agents]
    return [one for one in found if not within or any(each.allows_metric(one.metric_id) for each in within)]


def offered(principal: Principal, metrics: Sequence[MetricVersion]) -> dict[str, Tool]:
    """The tools that have something to answer about these metrics, by name."""
    has = {
        schemas.EXPLAIN: bool(metrics),
        schemas.TRACE_ENTITY: any(serving.is_traced_by_entity(one) for one in metrics),
        schemas.TRACE_EVENT: any(one.trace_hook for one in metrics),
        schemas.COMPARE: any(one.supported_counterfactuals for one in metrics),
    }
    return {name: tool for name, tool in TOOLS.items() if has[tool.kind] and is_for(principal, name)}


def advertised(tool: Tool) -> dict[str, Any]:
    """The input schema as agents see it, with which investigation the call is for."""
    which = {"type": "integer", "minimum": 1, "description": "Needed only when you run several investigations."}
    return {**tool.input_schema, "properties": {**tool.input_schema["properties"], INVESTIGATION: which}}


_INPUTS = {name: arguments.checker(tool.input_schema) for name, tool in TOOLS.items()}
_OUTPUTS = {name: arguments.checker(tool.output_schema) for name, tool in TOOLS.items()}
