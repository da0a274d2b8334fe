"""The metrics and the tables of prices there are: definitions, which a second person puts in force.

A metric names its table of prices with the version, so that a new price changes no number that was answered. The table
has to be there, put in force once; whether it still is does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from audit import twohands, versions
from audit.models import Definition
from evidence import sources
from evidence.kinds import moments
from evidence.metrics import checking, lint, saying, scoping, valuation
from evidence.metrics.asking import Golden
from evidence.metrics.definition import MetricVersion
from evidence.metrics.formula import Formula, parse
from evidence.metrics.statements import nodes
from evidence.metrics.valuation import Valuation

METRIC, VALUATION = "metric", "valuation"  # kinds of definitions
SOURCE_KIND = "postgresql"  # of the sources that formulas are written for: their grammar is PostgreSQL's

AN_INSTANT = "2026-05-01T00:06:40Z"


def of(definition: Definition) -> MetricVersion:
    """The version of a metric that a definition states, a draft or not. Raises ValueError."""
    return MetricVersion.of(definition.name, definition.version, definition.digest, definition.body)


def active(metric_id: str) -> MetricVersion | None:
    """The version in force, or None. Anybody may ask for any text at all."""
    found = versions.active(METRIC, metric_id) if twohands.NAME.fullmatch(metric_id) else None
    return of(found) if found else None


def all_active() -> list[MetricVersion]:
    """Every metric in force, by its id."""
    found = Definition.objects.filter(kind=METRIC, status=Definition.Status.ACTIVE).order_by("name")
    return [of(definition) for definition in found]


def valuation_of(version: MetricVersion) -> Valuation | None:
    """The table of prices that a version names; None when it names none.

    Raises ValueError when there is no such version of it, or nobody ever put that in force.
    """
    table = valuation.named(version.valuation)
    if table is None:
        return None
    found = Definition.objects.filter(kind=VALUATION, name=table[0], version=table[1]).first()
    if found is None or found.activated_at is None:
        raise ValueError(f"The valuation {version.valuation} was never put in force; a metric rests on one that was.")
    return Valuation.of(found.name, found.version, found.digest, found.body)


def check_metric(metric_id: str, body: Mapping[str, Any]) -> None:
    """Raise ValueError, with one sentence, for a body that is no metric of a source that is known here."""
    checking.check(metric_id, body)
    version = MetricVersion.of(metric_id, 1, "", body)
    for golden in version.golden:
        _check_golden(version, golden)
    valuation_of(version)
    _check_source(version)


def _check_golden(version: MetricVersion, golden: Golden) -> None:
    if moment(golden) > timezone.now():
        raise ValueError(f"A golden value is of a moment that is past; {golden.decision_point} is not over yet.")
    sentence = scoping.misfit(version, golden.scope)
    if sentence:
        raise ValueError(f"The golden value at {golden.decision_point} asks for no scope of this metric. {sentence}")


def moment(golden: Golden) -> datetime:
    """The decision point of a golden value. Raises ValueError when it is no moment with a zone."""
    said = saying.text(golden.decision_point, "The decision point of a golden value")
    try:
        return moments.parse(said)
    except ValueError as error:
        sentence = f"A golden value's decision point is a moment with its zone, as {AN_INSTANT}; {said} is none."
        raise ValueError(sentence) from error


def _check_source(version: MetricVersion) -> None:
    source = sources.known(version.source)
    if source is None:
        raise ValueError(f"There is no source {version.source}; draft it first.")
    if source.body["kind"] != SOURCE_KIND:
        raise ValueError(f"A formula is a statement for {SOURCE_KIND}; {source.name} is {source.body['kind']}.")
    for statement in _statements(version):
        for schema in sorted(schemas(statement) - {source.body["schema"]}):
            raise ValueError(
                f"A formula reads the views of {source.name}'s schema {source.body['schema']}; not {schema}."
            )


def _statements(version: MetricVersion) -> list[Formula]:
    texts = [version.formula, version.trace_hook, *(one.rows for one in version.supported_counterfactuals)]
    return [parse(text) for text in texts if text is not None]


def schemas(statement: Formula) -> set[str]:
    """The schemas that a statement names; one that names none reads that of its source."""
    return {node.schemaname for node in nodes(statement.tree) if type(node).__name__ == "RangeVar"} - {""}


def check_valuation(name: str, body: Mapping[str, Any]) -> None:
    """Raise ValueError, with one sentence, for a body that is no table of prices, or says more than prices."""
    lint.check_valuation(name, body)
    valuation.check(name, body)


def counting() -> list[Definition]:
    """The versions of metrics that count, or may: those in force, and the drafts."""
    found = Definition.objects.filter(kind=METRIC, status__in=[Definition.Status.ACTIVE, Definition.Status.DRAFT])
    return list(found.order_by("name", "version"))
