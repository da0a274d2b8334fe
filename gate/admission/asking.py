"""The questions as whoever answers them gets them: one schema each, and nothing of rules, thresholds or verdicts."""

from __future__ import annotations

from typing import Any

from gate.admission.program import Program, Question

PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}
ABSTAIN = {
    "type": "object",
    "properties": {"abstain": {"type": "boolean", "enum": [True]}, "why": {"type": "string"}},
    "required": ["abstain", "why"],
    "additionalProperties": False,
}


def asked(program: Program) -> list[dict[str, Any]]:
    """Each question that a model answers, in order. What a probe answers is no model's matter."""
    return [_asked(one) for one in program.questions if one.by == "model"]


def _asked(question: Question) -> dict[str, Any]:
    return {"id": question.id, "text": question.text, **_means(question), "answer": answer_schema(question)}


def _means(question: Question) -> dict[str, Any]:
    """What the possible answers mean."""
    if question.type == "enum":
        return {"options": dict(question.options)}
    return {"levels": list(question.levels)} if question.type == "level" else {}


def answer_schema(question: Question) -> dict[str, Any]:
    """JSON Schema of an answer: one of a closed set with how sure it is, or that there is none and why."""
    return {"anyOf": [_closed(_parts(question)), ABSTAIN]}


def _parts(question: Question) -> dict[str, Any]:
    if question.type == "yesno":
        return {"p": {**PROBABILITY, "description": "How likely it is so."}}
    if question.type == "enum":
        return {"value": {"type": "string", "enum": list(question.options)}, "confidence": PROBABILITY}
    return {"level": {"type": "number", "minimum": 0, "maximum": question.highest}, "confidence": PROBABILITY}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip
