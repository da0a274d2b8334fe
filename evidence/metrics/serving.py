"""What is asked of a metric, answered: guarded reads of its source as of the decision point, and the pure core.

Nothing that an asker says reaches a formula but as its parameter, or chooses among what the version lists. Rows that a
limit cut, or that a standby may not have yet, make no smaller number: the answer is that it is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from audit.models import Definition
from evidence import arguments as fitting
from evidence import credentials, reader, replicas
from evidence.bounds import Limits
from evidence.errors import Problem
from evidence.kinds import moments
from evidence.metrics import (
    answers,
    columns,
    counterfactual,
    explaining,
    formula,
    instants,
    registry,
    schemas,
    scoping,
    trace,
)
from evidence.metrics.answers import Provenance
from evidence.metrics.definition import MetricVersion
from evidence.metrics.explaining import Explanation, Reading
from evidence.metrics.formula import Formula
from evidence.metrics.rows import Row
from evidence.metrics.valuation import Valuation

# The kinds of question, and the tool that puts each.
TOOLS = {
    schemas.EXPLAIN: "explain_metric",
    schemas.TRACE_ENTITY: "trace_entity",
    schemas.TRACE_EVENT: "trace_event",
    schemas.COMPARE: "compare_bounded_counterfactual",
}
# Of the rows that a number is made of, which nobody is shown.
LIMITS = Limits(rows=10_000, bytes=4_000_000)
ORDERED = f"select t.* from ({{}}) as t where {{}} order by {', '.join(f't.{column}' for column in trace.ORDER)}"


@dataclass(frozen=True)
class Answered:
    """An answer as it is given out, and whether a limit cut the rows that it is made of."""

    result: dict[str, Any]
    truncated: bool = False
    incomplete: tuple[str, ...] = ()


def check(kind: str, version: MetricVersion, arguments: Mapping[str, Any]) -> None:
    """Raise Problem, before anything is read, for a question that this version does not take."""
    sentence = misfit(kind, version, arguments)
    if sentence:
        raise Problem(422, "wrong_arguments", sentence)


def misfit(kind: str, version: MetricVersion, arguments: Mapping[str, Any]) -> str:
    """Why the arguments are no question to this version, as one sentence; empty when they are."""
    sentence = fitting.misfit(_CHECKERS[kind], dict(arguments)) or scoping.misfit(version, arguments["scope"])
    return sentence or _MISFITS[kind](version, arguments)


def answer(
    kind: str,
    version: MetricVersion,
    arguments: Mapping[str, Any],
    decision_point: datetime,
    *,
    source: Definition,
    certificate: str,
    run: str,
    entries: tuple[str, ...] = (),
) -> Answered:
    """The answer as of the decision point. `source` is proven under `certificate`; `run` and `entries` are the call's.

    Raises Problem for a question that the version does not take, and Refused for a read that was not done: nothing is
    tried again.
    """
    check(kind, version, arguments)
    if source.body["kind"] != registry.SOURCE_KIND:
        raise Problem(503, "source_changed", f"{source.name} is a source of the kind {source.body['kind']} now.")
    asked = _Asked(version, arguments, decision_point, source, certificate, run, entries)
    return _ANSWERS[kind](asked)


@dataclass(frozen=True)
class _Asked:
    """A question, and all that its answer is made under."""

    version: MetricVersion
    arguments: Mapping[str, Any]
    at: datetime
    source: Definition
    certificate: str
    run: str
    entries: tuple[str, ...]

    def reading(self, text: str) -> Reading:
        """One guarded read of a statement of the version. Raises Refused, and Problem for a missing credential."""
        statement = formula.parse(text)
        return self._read(statement.sql, self._given(statement))

    def traced(self, text: str, entity: str | None = None) -> Reading:
        """The same of a trace, of one entity or of all: in its order before a limit cuts it, so that its end is cut."""
        statement = formula.parse(text)
        given = self._given(statement)
        if entity is None:
            return self._read(ORDERED.format(statement.sql, "true"), given)
        of_entity = f"to_jsonb(t.{columns.ENTITY}) #>> '{{}}' = ${len(given) + 1}"
        return self._read(ORDERED.format(statement.sql, of_entity), [*given, entity])

    def _given(self, statement: Formula) -> list[Any]:
        return [self.at, dict(self.arguments["scope"])] if statement.scope else [self.at]

    def _read(self, sql: str, given: list[Any]) -> Reading:
        # Asked before the rows are read: what is replayed by then is in them.
        is_stale = replicas.is_behind(self.source, self.certificate, self.at)
        dsn, schema = credentials.secret(self.source, "reader_env"), self.source.body["schema"]
        instants.check(dsn, self.certificate, schema, self.version.relations)
        found = reader.read(dsn, sql, given, limits=LIMITS, schema=schema)
        return Reading(found.rows, is_truncated=found.truncated, is_stale=is_stale)

    def provenance(self, valuation: Valuation | None, *readings: Reading) -> Provenance:
        """Where an answer of these reads is from."""
        return Provenance(
            run=self.run,
            decision_point=moments.spelled(self.at),
            metric_id=self.version.metric_id,
            formula_version=self.version.version,
            formula_digest=self.version.digest,
            valuation=self.version.valuation,
            valuation_digest=valuation.digest if valuation else None,
            entries=self.entries,
            rows=sum(len(reading.rows) for reading in readings),
        )


def _explain(asked: _Asked) -> Answered:
    valuation, reading = _priced(asked.version), asked.reading(asked.version.formula)
    found = _explanation(asked.version, reading, valuation, asked.arguments.get("decomposition"))
    return Answered(answers.explained(found, asked.provenance(valuation, reading)), reading.is_truncated)


def _explanation(
    version: MetricVersion, reading: Reading, valuation: Valuation | None, decomposition: str | None = None
) -> Explanation:
    """The explanation, in which nothing is left of the order of the rows: a server chooses that as it likes.

    A sum has none. Where no value could be made, what stood in the way first is said, and of what stands against a
    value, all.
    """
    found = explaining.explain(version, reading, valuation, decomposition)
    if found.standing.value is None:
        return explaining.explain(version, _ordered(reading), valuation, decomposition)
    reasons = sorted(found.standing.reasons, key=lambda reason: (reason.code, reason.parameters))
    return replace(found, standing=replace(found.standing, reasons=tuple(reasons)))


def _ordered(reading: Reading) -> Reading:
    """The rows in an order of their own: two reads of the same rows then answer the same to the byte."""
    return replace(reading, rows=sorted(reading.rows, key=_as_text))


def _as_text(row: Row) -> str:
    return repr(list(row.values()))


def _priced(version: MetricVersion) -> Valuation | None:
    """The version's prices. Where the table is gone there are none, and the answer says that it has no price."""
    try:
        return registry.valuation_of(version)
    except ValueError:
        return None


