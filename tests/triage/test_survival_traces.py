"""Traces are taken from agents and people, masked, once by content, and measured by a worker where they are large."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from audit import copies, outbox, redacting
from audit.kinds import Kind
from audit.models import Entry, Outbox
from evidence.survival import analyze
from evidence.survival.formats.collected import TraceError
from gate.triage import investigations, survival_reports, trace_upkeep, trace_uploads, traces, verdicts
from gate.triage.models import Incident, Investigation
from gate.triage.rule_models import Job
from gate.triage.trace_models import Trace
from tests.triage.conftest import count_errors, find_job

pytestmark = pytest.mark.django_db
RECORDED = Path(__file__).resolve().parents[1] / "data/survival/traces"
STEPS = [
    {"type": "user", "content": "Why did job 90412 fail?"},
    {"type": "tool_call", "tool": "find_job", "content": '{"job_id": 90412}'},
    {"type": "tool_result", "tool": "find_job", "content": "The provider timed out twice at 02:10:44."},
    {"type": "assistant", "content": "The provider timed out twice, at 02:10:44."},
]
AGENTS = pytest.mark.urls("gate.config.urls_agents")


@pytest.fixture
def door(make_agent: Callable[..., Any], open_incident: Callable[..., Incident]) -> Callable[..., Any]:
    """Uploads to the agents' plane, to an own investigation unless another one is named."""
    from audit import agents

    _, token = make_agent("triage-agent")
    principal = agents.authenticate(token)
    assert principal is not None
    own = investigations.start(principal, open_incident().pk)

    def upload(body: Any, to: int = own.pk, query: str = "", content_type: str = "application/json") -> Any:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {token}"}
        address = f"/api/v1/investigations/{to}/trace{query}"
        return Client().post(address, raw, content_type=content_type, headers=headers)

    upload.own = own  # type: ignore[attr-defined]
    return upload


def kept(investigation: Investigation, document: Any = STEPS) -> Trace:
    read = traces.read(json.dumps(document).encode())
    trace, _ = traces.keep(investigation.pk, read, origin=Trace.Origin.AGENT, by=_actor())
    return trace


def _actor() -> Any:
    from audit import log

    return log.Actor("agent", "triage-agent", "triage-agent-owner")


@AGENTS
def test_an_upload_is_kept_with_its_entry(door: Any) -> None:
    answer = door(STEPS)
    assert answer.status_code == 201, answer.content
    told = answer.json()
    trace = Trace.objects.get(pk=told["trace"])
    assert (told["format"], told["records"], told["kept"], told["steps"]) == ("plain", 4, 4, 4)
    assert traces.steps_of(trace).steps == STEPS
    entry = Entry.objects.get(seq=trace.entry_seq or 0)
    assert (entry.kind, entry.run_id, entry.actor) == (Kind.TRACE_UPLOADED, str(door.own.pk), "triage-agent")


@AGENTS
def test_the_same_content_twice_is_one_trace(door: Any) -> None:
    first, again = door(STEPS), door(json.dumps(STEPS, indent=4).encode())
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert Trace.objects.count() == 1
    assert Entry.objects.filter(kind=Kind.TRACE_UPLOADED, run_id=str(door.own.pk)).count() == 1


@AGENTS
@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.json")))
def test_every_recorded_trace_is_taken_and_counted(door: Any, name: str) -> None:
    told = door((RECORDED / f"{name}.json").read_bytes()).json()
    assert told["records"] == told["kept"] + sum(told["skipped"].values())
    trace = Trace.objects.get(pk=told["trace"])
    assert analyze(traces.steps_of(trace).steps)["steps"] == told["steps"]


@AGENTS
def test_lines_of_json_are_taken_and_broken_ones_counted(door: Any) -> None:
    raw = b"\n".join(json.dumps(step).encode() for step in STEPS) + b"\n{broken\n"
    told = door(raw, content_type="application/x-ndjson").json()
    assert told["skipped"] == {"the line is not JSON": 1}
    assert told["records"] == 5


@AGENTS
def test_a_named_format_is_held_to(door: Any) -> None:
    assert door(STEPS, query="?trace_format=plain").status_code == 201
    refused = door(STEPS, query="?trace_format=langfuse")
    assert (refused.status_code, refused.json()["code"]) == (422, "no_trace")


