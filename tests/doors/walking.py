"""Finding every address of a plane, and what to send there."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from typing import Any
from uuid import uuid4

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import URLPattern, URLResolver
from django.utils import timezone

from audit.models import Override
from evidence import desk
from gate.admission import policies
from gate.writes import grouping
from gate.writes.models import Execution, WriteRequest
from tests import cited
from tests.doors.conftest import METRIC, PASSWORD, World
from tests.evidence.bodies import tool as tool_body
from tests.triage import trying
from tests.triage.conftest import JOB_FAILED
from tests.writes.conftest import body as target_body

OTHER_PASSWORD = "tall ships leave early"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
PART = re.compile(r"<(\w+):(\w+)>")


def routes(urlconf: str) -> list[str]:
    """Every route of a URLconf, as it is written."""
    return list(_routes(import_module(urlconf).urlpatterns, ""))


def _routes(patterns: list[URLPattern | URLResolver], above: str) -> Iterator[str]:
    for pattern in patterns:
        route = above + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        else:
            yield route


def addresses(route: str, world: World) -> list[str]:
    """The addresses that a route stands for in this world."""
    parts = PART.findall(route)
    assert "<" not in PART.sub("", route), f"The walk cannot read the route {route}; teach tests/doors/walking.py."
    nouns = [piece.strip("/").split("/")[-1] for piece in PART.split(route)[::3]]
    values = [_values(kind, name, noun, world) for (kind, name), noun in zip(parts, nouns, strict=False)]
    pieces = PART.split(route)[::3]
    return [
        "/" + "".join(itertools.chain(*itertools.zip_longest(pieces, map(str, chosen), fillvalue="")))
        for chosen in itertools.product(*values)
    ]


def _values(kind: str, name: str, noun: str, world: World) -> list[Any]:
    if name == "number":
        return [1, 2, 3]  # of a version: the first is in force
    if kind == "int":
        return world.numbers(noun)
    if name == "plural":
        return ["classes", "targets", "nothing"]
    if noun == "tools" and kind == "slug":
        return ["list_jobs", "nothing"]
    if noun == "metrics":
        return [METRIC]
    if noun == "valuations":
        return ["prices"]
    if noun == "rules":
        return [trying.NAME, "nothing"]
    if noun == "policies":
        return ["restarts", "nothing"]
    if noun == "rows":
        seen = world.ran.previews.get()
        return [*(group.key for group in grouping.groups(world.ran.table, seen)), "nothing"]
    if noun == "agents":
        return [world.agent.agent, world.other.name]
    known: dict[str, list[Any]] = {
        "slug": ["job_failed", "shop", "nothing"],
        "str": [*desk.DESK, "nothing"],
        "uuid": [world.others_entry.id],
    }
    assert kind in known, f"The walk has no values for <{kind}:{name}>; teach tests/doors/walking.py."
    return known[kind]


def open_up(route: str, world: World) -> None:
    """Bring about what a door is there for: an alarm, where it is about one. Everywhere else approving is on."""
    if route.startswith(("audit/alarm/", "audit/overrides/")):
        cited.say("tampered", "The stored tree does not give the root that was signed.")
    if route == "audit/alarm/":
        decided = {"status": "withdrawn", "decided_by": world.people["admin"]}
        Override.objects.filter(pk=world.override.pk).update(**decided)
    if route == "writes/<int:pk>/settlement/":
        WriteRequest.objects.filter(pk=world.write.pk).update(status="unknown")
        Execution.objects.create(
            write=world.write, preview=world.preview, approvals=[], ledger_key=uuid4(), state="unknown",
            finished_at=timezone.now() - timedelta(hours=1),
        )  # fmt: skip


def forms(world: World, who: str) -> list[dict[str, str]]:
    """What a person's browser would send to decide, for any form: each field that a form of ours knows, filled."""
    person = world.people.get(who)
    filled = {
        "reason": "I looked at it.", "assertion": "", "password": PASSWORD, "seen_version": "1", "next": "/inbox/",
        "proposal_digest": world.write.proposal_digest, "preview_digest": world.preview.digest,
        "username": person.username if person else "stranger", "role": "admin", "is_superuser": "on",
        "target": "shop", "title": "Requeue", "statement": "update shop.jobs set state = $1 where job_id = $2",
        "parameters": "text queued\nbigint 7", "incident": "", "name": "job_failed", "kind": "", "order": "", "q": "",
        "body": json.dumps({**JOB_FAILED, "budget_calls": 5}),
        "time_zone": "Asia/Tokyo", "theme": "dark", "old_password": PASSWORD, "new_password1": OTHER_PASSWORD,
        "new_password2": OTHER_PASSWORD, "own_password": PASSWORD, "email": "ivo@example.org",
        "full_name": "Ivo Novak", "to": "", "text": "It is fine.", "severity": "",
        "began_at": "2026-11-29 02:10", "facts": "", "subject.job_id": "8", "owner": str(world.people["admin"].pk),
        "label": "another", "scopes": "tools", "days": "30", "calls_per_hour": "9", "open_investigations": "9",
        "proposals_per_day": "9", "seen_sendings": "0", "again": "", "format": "jsonl", "part": "args",
        "what": "2026-01", "seen": "", "query": "status=not-ok",
        "flips": str(world.ruled.flip.pk), "ending": "not_fine",
        "source": "customer", "reference": "A letter", "on": timezone.localdate().isoformat(), "why": "It shows.",
        "subject_keys": "job_id: integer", "fact_keys": "", "watch_seconds": "",
        "recurrence_seconds": "3 h", "freshness_seconds": "1 h", "tools": "find_job",
        "ingestion_lag_seconds": "5 min", "hypotheses": "worker_lost", "budget_calls": "6",
        "metrics": "", "deadline_seconds": "1 h",
        "emergency": "It cannot wait.", "found": "executed",
        "finding": "right", "environment": "demo", "credential_env": "ITS_DSN",
        "ledger": "shop.gate_ledger", "action": "", "on_call": "1", "admin": "0", "method": "password",
        "proposers": "agent", "binding": "strict", "row_cap": "9", "expiry_seconds": "4 h", "risk": "normal",
        "break_glass": "on", "first_look_source": "", "url": "https://jobs.example/{id}", "http_method": "POST",
        "schema": "{}", "admission": "", "header": "", "named_hosts": "", "timeout_seconds": "5", "probe_url": "",
        "probe_pointer": "",
        "probe_is": "", "probe_equals": "", "purpose": "Jobs.", "query_type": "state", "visibility_scope": "live",
        "input_schema": "{}", "output_schema": "{}", "limitations": "", "sql": "", "shape": "", "request": "",
        "file": "", "form": "auto",  # see `upload`
        "version": "1", "scope-job_kind": "refund", "decomposition": "by_job", "decision_point": "",
        "variable": "max_attempts", "value": "2", "entity": "j1", "event": "timeout",
        "measure": "sum", "grain": "job", "unit": "attempts", "scope": "", "source_fields": "", "formula": "",
        "still_open": "partial", "decomposers": "", "trace_hook": "", "valuation": "", "review_by": "2027-06-01",
        "fixture": "", "status": "resolved", "factual": "", "model": "", "tolerance": "", "values": "", "rows": "",
        "held_fixed": "", "not_modelled": "", "price": "1", "per": "jobs",
        "max_rows": "", "max_bytes": "", "said_0": "right", "policy": json.dumps({**policies.EXAMPLE, "cases": []}),
    }  # fmt: skip
    if person is None:  # a form of nobody's is nobody's, whatever it says
        return [{**filled, "act": "agree", "decision": "approve"}]
    acts = (("agree", "approve"), ("overrule", "reject"), ("send_back", "request_changes"))
    own = [{**filled, "act": act, "decision": decision} for act, decision in acts]
    own.append({**filled, "to": "customer@example.org"})
    own.append({**filled, "name": trying.NAME, "body": json.dumps(trying.body(2))})
    own.append({**filled, "name": "shop", "body": json.dumps(target_body(row_cap=7))})
    judged = json.dumps({**policies.EXAMPLE, "title": "Releases"})
    own += [{**filled, "name": name, "body": judged} for name in ("restarts", "releases")]
    own.append({**filled, "name": "list_jobs", "body": json.dumps(tool_body(source="shop", purpose="Some jobs."))})
    return [*own, {**filled, "act": "role", "decision": "withdraw", "username": "newcomer"}]