def _trace_entity(asked: _Asked) -> Answered:
    entity = str(asked.arguments["entity"])
    return _traced(asked, _called(asked.traced(_hook(asked), entity), columns.ENTITY, entity))


def _trace_event(asked: _Asked) -> Answered:
    # Where something else happened nothing is missing.
    among = _ordered(asked.traced(_hook(asked)))
    return _traced(asked, _called(among, trace.WHAT, asked.arguments["event"]), among)


def _hook(asked: _Asked) -> str:
    assert asked.version.trace_hook is not None  # `check` refuses a trace of a version that has none
    return asked.version.trace_hook


def _called(reading: Reading, column: str, wanted: str) -> Reading:
    """The rows that have this text, or this whole number, in a column."""
    kept = [row for row in reading.rows if type(row.get(column)) in (str, int) and str(row[column]) == wanted]
    return _ordered(replace(reading, rows=kept))


def _traced(asked: _Asked, kept: Reading, among: Reading | None = None) -> Answered:
    found = trace.trace(kept, among)
    return Answered(answers.traced(found, asked.provenance(None, among or kept)), kept.is_truncated)


def _compare(asked: _Asked) -> Answered:
    version, name, value = asked.version, asked.arguments["variable"], asked.arguments["value"]
    valuation, reading = _priced(version), asked.reading(version.formula)
    explained = _explanation(version, reading, valuation)
    variable = version.variable(name)
    # What is not listed is not read either: the core says which condition failed.
    world = asked.reading(variable.rows) if variable and value in variable.values else Reading()
    found = counterfactual.compare(explained, name, value, _ordered(world), valuation)
    result = answers.compared(found, version.unit.name, asked.provenance(valuation, reading, world))
    return Answered(result, reading.is_truncated or world.is_truncated)


def _misfit_of_explain(version: MetricVersion, arguments: Mapping[str, Any]) -> str:
    try:
        version.decomposer(arguments.get("decomposition"))
    except ValueError as error:
        return str(error)
    return ""


def _misfit_of_entity(version: MetricVersion, arguments: Mapping[str, Any]) -> str:
    return "" if is_traced_by_entity(version) else f"{version.metric_id} has no trace of one entity."


def _misfit_of_event(version: MetricVersion, arguments: Mapping[str, Any]) -> str:
    return "" if version.trace_hook else f"{version.metric_id} has no trace."


def is_traced_by_entity(version: MetricVersion) -> bool:
    """Whether the version's trace says of what each of its rows is."""
    return version.trace_hook is not None and columns.ENTITY in formula.parse(version.trace_hook).columns


def _fits(version: MetricVersion, arguments: Mapping[str, Any]) -> str:
    """What is not listed is no misfit: it is answered, with the condition that failed."""
    return ""


_CHECKERS = {kind: fitting.checker(schema) for kind, schema in schemas.ASKED.items()}
_MISFITS: dict[str, Callable[[MetricVersion, Mapping[str, Any]], str]] = {
    schemas.EXPLAIN: _misfit_of_explain,
    schemas.TRACE_ENTITY: _misfit_of_entity,
    schemas.TRACE_EVENT: _misfit_of_event,
    schemas.COMPARE: _fits,
}
_ANSWERS: dict[str, Callable[[_Asked], Answered]] = {
    schemas.EXPLAIN: _explain,
    schemas.TRACE_ENTITY: _trace_entity,
    schemas.TRACE_EVENT: _trace_event,
    schemas.COMPARE: _compare,
}
