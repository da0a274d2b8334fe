"""A version of a metric: where its number comes from, of what it is made, what may be asked of it. Never changed.

The body is data and so is the formula in it: another metric needs no other program. What it may not be is a policy;
that is the lint's (`evidence.metrics.lint`), and what its statement may do is `evidence.metrics.formula`'s. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from evidence.metrics import saying
from evidence.metrics.asking import Decomposer, Golden, Variable, decomposers, goldens, variables
from evidence.metrics.columns import NEEDED
from evidence.metrics.units import UNITS, Unit, unit

KEYS = {
    "title", "source", "unit", "grain", "scope", "source_fields", "parameters", "valuation", "measure", "formula",
    "null_policy", "decomposers", "trace_hook", "supported_counterfactuals", "visibility_scope", "limitations",
    "golden", "owner", "review_by",
}  # fmt: skip
# What a field of a source is: a key that tells things apart, a text of a closed set, a moment, a yes or no, or a unit.
FIELD_KINDS = frozenset({"key", "text", "instant", "flag"}) | frozenset(UNITS)
SCOPE_KINDS = ("key", "text", "instant")
# What may be answered where something is missing. A value that rests on nothing is never one.
NULL_POLICY = {
    "no_rows": ("unresolved",),
    "still_open": ("partial", "unresolved"),
    "zero_denominator": ("unresolved",),
}
DIMENSIONS = {"interval": "time", "stages": "time", "ratio": "share", "ratio_change": "share"}
VISIBILITY_SCOPE = "current_decision"
PEOPLE = "people"  # of what tells how incidents ended: no agent is told of it, and none is answered
VISIBILITY_SCOPES = (VISIBILITY_SCOPE, PEOPLE)
RECORDED_AT = "recorded_at"


@dataclass(frozen=True)
class MetricVersion:
    """A metric as one version of its definition states it; `digest` goes into every answer."""

    metric_id: str
    version: int
    digest: str
    title: str
    source: str
    unit: Unit
    grain: str
    scope: Mapping[str, str]
    source_fields: Mapping[str, str]  # "relation.column", and what it is
    parameters: Mapping[str, str]  # configuration that the formula reads: a name, and the source field that keeps it
    valuation: str | None  # "prices@3"
    measure: str
    formula: str
    null_policy: Mapping[str, str]
    decomposers: tuple[Decomposer, ...]  # the first is given when none is asked for
    trace_hook: str | None  # a statement of its own, checked as the formula is
    supported_counterfactuals: tuple[Variable, ...]
    visibility_scope: str
    limitations: tuple[str, ...]
    golden: tuple[Golden, ...]
    owner: str
    review_by: str

    @classmethod
    def of(cls, metric_id: str, version: int, digest: str, body: Mapping[str, Any]) -> MetricVersion:
        """The version that a body states. Raises ValueError, with one sentence, for what does not fit."""
        said = saying.keys(body, KEYS, "A metric")
        fields = _kinds(said["source_fields"], FIELD_KINDS, "source_fields")
        measure = saying.choice(said["measure"], NEEDED, "measure")
        found = cls(
            metric_id=saying.name(metric_id, "The name of a metric"),
            version=_version(version),
            digest=digest,
            title=saying.text(said["title"], "title"),
            source=saying.text(said["source"], "source"),
            unit=unit(said["unit"]),
            grain=saying.name(said["grain"], "grain"),
            scope=_kinds(said["scope"], SCOPE_KINDS, "scope"),
            source_fields=fields,
            parameters=_parameters(said["parameters"], fields),
            valuation=_label(said["valuation"]),
            measure=measure,
            formula=saying.statement(said["formula"], "formula"),
            null_policy=_null_policy(said["null_policy"]),
            decomposers=decomposers(said["decomposers"], measure),
            trace_hook=None if said["trace_hook"] is None else saying.statement(said["trace_hook"], "trace_hook"),
            supported_counterfactuals=variables(said["supported_counterfactuals"]),
            visibility_scope=saying.choice(said["visibility_scope"], VISIBILITY_SCOPES, "visibility_scope"),
            limitations=saying.texts(said["limitations"], "limitations"),
            golden=goldens(said["golden"]),
            owner=saying.text(said["owner"], "owner"),
            review_by=saying.day(said["review_by"], "review_by"),
        )
        _check_unit(found)
        _check_fields(found)
        return found

    @property
    def relations(self) -> frozenset[str]:
        """The relations of the source that are read."""
        return frozenset(field.partition(".")[0] for field in self.source_fields)

    def decomposer(self, name: str | None) -> Decomposer:
        """The decomposer of this name; the first one for None. Raises ValueError for one that the version has not."""
        for one in self.decomposers:
            if name in (None, one.name):
                return one
        raise ValueError(f"{self.metric_id} has the decompositions {', '.join(one.name for one in self.decomposers)}.")

    @property
    def is_for_agents(self) -> bool:
        """Whether an agent may be told of it and answered."""
        return self.visibility_scope != PEOPLE

    def variable(self, name: str) -> Variable | None:
        """What may be changed under this name, or None."""
        return next((one for one in self.supported_counterfactuals if one.name == name), None)


def check(metric_id: str, body: Mapping[str, Any]) -> None:
    """Raise ValueError, with one sentence, for a body that is no metric."""
    MetricVersion.of(metric_id, 1, "", body)


def _version(version: int) -> int:
    if type(version) is not int or version < 1:
        raise ValueError("A version is a whole number from 1.")
    return version


def _kinds(said: object, kinds: frozenset[str] | tuple[str, ...], what: str) -> Mapping[str, str]:
    if not isinstance(said, Mapping) or not said:
        raise ValueError(f"{what} is an object: a name, and what it is.")
    found = {key: saying.choice(kind, kinds, f"{what}: {str(key)[:60]}") for key, kind in said.items()}
    for key in found:
        for part in key.split(".", 1) if what == "source_fields" else (key,):
            saying.name(part, f"{what}: {key[:60]}")
    return MappingProxyType(found)


def _label(said: object) -> str | None:
    if said is not None and not (isinstance(said, str) and saying.LABEL.fullmatch(said)):
        raise ValueError("valuation is a table and its version, as prices@3, or null.")
    return said


def _parameters(said: object, fields: Mapping[str, str]) -> Mapping[str, str]:
    """Configuration is read from its recorded history, as everything else is: nobody types it in a call."""
    if not isinstance(said, Mapping):
        raise ValueError("parameters is an object: a name, and the source field that keeps it.")
    for key, field in said.items():
        saying.name(key, "The name of a parameter")
        if not isinstance(field, str) or field not in fields:
            raise ValueError(f"The parameter {key} is read from one of source_fields, and from nowhere else.")
    return MappingProxyType(dict(said))


def _null_policy(said: object) -> Mapping[str, str]:
    policy = saying.keys(said, NULL_POLICY, "null_policy")
    return MappingProxyType(
        {key: saying.choice(policy[key], NULL_POLICY[key], f"null_policy: {key}") for key in NULL_POLICY}
    )


def _check_unit(version: MetricVersion) -> None:
    """Time is measured in time and a ratio in a share; what a sum is of, its rows and prices say."""
    wanted = DIMENSIONS.get(version.measure, version.unit.dimension)
    if version.unit.dimension != wanted:
        raise ValueError(
            f"A metric whose measure is {version.measure} has a unit of {wanted}; {version.unit.name} is none."
        )


def _check_fields(version: MetricVersion) -> None:
    """Each relation says when its rows became known, or nothing could be answered as of a moment."""
    for field in version.source_fields:
        if "." not in field:
            raise ValueError(f"The source field {field} says its relation: relation.column.")
    for relation in sorted(version.relations):
        if version.source_fields.get(f"{relation}.{RECORDED_AT}") != "instant":
            raise ValueError(f"source_fields has {relation}.{RECORDED_AT}, an instant: when each row became known.")
