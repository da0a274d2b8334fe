"""Survival as pages: lanes, the two texts lit, grounding, runs compared, over time, and the report as one file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from audit import log
from evidence.survival.fields import LIMITATION
from gate.people.models import Person
from gate.triage import investigations, submissions, survival_reports, traces
from gate.triage.models import Incident, Investigation
from gate.triage.trace_models import Trace
from tests.triage.conftest import count_errors, find_job, handed_in

pytestmark = pytest.mark.django_db
RECORDED = Path(__file__).resolve().parents[1] / "data/survival/traces"
TEMPLATES = sorted(Path(settings.BASE_DIR, "templates/gate").glob("*survival*.html"))
ANSWER = "Job 90412 ended as succeeded after 3 attempts. The provider was down for 47 minutes."


class Texts(HTMLParser):
    """The marked parts of a page with their offsets, and the text that each block of them makes."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[tuple[str, str, list[tuple[str, str]]]] = []
        self.in_block = self.in_mark = self.in_hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        if tag == "pre" and "data-sha256" in about:
            self.blocks.append((str(about["data-sha256"]), "", []))
            self.in_block = True
        elif tag == "mark" and self.in_block:
            self.blocks[-1][2].append((str(about["data-utf16"]), ""))
            self.in_mark = True

    def handle_endtag(self, tag: str) -> None:
        self.in_block = self.in_block and tag != "pre"
        self.in_mark = self.in_mark and tag != "mark"

    def handle_data(self, data: str) -> None:
        if self.in_block:
            sha, text, marks = self.blocks[-1]
            self.blocks[-1] = (sha, text + data, marks)
            if self.in_mark:
                marks[-1] = (marks[-1][0], marks[-1][1] + data)


def blocks_of(page: str) -> list[tuple[str, str, list[tuple[str, str]]]]:
    parser = Texts()
    parser.feed(page)
    return parser.blocks


@pytest.fixture
def reader(client: Client, make_person: Callable[..., Any]) -> Client:
    client.force_login(make_person("ada", "on_call"))
    return client


@pytest.fixture
def handed(principal: Any, running: Investigation) -> Investigation:
    """An investigation that was handed in, with two calls and an answer."""
    job, count = find_job(running), count_errors(running)
    found = handed_in(("job_completed", job.ref), ("no_recurrence", count.ref))
    submissions.submit(principal, running.pk, {**found, "answer": ANSWER})
    running.refresh_from_db()
    return running


def address(investigation: Investigation, query: str = "") -> str:
    return f"/incidents/{investigation.incident_id}/investigations/{investigation.pk}/survival/{query}"


def upload(investigation: Investigation, document: Any) -> Trace:
    actor = log.Actor("agent", "triage-agent", "triage-agent-owner")
    read = traces.read(json.dumps(document).encode())
    trace, _ = traces.keep(investigation.pk, read, origin=Trace.Origin.AGENT, by=actor)
    return trace


def text_of(response: Any) -> str:
    assert response.status_code == 200, response.status_code
    return str(response.content.decode())


def test_the_log_alone_gives_lanes_and_grounds(reader: Client, handed: Investigation) -> None:
    page = text_of(reader.get(address(handed)))
    rows = re.findall(r'<th scope="row"><a [^>]*>(\w+)</a>', page)
    assert rows == ["find_job", "count_errors"]
    assert "What the answer rests on" in page
    assert re.search(r"<code>47 minutes</code></td><td[^>]*><span class=\"state state--bad\"[^>]*>in no evidence", page)
    assert re.search(r"<code>90412</code></td><td[^>]*><span class=\"state state--ok\"[^>]*>in evidence", page)
    assert page.count(LIMITATION.split(";")[0]) >= 3


