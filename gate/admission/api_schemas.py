"""What admission's addresses take and give back, as JSON Schema."""

from __future__ import annotations

from typing import Any

from audit import twohands
from gate.admission import hooks
from gate.admission.program import VERDICTS

LONGEST_NAME = 200
LONGEST_SUBJECT = 200

ASKED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "policy": {
            "type": "string",
            "pattern": f"^{twohands.NAME.pattern}$",
            "description": "The name of a policy, like shell-commands.",
        },
        "answers": {
            "type": "object",
            "description": "By question: {p}, {value, confidence}, {level, confidence}; a probe's {value, by: probe}. "
            "A question for a model that is left out is put to the answering model, where there is one.",
        },
        "action": {"type": "object", "description": "What is about to be done, for the record."},
        "judged_action": {"type": "string", "description": "The digest of what the answers are about."},
        "executed_action": {"type": "string", "description": "The digest of what is about to run."},
        "is_production": {
            "type": "boolean",
            "default": True,
            "description": "False: nothing of production is touched. Else an allow becomes ask: a person decides.",
        },
        "subject": {"type": "string", "maxLength": LONGEST_SUBJECT, "description": "What it is about, in a word."},
        "model": {
            "type": "object",
            "description": "The model that the agent says answered what no probe does.",
            "properties": {"id": {"type": "string", "maxLength": LONGEST_NAME}, "latency_ms": {"type": "number"}},
            "required": ["id"],
            "additionalProperties": False,
        },
    },
    "required": ["policy", "answers"],
    "additionalProperties": False,
}  # fmt: skip
NULLABLE = ["string", "null"]
DECIDED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": list(VERDICTS)},
        "rule": {"type": NULLABLE, "description": "Null when no rule was read."},
        "escalations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"q": {"type": NULLABLE}, "why": {"type": "string"}},
                "required": ["q", "why"],
            },
        },
        "policy": {"type": "string"},
        "version": {"type": ["integer", "null"]},
        "digest": {"type": NULLABLE, "description": "SHA-256 over the canonical program."},
        "is_enforced": {"type": "boolean", "description": "False while a policy only observes: then nothing is held."},
        "is_clamped": {"type": "boolean", "description": "True when an allow became ask, for production."},
        "audit_id": {"type": "string"},
    },
    "required": [
        "verdict", "rule", "escalations", "policy", "version", "digest", "is_enforced", "is_clamped", "audit_id",
    ],
}  # fmt: skip
QUESTIONS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "policy": {"type": "string"},
        "version": {"type": "integer"},
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "text": {"type": "string"},
                    "options": {"type": "object", "additionalProperties": {"type": "string"}},
                    "levels": {"type": "array", "items": {"type": "string"}},
                    "answer": {"type": "object", "description": "JSON Schema of an answer."},
                },
                "required": ["id", "text", "answer"],
            },
        },
    },
    "required": ["policy", "version", "questions"],
}
HOOKED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "hookSpecificOutput": {
            "type": "object",
            "properties": {
                "hookEventName": {"type": "string", "enum": [hooks.EVENT]},
                "permissionDecision": {"type": "string", "enum": sorted(hooks.DECISIONS.values())},
                "permissionDecisionReason": {"type": "string"},
            },
            "required": ["hookEventName", "permissionDecision", "permissionDecisionReason"],
        }
    },
    "required": ["hookSpecificOutput"],
}
PAYLOAD: dict[str, Any] = {
    "type": "object",
    "description": "The body of an HTTP hook for PreToolUse; the hook command adds what it observed.",
    "properties": {
        "session_id": {"type": "string"}, "transcript_path": {"type": "string"}, "cwd": {"type": "string"},
        "permission_mode": {"type": "string"}, "hook_event_name": {"type": "string"}, "tool_name": {"type": "string"},
        "tool_input": {"type": "object"}, "tool_use_id": {"type": "string"},
        hooks.OBSERVED: {"type": "object", "description": "The hook command's facts and the digest of the action."},
    },
    "required": ["hook_event_name", "tool_name", "tool_input"],
}  # fmt: skip