TRACE = {"messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "It is fine."}]}


def upload() -> SimpleUploadedFile:
    """A trace as a file, for the forms that take one. It is read once, so each request needs its own."""
    return SimpleUploadedFile("trace.json", json.dumps(TRACE).encode())


def objects(world: World) -> list[dict[str, Any]]:
    """What an agent or a monitor would send, in the shapes that our addresses take, and with more than they take."""
    submission = {
        "hypothesis": "transient_failure_recovered",
        "findings": [{"fact": "job_completed", "audit_id": f"A-{world.others_entry.seq}"}],
        "answer": "It is fine.",
    }
    write = {
        "target": "shop", "statement": "update shop.jobs set state = $1 where job_id = $2",
        "parameters": [{"t": "text", "v": "queued"}, {"t": "bigint", "v": "7"}], "title": "Requeue", "reason": "Stuck.",
    }  # fmt: skip
    report = {
        "class": "job_failed", "title": "Job 5 failed", "subject": {"job_id": 5},
        "began_at": timezone.now().isoformat(),
    }  # fmt: skip
    named = [{**submission, "investigation": number} for number in world.numbers("investigations")]
    judged = {"policy": "restarts", "answers": {"replicas": {"value": "several", "by": "probe"}}}
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "/"}
    plain: list[dict[str, Any]] = [
        {}, TRACE, submission, *named, write, report, judged, call, {"target": "shop"}, *tool_arguments(world)
    ]  # fmt: skip
    greedy: dict[str, Any] = {
        "verdict": "pass", "outcome": "pass", "status": "approved", "decision": "approve", "act": "agree",
        "role": "admin", "approved": True, "password": PASSWORD, "agent": world.other.name, "id": world.write.pk,
    }  # fmt: skip
    called = [{"arguments": given} for given in plain]
    return [*plain, *called, greedy, *({**given, **greedy} for given in (submission, write, report))]


def tool_arguments(world: World) -> list[dict[str, Any]]:
    """Arguments that name each thing there is, one's own and the other's, the way desk tools name things."""
    incidents = [{"incident": f"I-{number}"} for number in world.numbers("incidents")]
    told = [{"name": "describe_tool"}, {"metric_id": METRIC}]
    return [*incidents, *told, *({"write": f"W-{number}"} for number in world.numbers("writes"))]