def test_both_texts_light_up_at_offsets_that_a_browser_counts(reader: Client, running: Investigation) -> None:
    said = "\U0001f600 pool \U0001f4a5 worker-node-05 was exhausted at 09:12:01, says the log of it."
    upload(running, [{"type": "tool_result", "tool": "logs", "content": f"\U0001f680 {said}"},
                     {"type": "assistant", "content": f"So: {said}"}])  # fmt: skip
    blocks = blocks_of(text_of(reader.get(address(running))))
    assert len(blocks) == 2
    for sha256, text, marks in blocks:
        assert hashlib.sha256(text.encode()).hexdigest() == sha256
        assert marks
        units = text.encode("utf-16-le")
        for place, marked in marks:
            start, end = map(int, place.split("-"))
            assert units[2 * start : 2 * end].decode("utf-16-le") == marked
    assert any("worker-node-05" in marked for _, _, marks in blocks for _, marked in marks)


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.json")), ids=lambda path: path.stem)
def test_every_recorded_trace_renders(reader: Client, running: Investigation, path: Path) -> None:
    trace, _ = traces.keep(
        running.pk, traces.read(path.read_bytes()), origin=Trace.Origin.AGENT,
        by=log.Actor("agent", "triage-agent", "triage-agent-owner"),
    )  # fmt: skip
    if trace.status != "done":
        while not survival_reports.advance(trace.pk):
            pass
    page = text_of(reader.get(address(running)))
    assert 'class="lanes' in page
    assert trace.format in page
    assert "units read from" in text_of(reader.get(address(running, "?measure=compatible")))


def test_nothing_of_an_agent_is_markup(reader: Client, running: Investigation) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)> </pre></style><style></style> 90412 &lt;b&gt;"
    upload(running, [{"type": "tool_call", "tool": f"{evil}", "content": evil},
                     {"type": "tool_result", "tool": f"{evil}", "content": evil},
                     {"type": "reasoning", "content": evil}, {"type": "assistant", "content": evil}])  # fmt: skip
    for query in ("", "?measure=compatible"):
        page = text_of(reader.get(address(running, query)))
        assert "alert(1)" in page
        assert "<script>alert" not in page
        assert "<img" not in page
    report = text_of(reader.get(address(running).removesuffix("/") + ".html"))
    assert "<script" not in report
    assert "<img" not in report
    assert report.count("<style") == report.count("</style>") == 1


def test_a_report_is_one_file_with_a_policy_of_its_own(reader: Client, handed: Investigation) -> None:
    response = reader.get(address(handed).removesuffix("/") + ".html")
    report = text_of(response)
    assert response["Content-Disposition"].startswith("attachment; ")
    style = report.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', report)
    assert policy is not None
    assert policy[1].replace("&#x27;", "'").startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert not re.search(r"(?:src|href|action)=|url\(|@import", report)
    assert ANSWER.split()[0] in report
    assert "in no evidence" in report
    assert LIMITATION in report


def test_a_report_says_the_time_in_utc_whoever_saves_it(reader: Client, handed: Investigation) -> None:
    Person.objects.update(time_zone="Pacific/Kiritimati")
    report = text_of(reader.get(address(handed).removesuffix("/") + ".html"))
    said = re.search(r"on (\d{4}-\d\d-\d\d \d\d:\d\d) UTC", report)
    assert said is not None
    assert abs(datetime.strptime(f"{said[1]}Z", "%Y-%m-%d %H:%M%z") - timezone.now()) < timedelta(minutes=10)


def test_a_row_and_a_text_can_be_picked(reader: Client, running: Investigation) -> None:
    said = "The queue payouts-eu is blocked by lease 88213."
    upload(running, [{"type": "tool_result", "tool": "one", "content": said},
                     {"type": "tool_result", "tool": "two", "content": "Nothing that anybody says again at all."},
                     {"type": "reasoning", "content": f"I see: {said}"},
                     {"type": "assistant", "content": "I give up."}])  # fmt: skip
    assert "two, step 2" in text_of(reader.get(address(running, "?row=1")))
    page = text_of(reader.get(address(running, "?row=0&with=3")))
    assert "0 of 1 unit in the answer" in page
    assert "1 of 1 unit in step 3, think" in text_of(reader.get(address(running, "?row=0")))


