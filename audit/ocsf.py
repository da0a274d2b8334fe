"""Lines of an export as events of the Open Cybersecurity Schema Framework, class API Activity (6003).

Schema: OCSF 1.8.0, https://schema.ocsf.io/1.8.0/classes/api_activity. What the schema has no place for stands in
`unmapped`: there the whole line is, so that an event can be verified like a line of JSONL.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from audit.export_lines import Line
from audit.kinds import Kind

VERSION = "1.8.0"
CATEGORY, CLASS = 6, 6003
UNKNOWN, CREATE, READ, UPDATE, DELETE, OTHER = 0, 1, 2, 3, 4, 99
ACTIVITIES = {UNKNOWN: "Unknown", CREATE: "Create", READ: "Read", UPDATE: "Update", DELETE: "Delete", OTHER: "Other"}
INFORMATIONAL, LOW, MEDIUM, HIGH = 1, 2, 3, 4
SEVERITIES = {INFORMATIONAL: "Informational", LOW: "Low", MEDIUM: "Medium", HIGH: "High"}
SUCCESS, FAILURE, OTHER_STATUS = 1, 2, 99

CREATES = (
    Kind.INCIDENT_OPENED, Kind.INVESTIGATION_STARTED, Kind.FINDINGS_SUBMITTED, Kind.VERDICT_RENDERED,
    Kind.TRACE_UPLOADED, Kind.COMMENT_ADDED, Kind.WRITE_PROPOSED, Kind.WRITE_PREVIEWED, Kind.DEFINITION_DRAFTED,
    Kind.KEY_ENROLLED, Kind.KEY_PINNED, Kind.TOKEN_ISSUED, Kind.LOG_SEALED_KEY, Kind.LOG_VERIFICATION_ASKED,
    Kind.RULE_TRIED, Kind.RULE_REPLAYED, Kind.CASE_PROMOTED, Kind.WRITE_GLASS_REVIEWED,
    Kind.AGENT_ALERTED, Kind.SOURCE_PROOF_ASKED, Kind.ADMISSION_LABELED,
)  # fmt: skip
READS = (
    Kind.CALL_STARTED, Kind.CALL_FINISHED, Kind.CALL_REFUSED, Kind.SOURCE_CERTIFIED, Kind.LOG_EXPORTED,
    Kind.LOG_VIEWED, Kind.LOG_VERIFIED, Kind.LOG_DRILLED, Kind.WRITE_LOOKED_AT,
)  # fmt: skip
DELETES = (
    Kind.DEFINITION_RETIRED, Kind.KEY_REVOKED, Kind.KEY_UNPINNED, Kind.TOKEN_REVOKED, Kind.LOG_REDACTED,
    Kind.LOG_RETAINED,
)  # fmt: skip
UPDATES = (
    Kind.INCIDENT_UPDATED, Kind.INCIDENT_REPORTED_RESOLVED, Kind.INCIDENT_CLOSED, Kind.INCIDENT_REOPENED,
    Kind.INVESTIGATION_STOPPED, Kind.INVESTIGATION_ABANDONED, Kind.DRAFT_CLAIMED, Kind.DRAFT_AGREED,
    Kind.DRAFT_OVERRULED, Kind.DRAFT_SENT_BACK, Kind.DRAFT_SNOOZED, Kind.ASSIGNMENT_CHANGED, Kind.WRITE_ADMITTED,
    Kind.WRITE_BLOCKED, Kind.WRITE_APPROVED, Kind.WRITE_REJECTED, Kind.WRITE_CHANGES_REQUESTED, Kind.WRITE_EDITED,
    Kind.WRITE_WITHDRAWN, Kind.WRITE_EXPIRED, Kind.WRITE_CLAIMED, Kind.WRITE_EXECUTED, Kind.WRITE_REFUSED_STALE,
    Kind.WRITE_FAILED, Kind.WRITE_UNKNOWN, Kind.WRITE_SETTLED, Kind.DEFINITION_ACTIVATED, Kind.SOURCE_DARKENED,
    Kind.PERSON_CHANGED, Kind.AGENT_CHANGED, Kind.LOG_SCHEMA, Kind.LOG_HELD,
    Kind.LOG_REDACTION_ASKED, Kind.DEFINITION_SHADOWED, Kind.RULE_FLIPS_SIGNED, Kind.DRIFT_SETTLED,
    Kind.LOG_OVERRIDDEN, Kind.CANARY_CAUGHT, Kind.CANARY_APPROVED, Kind.CANARY_PAUSE_LIFTED,
    Kind.AGENT_ALERT_ACKNOWLEDGED,
)  # fmt: skip
# What is none of these by its nature: sign-ins, decisions of admission, the log's own life.
ACTIVITY_OF = {
    **dict.fromkeys(CREATES, CREATE),
    **dict.fromkeys(READS, READ),
    **dict.fromkeys(UPDATES, UPDATE),
    **dict.fromkeys(DELETES, DELETE),
}
FAILED = frozenset({"failed", "refused", "stale", "blocked", "rejected", "unknown", "stopped"})
# What somebody should look at, whatever its status.
SEVERE: dict[str, int] = {
    Kind.WRITE_UNKNOWN: HIGH, Kind.WRITE_FAILED: MEDIUM, Kind.WRITE_REFUSED_STALE: MEDIUM, Kind.SOURCE_DARKENED: MEDIUM,
    Kind.LOG_RESTORED: HIGH, Kind.LOG_REOPENED: HIGH, Kind.LOG_REDACTED: MEDIUM, Kind.LOG_OVERRIDDEN: HIGH,
    Kind.CANARY_APPROVED: HIGH,
}  # fmt: skip

# What nobody may overlook when it failed.
SEVERE_FAILURES: dict[str, int] = {Kind.LOG_VERIFIED: HIGH, Kind.LOG_DRILLED: HIGH}


def event(line: Line) -> dict[str, Any]:
    """The event of one line of an export, of whatever type it is."""
    return _entry(line) if line["type"] == "entry" else _about_the_log(line)


def _entry(line: Line) -> dict[str, Any]:
    header = line["header"]
    said = {
        **_classified(ACTIVITY_OF.get(header["kind"], OTHER), header["kind"], _severity(header)),
        "time": _milliseconds(line["at"]),
        "message": header["summary"] or header["error"] or header["kind"],
        **_status(header),
        "metadata": {
            **_metadata(),
            "uid": line["id"],
            "sequence": line["seq"],
            "event_code": header["kind"],
            "original_time": line["at"],
            "is_truncated": header["truncated"],
            "log_version": str(header["header_version"]),
        },
        "actor": _actor(header),
        "api": _api(header),
        "src_endpoint": {"svc_name": header["writer"], "name": header["writer"], "instance_uid": header["writer_run"]},
        "unmapped": line,
    }
    if header["duration_ms"] is not None:
        said["duration"] = header["duration_ms"]
    if header["subject"]:
        said["resources"] = [{"name": header["subject"]}]
    return said


def _about_the_log(line: Line) -> dict[str, Any]:
    """The first and last line, and leaves without an entry."""
    operation = f"log.{line['type']}"
    severity = HIGH if line["type"] == "missing" else INFORMATIONAL
    return {
        **_classified(OTHER, operation, severity),
        "time": int(time.time() * 1000),  # these are about what is said now
        "message": operation,
        "status_id": FAILURE if line["type"] == "missing" else SUCCESS,
        "metadata": {**_metadata(), "event_code": operation},
        "actor": {"app_name": "counterseal"},
        "api": {"operation": operation, "service": {"name": "counterseal"}},
        "src_endpoint": {"svc_name": "counterseal"},
        "unmapped": line,
    }


def _classified(activity: int, other_name: str, severity: int) -> dict[str, Any]:
    return {
        "category_uid": CATEGORY,
        "category_name": "Application Activity",
        "class_uid": CLASS,
        "class_name": "API Activity",
        "activity_id": activity,
        "activity_name": other_name if activity == OTHER else ACTIVITIES[activity],
        "type_uid": CLASS * 100 + activity,
        "type_name": f"API Activity: {ACTIVITIES[activity]}",
        "severity_id": severity,
        "severity": SEVERITIES[severity],
    }


def _metadata() -> dict[str, Any]:
    product = {"name": "Counterseal", "vendor_name": "Counterseal"}
    return {"version": VERSION, "product": product, "log_name": "audit", "log_provider": "counterseal"}


def _severity(header: Line) -> int:
    if header["kind"] in SEVERE:
        return SEVERE[header["kind"]]
    failed = header["status"] in FAILED
    return SEVERE_FAILURES.get(header["kind"], LOW) if failed else INFORMATIONAL


def _status(header: Line) -> dict[str, Any]:
    status = header["status"]
    number = SUCCESS if status == "ok" else FAILURE if status in FAILED else OTHER_STATUS
    said = {"status_id": number, "status": {SUCCESS: "Success", FAILURE: "Failure"}.get(number, status)}
    if number != SUCCESS:
        said["status_code"] = header["error_class"] or status
    return said | ({"status_detail": header["error"]} if header["error"] else {})


def _actor(header: Line) -> dict[str, Any]:
    if header["actor_kind"] == "person":
        return {"user": {"name": header["principal"], "full_name": header["actor"]}}
    answers_for_it = {"user": {"name": header["principal"]}} if header["principal"] else {}
    return {"app_name": header["actor"], **answers_for_it}


def _api(header: Line) -> dict[str, Any]:
    said: dict[str, Any] = {
        "operation": header["tool"] or header["kind"],
        "service": {"name": header["source"] or "counterseal"},
    }
    if header["tool_version"] is not None:
        said["version"] = str(header["tool_version"])
    if header["call_id"]:
        said["request"] = {"uid": header["call_id"]}
    if header["error"] or header["error_class"]:
        response = {"error": header["error_class"], "error_message": header["error"]}
        said["response"] = {name: text for name, text in response.items() if text}
    return said


def _milliseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)
