"""Every line of an export as an event of OCSF, held against the published schema."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

from audit import ocsf
from audit.header import FIELDS as HEADER_FIELDS
from audit.kinds import Kind


@cache
def schema() -> Draft202012Validator:
    """API Activity of the version that our events name, with everything that it refers to."""
    published = OcsfJsonSchemaEmbedded(get_ocsf_schema(version=ocsf.VERSION))
    found = published.get_class_schema(class_name=published.lookup_class_name_from_uid(ocsf.CLASS), profiles=[])
    return Draft202012Validator(found)


def entry(kind: str = "call.finished", **header: Any) -> dict[str, Any]:
    texts = dict.fromkeys(HEADER_FIELDS, "")
    numbers = {"header_version": 1, "duration_ms": 41, "tool_version": 2, "incident_id": 7, "truncated": False}
    full = {
        **texts, **numbers, "kind": kind, "actor_kind": "agent", "actor": "triage-agent", "principal": "mia",
        "call_id": None, "status": "ok", "writer": "agents", "writer_run": "ab", "subject": "I-7", **header,
    }  # fmt: skip
    return {
        "type": "entry", "id": "01a229bf-ccb6-7c51-90ea-3ac007abbd59", "seq": 12, "at": "2026-11-29T10:48:00.000001Z",
        "db_role": "counterseal_agents", "digest": "00" * 32, "header": full, "args": "{}", "result": "1", "leaf": 3,
    }  # fmt: skip


def faults(event: dict[str, Any]) -> list[str]:
    return [f"{list(fault.path)}: {fault.message}" for fault in schema().iter_errors(event)]


@pytest.mark.parametrize("kind", Kind.values)
def test_every_kind_is_an_event_of_the_published_schema(kind: str) -> None:
    event = ocsf.event(entry(kind))
    assert faults(event) == []
    assert event["type_uid"] == 600300 + event["activity_id"]


@pytest.mark.parametrize(
    "header",
    [
        {"actor_kind": "person", "actor": "Mia Lindqvist"},
        {"actor_kind": "process", "actor": "writer", "principal": ""},
        {"actor_kind": "monitor"},
        {"status": "failed", "error": "It timed out.", "error_class": "timeout"},
        {"status": "odd", "error": "x"},
        {"status": "refused", "error_class": "scope"},
        {"call_id": "01a229bf-ccb6-7c51-90ea-3ac007abbd59", "source": "shop", "tool": "find_job"},
        {"duration_ms": None, "tool_version": None, "incident_id": None, "subject": ""},
        {"truncated": True},
    ],
)
def test_every_shape_of_header_is_an_event(header: dict[str, Any]) -> None:
    assert faults(ocsf.event(entry(**header))) == []


@pytest.mark.parametrize(
    "line",
    [
        {"type": "export", "format": "counterseal-log/1", "made_at": "2026-11-29T10:48:00.000001Z"},
        {"type": "pruned", "leaf": 3, "hash": "00", "by": 9},
        {"type": "missing", "leaf": 3, "hash": None},
        {"type": "checkpoint", "size": 3, "note": "x"},
    ],
)
def test_what_is_no_entry_is_an_event_too(line: dict[str, Any]) -> None:
    assert faults(ocsf.event(line)) == []


def test_the_schema_would_find_a_mistake() -> None:
    event = ocsf.event(entry())
    assert faults({**event, "activity_id": 7})
    assert faults({**event, "made_up": 1})
    assert faults({name: value for name, value in event.items() if name != "src_endpoint"})


@pytest.mark.parametrize(
    ("kind", "status", "activity", "outcome", "severity"),
    [
        ("call.finished", "ok", ocsf.READ, ocsf.SUCCESS, ocsf.INFORMATIONAL),
        ("call.refused", "refused", ocsf.READ, ocsf.FAILURE, ocsf.LOW),
        ("write.proposed", "ok", ocsf.CREATE, ocsf.SUCCESS, ocsf.INFORMATIONAL),
        ("write.approved", "ok", ocsf.UPDATE, ocsf.SUCCESS, ocsf.INFORMATIONAL),
        ("write.unknown", "unknown", ocsf.UPDATE, ocsf.FAILURE, ocsf.HIGH),
        ("token.revoked", "ok", ocsf.DELETE, ocsf.SUCCESS, ocsf.INFORMATIONAL),
        ("person.signed_in", "ok", ocsf.OTHER, ocsf.SUCCESS, ocsf.INFORMATIONAL),
    ],
)
def test_what_happened_is_classified(kind: str, status: str, activity: int, outcome: int, severity: int) -> None:
    event = ocsf.event(entry(kind, status=status))
    assert (event["activity_id"], event["status_id"], event["severity_id"]) == (activity, outcome, severity)


def test_the_whole_line_is_in_it_for_who_verifies() -> None:
    line = entry()
    assert json.loads(json.dumps(ocsf.event(line)))["unmapped"] == line


@pytest.mark.parametrize("kind", ["log.verified", "log.drilled"])
def test_a_verification_or_a_drill_that_failed_is_severe(kind: str) -> None:
    assert ocsf.event(entry(kind, status="failed"))["severity_id"] == ocsf.HIGH
    assert ocsf.event(entry(kind))["severity_id"] == ocsf.INFORMATIONAL


@pytest.mark.parametrize(
    "odd",
    [
        {"kind": "made.up"}, {"status": ""}, {"actor": "", "principal": ""}, {"actor_kind": "nobody"},
        {"summary": "", "error": ""}, {"duration_ms": -1}, {"duration_ms": 2**31 - 1}, {"subject": "\ud800 x"},
        {"tool": "x" * 500, "source": "\n"}, {"header_version": 9}, {"tool_version": -3}, {"error_class": "\u0000"},
    ],
    ids=str,
)  # fmt: skip
def test_an_odd_entry_is_an_event_all_the_same(odd: dict[str, Any]) -> None:
    event = ocsf.event(entry(**{"kind": "call.finished", **odd}))
    assert faults(event) == []
    assert json.loads(json.dumps(event))["unmapped"]["header"] == {**entry()["header"], **odd}