@pytest.mark.parametrize("query", ["?row=x", "?row=99999", "?with=-1", "?from=10000", "?trace=none", "?trace=٣",
                                   "?measure=none", "?row=1&with=0", "?trace=99999999999999999999999"])  # fmt: skip
def test_an_address_of_nothing_is_a_page_all_the_same(reader: Client, handed: Investigation, query: str) -> None:
    assert reader.get(address(handed, query)).status_code == 200


def test_a_run_without_evidence_or_answer_is_a_page(reader: Client, running: Investigation) -> None:
    assert "Nothing was read" in text_of(reader.get(address(running)))


def test_an_investigation_is_found_under_its_own_incident_alone(reader: Client, handed: Investigation) -> None:
    wrong = address(handed).replace(f"/incidents/{handed.incident_id}/", f"/incidents/{handed.incident_id + 1}/")
    assert reader.get(wrong).status_code == 404


def test_a_large_one_says_how_far_it_is(
    reader: Client, running: Investigation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "LARGE", 10)
    monkeypatch.setattr(survival_reports, "LARGE", 10)
    monkeypatch.setattr(survival_reports, "SLICE", -1.0)
    trace = upload(running, [{"type": "tool_result", "content": "one two three"}])
    survival_reports.advance(trace.pk)
    page = text_of(reader.get(address(running)))
    assert "1 of 5 parts measured" in page
    fragment = text_of(reader.get(address(running), headers={"HX-Request": "true", "HX-Target": "measuring"}))
    assert fragment.lstrip().startswith("<div")
    while not survival_reports.advance(trace.pk):
        pass
    assert 'class="lanes' in text_of(reader.get(address(running)))


def test_a_large_log_is_measured_when_somebody_asks(
    reader: Client, handed: Investigation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survival_reports, "LARGE", 10)
    assert "Measure it" in text_of(reader.get(address(handed)))
    assert reader.post(address(handed) + "measuring/").status_code == 302
    while not survival_reports.measure_log(handed.pk):
        pass
    assert 'class="lanes' in text_of(reader.get(address(handed)))


def test_a_person_uploads_a_trace(reader: Client, running: Investigation) -> None:
    door = f"/incidents/{running.incident_id}/investigations/{running.pk}/traces/"
    assert "Upload one" in text_of(reader.get(door))
    raw = (RECORDED / "holmes_cascading_failure.json").read_bytes()
    packed = SimpleUploadedFile("trace.json.gz", gzip.compress(raw))
    answer = reader.post(door, {"file": packed, "form": "auto"})
    trace = Trace.objects.get()
    assert answer.headers["Location"] == address(running, f"?trace={trace.pk}")
    assert (trace.origin, trace.by) == ("person", str(Trace.objects.get().by))
    assert "openai-chat" in text_of(reader.get(door))


@pytest.mark.parametrize(("raw", "said"), [(b"", "empty"), (b"<html>", "neither JSON"), (b"\xff", "not UTF-8")])
def test_an_upload_that_is_no_trace_is_told_so(reader: Client, running: Investigation, raw: bytes, said: str) -> None:
    door = f"/incidents/{running.incident_id}/investigations/{running.pk}/traces/"
    answer = reader.post(door, {"file": SimpleUploadedFile("trace.json", raw), "form": "auto"})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Trace.objects.exists()


