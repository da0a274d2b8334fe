"""What the metric tools take and give back, as JSON Schema. Pure.

`metric_id` and the investigation are the agent's to say besides; a question that a person puts has neither.
"""

from __future__ import annotations

from typing import Any

from evidence.metrics import saying, scoping
from evidence.metrics.status import Code, Status

EXPLAIN, TRACE_ENTITY, TRACE_EVENT, COMPARE = "explain", "trace_entity", "trace_event", "compare"
TEXT = {"type": "string"}
SAID = {"type": "string", "minLength": 1, "maxLength": scoping.LONGEST}
NAME = {"type": "string", "pattern": f"^{saying.NAME.pattern}$"}
# PostgreSQL's text holds every character but one.
ENTITY = {"type": ["string", "integer"], "pattern": "^[^\\u0000]*$", "description": "The id of one entity."}
METRIC_ID = {**NAME, "description": "A metric that list_available_metrics names."}
SCOPE = {
    "type": "object",
    "description": "Values for the keys of the metric's scope, as describe_metric says them. No other key is taken.",
    "additionalProperties": {"type": ["string", "integer"]},
    "minProperties": 1,
    "maxProperties": 20,
}


def _strict(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


# What is asked of one metric, by the kind of question.
ASKED: dict[str, dict[str, Any]] = {
    EXPLAIN: _strict(
        {
            "scope": SCOPE,
            "decomposition": {
                "type": ["string", "null"], "description": "One of the metric's decompositions; without it the first."
            },
        },
        "decomposition",
    ),
    TRACE_ENTITY: _strict(
        {"scope": SCOPE, "entity": ENTITY}
    ),
    TRACE_EVENT: _strict({"scope": SCOPE, "event": {**SAID, "description": "The code of what happened."}}),
    COMPARE: _strict(
        {
            "scope": SCOPE,
            "variable": {**NAME, "description": "One variable that the metric's version lists."},
            "value": {**SAID, "description": "What it is set to; everything else is held."},
        }
    ),
}  # fmt: skip

NUMBER_OR_NULL = {"type": ["number", "null"]}
EXACT = {**TEXT, "description": "The fraction that the number beside it is the beginning of."}
REASONS = {
    "type": "array",
    "items": _strict(
        {"code": {"enum": [str(code) for code in Code]}, "parameters": {"type": "object", "additionalProperties": TEXT}}
    ),
}
STATUS = {"enum": [str(status) for status in Status]}
PROVENANCE = _strict(
    {
        "run": {**TEXT, "description": "The call that read."},
        "decision_point": {**TEXT, "description": "Nothing that was recorded later is in the answer."},
        "metric_id": TEXT,
        "formula_version": {"type": "integer"},
        "formula_digest": TEXT,
        "valuation": {"type": ["string", "null"]},
        "valuation_digest": {"type": ["string", "null"]},
        "entries": {"type": "array", "items": TEXT, "description": "The audit entries of the reads."},
        "rows": {"type": "integer", "description": "How many were read."},
    }
)


def _numbers(*names: str) -> dict[str, Any]:
    """Numbers, and beside each the fraction that it is cut from, where it had to be cut."""
    return {key: value for name in names for key, value in ((name, NUMBER_OR_NULL), (f"{name}_exact", EXACT))}


def _cut(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}_exact" for name in names)


SPAN = {**_strict(_numbers("low", "high"), *_cut("low", "high")), "type": ["object", "null"]}
STANDING = {**_numbers("value"), "mechanism_status": STATUS, "reasons": REASONS}
COMPONENT = _strict({"name": TEXT, "part": TEXT, **_numbers("value")}, *_cut("value"))
MEDIAN = _strict(
    {
        "of": {"type": ["string", "null"], "description": "The stage; null of all of them together."},
        "entities": {"type": "integer"}, "still_open": {"type": "integer"}, **_numbers("median", "low", "high"),
    },
    *_cut("median", "low", "high"),
)  # fmt: skip
MEDIANS = {
    "type": "array", "items": MEDIAN,
    "description": "Of a metric of stages: each median, what is open counted as long as it has lasted, and its 95 %.",
}  # fmt: skip
EVENT = _strict(
    {
        "item": {"const": "event"}, **_numbers("at", "recorded_at"), "what": TEXT,
        "actor": {"type": ["string", "null"]}, "relation": TEXT, "id": TEXT,
    },
    *_cut("at", "recorded_at"),
)  # fmt: skip
GAP = _strict({"item": {"const": "gap"}, "since": {"type": "integer"}, "until": {"type": "integer"}})
CUT = _strict({"item": {"const": "cut"}, "rows": {"type": "integer"}, **_numbers("until")}, *_cut("until"))
FIDELITY = {**_strict(_numbers("off", "tolerance"), *_cut("off", "tolerance")), "type": ["object", "null"]}
TEXTS = {"type": "array", "items": TEXT}
TRACED = _strict(
    {
        "items": {"type": "array", "items": {"anyOf": [EVENT, GAP, CUT]}}, "mechanism_status": STATUS,
        "reasons": REASONS, "provenance": PROVENANCE,
    }
)  # fmt: skip
# What is answered, by the kind of question.
ANSWERED: dict[str, dict[str, Any]] = {
    EXPLAIN: _strict(
        {
            "metric_id": TEXT, **STANDING, "unit": TEXT, "decomposition_type": TEXT,
            "components": {"type": "array", "items": COMPONENT}, **_numbers("residual"), "medians": MEDIANS,
            "limitations": TEXTS, "provenance": PROVENANCE,
        },
        "medians", *_cut("value", "residual"),
    ),
    TRACE_ENTITY: TRACED,
    TRACE_EVENT: TRACED,
    COMPARE: _strict(
        {
            "variable": TEXT, "set_to": TEXT, **_numbers("factual"), **STANDING, **_numbers("delta"), "unit": TEXT,
            "bounds": SPAN, "interval": SPAN, "held_fixed": TEXTS, "not_modelled": TEXTS, "fidelity": FIDELITY,
            "provenance": PROVENANCE,
        },
        *_cut("factual", "value", "delta"),
    ),
}  # fmt: skip