@AGENTS
@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"7", b'"text"', b"\xff\xfe", b"{" * 90_000, b"[" * 200_000, b"<html>", b"NaN"]
)
def test_what_is_no_trace_is_refused_in_a_sentence(door: Any, body: bytes) -> None:
    refused = door(body)
    assert refused.status_code == 422, refused.content
    assert refused.json()["detail"].endswith(".")
    assert not Trace.objects.exists()


@AGENTS
def test_a_trace_that_is_too_long_is_told_how_long_it_may_be(door: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_uploads, "LONGEST", 100)
    refused = door(STEPS)
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert "100 bytes" in refused.json()["detail"]


@AGENTS
def test_nobody_uploads_to_the_investigation_of_another_agent(
    door: Any, make_principal: Callable[..., Any], open_incident: Callable[..., Incident]
) -> None:
    others = investigations.start(make_principal("other-agent"), open_incident(subject={"job_id": 2}).pk)
    refused = [door(STEPS, to=others.pk), door(STEPS, to=10**12)]
    assert [(one.status_code, one.json()["detail"]) for one in refused] == [
        (404, "You have no investigation of that number.")
    ] * 2
    assert not Trace.objects.exists()


@AGENTS
def test_an_investigation_keeps_so_many_traces_and_no_more(door: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "MOST_TRACES", 1)
    assert door(STEPS).status_code == 201
    assert door(STEPS[:-1]).status_code == 409
    assert door(STEPS).status_code == 200


def test_secrets_are_masked_before_anything_is_kept(running: Investigation) -> None:
    token = "ghp_" + "a1B2" * 10
    said = {"type": "tool_result", "content": f'{{"password": "hunter2", "token": "{token}"}}'}
    trace = kept(running, [*STEPS, {**said, "args": {"api_key": "abcdef"}}])
    text = json.dumps(traces.document_of(trace))
    assert not any(secret in text for secret in ("hunter2", token, "abcdef"))
    assert "[masked: " in text


def test_texts_that_postgresql_cannot_hold_are_kept(running: Investigation) -> None:
    odd = "NUL \0, half a pair \ud83d, a whole one \U0001f600, \N{RIGHT-TO-LEFT OVERRIDE}"
    trace = kept(running, [{"type": "tool_result", "content": odd}, {"type": "assistant", "content": odd}])
    trace.refresh_from_db()
    assert [step["content"] for step in traces.document_of(trace)] == [odd, odd]


def test_what_no_page_and_no_database_can_hold_is_written_out_in_steps(running: Investigation) -> None:
    odd = "NUL \0, half a pair \ud83d, a whole one \U0001f600"
    trace = kept(running, [{"type": "tool_result", "tool": odd, "content": odd}, {"type": "assistant", "content": odd}])
    trace.status = Job.WAITING
    trace.save()
    assert survival_reports.advance(trace.pk)
    trace.refresh_from_db()
    written = "NUL ⟦U+0000⟧, half a pair ⟦U+D83D⟧, a whole one \U0001f600"
    assert (trace.status, list(trace.tools)) == (Job.DONE, [written])
    assert [step["content"].encode().decode() for step in traces.steps_of(trace).steps] == [written, written]


def test_numbers_that_json_does_not_have_are_kept_as_they_came(running: Investigation) -> None:
    raw = b'[{"type": "tool_result", "content": "x y", "n": NaN}, {"type": "assistant", "content": "x", "n": 1e999}]'
    trace, _ = traces.keep(running.pk, traces.read(raw), origin=Trace.Origin.AGENT, by=_actor())
    trace.refresh_from_db()
    assert survival_reports.of_trace(trace).report is not None


def test_too_many_steps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "MOST_STEPS", 3)
    with pytest.raises(TraceError, match="4 steps; 3 are the most"):
        traces.read(json.dumps(STEPS).encode())


def test_a_large_trace_is_measured_by_the_worker_part_by_part(
    running: Investigation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "LARGE", 10)
    monkeypatch.setattr(survival_reports, "LARGE", 10)
    monkeypatch.setattr(survival_reports, "SLICE", -1.0)
    trace = kept(running)
    assert survival_reports.of_trace(trace).report is None
    job = Outbox.objects.get(task=traces.TASK, subject_id=trace.pk)
    seen = []
    while Outbox.objects.get(pk=job.pk).done_at is None:
        outbox.run_in_slices(traces.TASK, job.pk, survival_reports.advance)
        trace.refresh_from_db()
        seen.append((trace.done, trace.total))
    assert seen[0] == (1, 5)
    assert seen[-1] == (5, 5)
    measured = survival_reports.of_trace(trace)
    assert trace.status == Job.DONE
    assert measured.report is not None
    assert measured.report["compatible"] == analyze(STEPS)
    assert trace.tools["find_job"]["in_answer"] == 1