def test_two_investigations_are_compared(
    reader: Client, principal: Any, open_incident: Callable[..., Incident]
) -> None:
    incident = open_incident()
    looks = []
    for attempts, more in ((3, True), (4, False)):
        Incident.objects.filter(pk=incident.pk).update(status="open")
        look = investigations.start(principal, incident.pk)
        job = find_job(look, attempts=attempts)
        if more:
            count_errors(look)
        found = handed_in(("job_completed", job.ref))
        submissions.submit(principal, look.pk, {**found, "answer": f"It ran in attempt {attempts}44."})
        looks.append(look)
    page = text_of(reader.get(f"/incidents/{incident.pk}/survival/"))
    assert re.search(r"<code>/job/attempts</code> 3 → 4", page)
    assert re.search(r"<b>count_errors</b>.*?only in the first", page, re.DOTALL)
    assert re.search(r"Only the first says.*344.*Only the second says.*444", page, re.DOTALL)
    swapped = text_of(reader.get(f"/incidents/{incident.pk}/survival/?one={looks[1].pk}&other={looks[0].pk}"))
    assert re.search(r"<b>count_errors</b>.*?only in the second", swapped, re.DOTALL)


def test_tools_over_time_are_those_that_workers_measured(reader: Client, handed: Investigation) -> None:
    assert "Nothing was measured yet." in text_of(reader.get("/survival/"))
    survival_reports.measure_log(handed.pk)
    page = text_of(reader.get("/survival/"))
    assert "<code>find_job</code>" in page
    assert LIMITATION in page


def test_what_a_person_changed_of_the_answer_is_held_against_the_evidence(
    reader: Client, handed: Investigation, make_person: Callable[..., Any]
) -> None:
    from audit import outbox
    from audit.models import Outbox
    from gate.triage import verdicts
    from gate.triage.models import Draft, Sending

    job = Outbox.objects.get(task=submissions.TASK, subject_id=handed.pk)
    outbox.run(job.task, job.pk, verdicts.render)
    draft = Draft.objects.get()
    Sending.objects.create(
        draft=draft, by=make_person("mia"), to="a@example.com", subject="It", status="sent",
        text=ANSWER.replace("47 minutes", "12 hours"),
    )  # fmt: skip
    page = text_of(reader.get(address(handed)))
    assert re.search(r"Values that the draft does not have.*<code>12 hours</code> in no evidence", page, re.DOTALL)
    assert re.search(r"Left out: <code>47 minutes</code>", page)


def test_the_answer_of_a_draft_is_marked_by_what_it_rests_on(reader: Client, handed: Investigation) -> None:
    from audit import outbox
    from audit.models import Outbox
    from gate.triage import verdicts
    from gate.triage.models import Draft

    job = Outbox.objects.get(task=submissions.TASK, subject_id=handed.pk)
    outbox.run(job.task, job.pk, verdicts.render)
    page = text_of(reader.get(f"/drafts/{Draft.objects.get().pk}/"))
    assert re.search(r'<mark class="rests rests--unsupported"[^>]*>47 minutes', page)
    assert re.search(r'<mark class="rests rests--supported"[^>]*>90412', page)
    assert "1 value in no evidence" in page
    assert address(handed) in page


def words_of(template: Path) -> Iterator[str]:
    yield from re.findall(r"[a-z]+", template.read_text().lower())


def test_no_template_says_that_evidence_was_of_no_use() -> None:
    every = sorted(Path(settings.BASE_DIR, "templates").rglob("*.html"))
    assert len(TEMPLATES) > 10
    assert not [path.name for path in every if "unused" in set(words_of(path))]


def test_every_page_that_shows_a_figure_says_what_it_cannot_know() -> None:
    figures = [path for path in TEMPLATES if re.search(r'class="(?:tally|lanes|num)', path.read_text())]
    silent = [path.name for path in figures if not re.search("limits.html|limitation", path.read_text())]
    assert silent == ["survival_traces.html"]  # its figures count records of a file


def test_each_part_of_a_report_that_is_sent_on_says_it_for_itself() -> None:
    (report,) = [path for path in TEMPLATES if path.name == "survival_report.html"]
    parts = report.read_text().split("<section")[1:]
    assert len(parts) == 4
    assert all("limits.html" in part.split("</section>")[0] for part in parts)