def test_the_jobs_of_traces_hold_up_no_verdict() -> None:
    assert traces.QUEUE == survival_reports.QUEUE == verdicts.QUEUE == "trials"


def test_the_log_gives_a_trace_without_an_upload(running: Investigation) -> None:
    job, count = find_job(running), count_errors(running)
    measured = survival_reports.of_log(running)
    assert [step["type"] for step in measured.run.steps] == ["user", *["tool_call", "tool_result"] * 2]
    assert [entry.ref for entry in measured.run.entries if entry] == [job.ref, job.ref, count.ref, count.ref]
    assert measured.report is not None
    assert measured.report["finer"]["sources"] == 2


def test_a_report_of_the_log_is_not_used_once_the_log_says_more(running: Investigation) -> None:
    find_job(running)
    survival_reports.measure_log(running.pk)
    row = Trace.objects.get(investigation=running, origin=Trace.Origin.LOG)
    assert row.status == Job.DONE
    assert row.report is not None
    Trace.objects.filter(pk=row.pk).update(report=traces.packed({"version": 1, "finer": "stale"}))
    find_job(running, attempts=4)
    measured = survival_reports.of_log(running)
    assert measured.report is not None
    assert measured.report["finer"]["sources"] == 2


@pytest.fixture
def admins(make_person: Callable[..., Any]) -> tuple[Any, Any]:
    return make_person("first-admin", "admin"), make_person("second-admin", "admin")


@pytest.mark.parametrize("of", ["upload", "call"])
def test_a_redaction_takes_what_the_trace_repeats(running: Investigation, admins: tuple[Any, Any], of: str) -> None:
    call = find_job(running)
    trace = kept(running)
    seq = trace.entry_seq if of == "upload" else call.seq
    told = [copy.sentence for copy in copies.of(Entry.objects.get(seq=seq or 0))]
    assert "uploaded a trace, which may repeat it; it is cleared with it." in told
    wanted = redacting.ask(Entry.objects.get(seq=seq or 0), part="both", reason="A name.", by=admins[0])
    redacting.confirm(wanted.pk, by=admins[1])
    trace.refresh_from_db()
    assert (trace.content, trace.report, trace.why) == (None, None, f"Redacted with A-{seq}.")
    assert survival_reports.of_trace(trace).report is None


def test_a_redacted_call_is_left_out_and_named(running: Investigation, admins: tuple[Any, Any]) -> None:
    call = find_job(running)
    wanted = redacting.ask(Entry.objects.get(seq=call.seq), part="both", reason="A name.", by=admins[0])
    redacting.confirm(wanted.pk, by=admins[1])
    run = survival_reports.of_log(running).run
    assert [step["type"] for step in run.steps] == ["user"]
    assert [(entry.ref, "redacted" in why) for entry, why in run.left_out] == [(call.ref, True)]


def test_a_trace_goes_with_its_entry(running: Investigation) -> None:
    pruned, held = kept(running), kept(running, STEPS[:-1])
    Trace.objects.filter(pk=pruned.pk).update(entry_seq=10**15)
    trace_upkeep.clear_pruned()
    pruned.refresh_from_db()
    held.refresh_from_db()
    assert (pruned.content, pruned.why) == (None, trace_upkeep.PRUNED)
    assert held.content is not None


@AGENTS
@pytest.mark.django_db(transaction=True)
def test_the_agents_role_may_keep_a_trace_and_read_nothing_of_what_was_measured(
    door: Any, as_role: Callable[..., Any]
) -> None:
    as_role("agents")
    assert [door(STEPS).status_code, door(STEPS).status_code] == [201, 200]
    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
        list(Trace.objects.values_list("report"))
    as_role("people")
    assert Trace.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_workers_role_may_measure(running: Investigation, as_role: Callable[..., Any]) -> None:
    find_job(running)
    as_role("worker")
    assert survival_reports.measure_log(running.pk)
    trace_upkeep.clear_pruned()
    assert Trace.objects.get(origin=Trace.Origin.LOG).status == Job.DONE
