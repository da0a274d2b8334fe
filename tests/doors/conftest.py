"""A world in which every door has something behind it: what may be decided, and what is another agent's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from audit import agents, budgets, log, receipts, redacting, twohands, vouching
from audit.agents import Principal
from audit.kinds import Kind
from audit.models import Agent, Definition, Entry, Hold, Override, Redaction, SavedView, Verification
from evidence import metric_asks, strangers
from evidence.metrics import example as metric_example
from evidence.metrics import valuation
from evidence.models import MetricAsk
from gate.admission import judging, policies
from gate.config import smtp
from gate.people import key_assertions, mail
from gate.people.models import Change, Key, Person
from gate.triage import intake
from gate.triage.models import Draft, Incident, IntakeToken, Investigation, Review
from gate.triage.rule_models import Drift, Flip, Job, PromotedCase, Replay, Trial
from gate.writes import admitting, digests, grouping
from gate.writes.models import Execution, Preview, PreviewRequest, WriteRequest
from tests import cited
from tests.earned import as_gathered, as_golden, as_tried
from tests.evidence import bodies
from tests.evidence.conftest import certified, dsn_of, scratch_cluster, source  # noqa: F401 - fixtures
from tests.evidence.serving import running
from tests.gate.conftest import line
from tests.triage import trying
from tests.triage.conftest import JOB_FAILED, record_call
from tests.writes.conftest import BODY as TARGET

NOT_THERE = 999_999_999
METRIC = "failed_attempts"
PASSWORD = "correct horse battery"
# Words that stand nowhere but in what another agent asked, got and proposed, and in what code and people decided.
OF_THE_OTHER = ("others-argument", "others-result", "others-answer", "others-write", "others-hypothesis")
OF_OUTCOMES = ("outcome-reason", "outcome-receipt", "outcome-check")


@pytest.fixture(autouse=True)
def no_strangers_left() -> Iterator[None]:
    """What a test counted is not written when the run ends and its database is gone."""
    yield
    strangers.counting.counts.clear()


@pytest.fixture(autouse=True)
def letters_go_nowhere(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mail is set up, so that its doors are there; what comes through is taken and dropped."""
    settings.MAIL = smtp.parse("smtp://127.0.0.1:1", "counterseal@example.org")
    monkeypatch.setattr(mail, "send", lambda **_: None)


@pytest.fixture(autouse=True)
def the_seal_may_take_longer_than_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sealer runs here, and on what is older than ten seconds nothing is sent without its seal."""
    monkeypatch.setattr(receipts, "SEALED_WITHIN", timedelta(hours=1))


@dataclass
class Ruled:
    """What is behind the doors of rules."""

    running: Trial
    flip: Flip
    replay: Replay
    drift: Drift


@dataclass
class World:
    """What there is, and who comes to the doors."""

    agent: Principal
    agent_token: str
    intake_token: str
    other: Agent
    people: dict[str, Person]
    own_draft: Draft
    agreed_draft: Draft
    others_draft: Draft
    running: Investigation
    others_running: Investigation
    write: WriteRequest
    own_write: WriteRequest
    ran: WriteRequest
    others_entry: log.Recorded
    waiting: Incident
    closed: Incident
    change: Change
    hold: Hold
    redaction: Redaction
    verification: Verification
    override: Override
    views: list[SavedView]
    ruled: Ruled
    keys: list[Key]

    @property
    def preview(self) -> Preview:
        return self.write.previews.get()

    def numbers(self, noun: str = "") -> list[int]:
        """The numbers of what a noun names, or of everything, and one that nothing has."""
        of = {
            "drafts": [self.own_draft.pk, self.others_draft.pk, self.agreed_draft.pk],
            "writes": [self.own_write.pk, self.write.pk, self.ran.pk],
            "incidents": [self.waiting.pk, self.closed.pk, self.running.incident_id],
            "investigations": [self.running.pk, self.others_running.pk],
            "audit": [self.others_entry.seq],
            "tokens": [self.other.tokens.get().pk],
            "intake-tokens": [IntakeToken.objects.get().pk],
            "people": [self.people["viewer"].pk, self.people["on_call"].pk],
            "changes": [self.change.pk],
            "holds": [self.hold.pk],
            "redactions": [self.redaction.pk],
            "overrides": [self.override.pk],
            "verifications": [self.verification.pk],
            "views": [view.pk for view in self.views],
            "sessions": [1],
            "keys": [key.pk for key in self.keys],
            "trials": [self.ruled.running.pk],
            "replay": [self.ruled.replay.pk],
            "drift": [self.ruled.drift.pk],
            "asks": [MetricAsk.objects.get(kind="explain").pk],
            "decisions": [Entry.objects.filter(kind="admission.decided", tool="restarts").latest("seq").seq],
        }  # fmt: skip
        return [*(of[noun] if noun in of else sorted(set().union(*of.values()))), NOT_THERE]

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no answer on the agents' plane may hold."""
        refs = (
            f"A-{self.others_entry.seq}",
            self.write.ref,
            self.own_draft.ref,
            self.others_draft.ref,
            self.agreed_draft.ref,
        )
        return (*OF_THE_OTHER, *OF_OUTCOMES, *(f'"{ref}"' for ref in refs))


@pytest.fixture
def world(define: Callable[..., Any], make_agent: Callable[..., Any], make_person: Callable[..., Any]) -> World:
    """Two agents, each with a draft, a running investigation and a write, and people of three roles."""
    kind = define("class", "job_failed", {**JOB_FAILED, "metrics": [METRIC]})
    target = define("target", "shop", TARGET)
    policy = define("policy", "restarts", dict(policies.EXAMPLE))
    changed = {**policies.EXAMPLE, "title": "Restarts of services"}
    twohands.draft("policy", "restarts", changed, by=policy.drafted_by, reason="Another title.")
    define("source", "shop", bodies.source())
    metric = define("metric", METRIC, {**metric_example.EXAMPLE, "source": "shop"})
    retitled = {**metric.body, "title": "Failed attempts, by error"}
    as_golden(
        twohands.draft("metric", METRIC, retitled, by=metric.drafted_by, reason="Another title."), metric.drafted_by
    )
    prices = define("valuation", "prices", dict(valuation.EXAMPLE))
    dated = {**prices.body, "review_by": "2028-06-01"}
    twohands.draft("valuation", "prices", dated, by=prices.drafted_by, reason="Looked at again.")
    metric_asks.ask(metric, "explain", {"scope": {"job_kind": "refund"}}, by=metric.drafted_by)
    listed = define("tool", "list_jobs", bodies.tool(source="shop"))
    changed = bodies.tool(source="shop", purpose="All jobs.")
    twohands.draft("tool", "list_jobs", changed, by=listed.drafted_by, reason="Another purpose.")
    people = {role: make_person(role.replace("_", "-"), role) for role in ("viewer", "on_call", "admin", "auditor")}
    other, _ = make_agent("other-agent")
    own, token = make_agent("asker")
    principal = agents.authenticate(token)
    assert principal is not None
    answers = {"replicas": {"value": "one", "by": "probe"}}
    judging.recorded(
        judging.judge("restarts", answers), principal, subject="restart", answers=answers, action={}, model={}
    )
    others_running = investigation(kind, other, 2)
    said = {"job_id": "others-argument"}
    made = World(
        agent=principal,
        agent_token=token,
        intake_token=intake.issue_token("doors-monitor", log.Actor("person", "Ada", "ada")),
        other=other,
        people=people,
        own_draft=gathered(draft(kind, own, 1)),
        agreed_draft=agreed(draft(kind, other, 3), people["on_call"]),
        others_draft=draft(kind, other, 2),
        running=investigation(kind, own, 1),
        others_running=others_running,
        write=proposed(target, other, "others-write"),
        own_write=proposed(target, own, "own-write"),
        ran=executed(proposed(target, other, "others-run"), people["on_call"]),
        others_entry=record_call(others_running, "find_job", said, {"job": "others-result"}),
        waiting=incident(kind, "waiting", "open"),
        closed=ended(draft(kind, other, 4)),
        change=Change.objects.create(
            person=people["auditor"],
            act="role",
            role="admin",
            reason="for a test",
            drafted_by=Person.objects.get(username="first-hand"),
        ),
        hold=Hold.objects.create(incident_id=NOT_THERE, reason="for a test", held_by=people["auditor"]),
        redaction=a_redaction(others_running),
        verification=settled(),
        override=an_override(),
        views=[
            SavedView.objects.create(name=f"of {role}", query="status=ok", is_shared=True, owner=person)
            for role, person in people.items()
        ],
        ruled=ruled(draft(kind, other, 5)),
        keys=[a_key(people["on_call"], status="confirmed"), a_key(people["viewer"])],
    )
    changed = {**JOB_FAILED, "budget_calls": 4}
    twohands.draft("class", "job_failed", changed, by=Person.objects.get(username="first-hand"), reason="for a test")
    request = PreviewRequest.objects.create(write=made.write, by=people["on_call"])
    Preview.objects.create(
        request=request, write=made.write, edition=made.write.edition, row_count=1, rows=[], effect_digest="1" * 64,
        digest="2" * 64, footprint={"shop.jobs": [0, 1, 0]},
    )  # fmt: skip
    return made


def a_key(person: Person, **about: Any) -> Key:
    """A passkey that nobody here can sign with."""
    name = key_assertions.base64url(f"key of {person.username}".encode())
    return Key.objects.create(
        person=person, name=name, credential_id=name, public_key=name, sign_count=0, aaguid="0", may_be_backed_up=False,
        is_backed_up=False, quarantined_until=timezone.now(), **about,
    )  # fmt: skip


def ended(over: Draft) -> Incident:
    """An incident that was closed, with evidence that a case can be made of."""
    of = over.investigation.incident
    of.status, of.closed_at = "closed", timezone.now()
    of.save()
    return of


def ruled(over: Draft) -> Ruled:
    """Versions of a rule: one that has earned it, one with a flip to be signed, one that is being tried; and a case."""
    by = Person.objects.get(username="first-hand")
    PromotedCase.objects.create(
        investigation=over.investigation, incident=over.investigation.incident, name="shop", hypothesis="worker_lost",
        document="{}", sha256="0" * 64, expected="fail", outcome="not_fine", outcome_source="customer",
        outcome_reference="A letter", outcome_on=timezone.localdate(), why="It shows.", promoted_by=by,
    )  # fmt: skip
    first, second, third = (trying.drafted(by, number) for number in (1, 2, 1))
    as_tried(first, by)
    flip = Flip.objects.create(
        trial=as_tried(second, by), kind=Flip.Kind.FAIL_TO_PASS, subject="a case", what="a case", checks=[], reasons=[],
        receipt_sha256="3" * 64,
    )  # fmt: skip
    running_trial = as_tried(third, by, status=Job.RUNNING)
    replay = Replay.objects.create(asked_by=by)
    drift = Drift.objects.create(tool="find_job", path="/job/state", what="unlisted", value='"gone"', entry_seq=1)
    return Ruled(running_trial, flip, replay, drift)


def a_redaction(of: Investigation) -> Redaction:
    """A request about an entry of its own, by somebody who is none of those who come."""
    receipt = record_call(of, "find_job", {"job_id": "others-argument"}, {"job": "others-result"})
    entry = Entry.objects.get(seq=receipt.seq)
    asker = Person.objects.get(username="first-hand")
    return redacting.ask(entry, part="args", reason="for a test", by=asker)


def settled() -> Verification:
    """A verification with a finding, which a later clean one has settled: approving is on."""
    found = cited.verified(("D1", "A-1"))
    cited.verified()
    return found


def an_override() -> Override:
    """A request by somebody who is none of those who come, for when the sealer finds the tree wrong."""
    asker = Person.objects.get(username="first-hand")
    made = Override.objects.create(sealer="tampered 0", reason="for a test", asked_by=asker, asked_by_name=str(asker))
    with transaction.atomic():
        said = {"rows": vouching.rows(made)}
        log.record_with(Kind.LOG_OVERRIDDEN, log.Actor.person(asker), subject="log", status="asked", args=said)
    return made


def incident(kind: Definition, key: str, status: str) -> Incident:
    now = timezone.now()
    return Incident.objects.create(
        kind="incident", incident_class=kind, title="A job failed", severity="high", subject={"job_id": 1},
        dedup_key=key, began_at=now, watch_from=now, status=status, opened_by="monitor",
    )  # fmt: skip


def investigation(kind: Definition, agent: Agent, number: int) -> Investigation:
    return Investigation.objects.create(
        incident=incident(kind, f"running-{number}", "investigating"), agent=agent, briefing={}, budget_calls=10_000,
        deadline_at=timezone.now() + timedelta(hours=1),
    )  # fmt: skip


def draft(kind: Definition, agent: Agent, number: int) -> Draft:
    now = timezone.now()
    over = Investigation.objects.create(
        incident=incident(kind, f"drafted-{number}", "drafted"), agent=agent, status="decided", briefing={},
        budget_calls=12, deadline_at=now + timedelta(hours=1), hypothesis="others-hypothesis", answer="others-answer",
        submitted_at=now,
    )  # fmt: skip
    return Draft.objects.create(
        investigation=over, outcome="pass", rule="transient_failure_recovered", rule_version=1, rule_hash="0" * 64,
        checks=[line(1, "holds", title="outcome-check")],
        reasons=[{"code": "unreadable", "headline": "outcome-reason", "sentence": "It was not read."}],
        receipt={**cited.receipt(), "kept": "outcome-receipt"}, decided_at=now,
    )  # fmt: skip


def gathered(over: Draft) -> Draft:
    """The draft of a pass that is earned, so that somebody on call may agree with it."""
    look, recovered = over.investigation, timezone.now() - timedelta(hours=4)
    look.hypothesis = trying.NAME
    look.save()
    about = look.incident
    about.subject, about.facts = {"job_id": 90412}, {"error": "ReadTimeout", "job_kind": "settle_payouts"}
    about.began_at, about.watch_from = recovered - timedelta(minutes=5), recovered
    about.save()
    return as_gathered(over)


def agreed(over: Draft, by: Person) -> Draft:
    Review.objects.create(draft=over, act="agree", reason="It is fine.", seen_version=1, by=by)
    over.status, over.version = "agreed", 2
    over.save()
    return over


def proposed(target: Definition, agent: Agent, title: str) -> WriteRequest:
    write = WriteRequest(
        target=target, title=title, statement="update shop.jobs set state = $1 where job_id = $2", verb="update",
        table="shop.jobs", parameters=[{"t": "text", "v": "queued"}, {"t": "bigint", "v": "7"}], reason="It is stuck.",
        proposed_by_agent=agent, expires_at=timezone.now() + timedelta(hours=4),
    )  # fmt: skip
    write.proposal_digest = digests.of_proposal(write)
    write.save()
    admitting.admit(write.pk)
    WriteRequest.objects.filter(pk=write.pk).update(version=1)  # one number is typed into every form that decides
    write.refresh_from_db()
    return write


def executed(write: WriteRequest, by: Person) -> WriteRequest:
    """A write that ran, of more rows than stand on one page, and that could be undone."""
    rows = [changed(number) for number in range(grouping.SHOWN + 1)]
    column = {"generated": False, "as_text": True}
    shape = {
        "oid": "1", "server": 18, "key": ["job_id"], "triggers": [],
        "columns": [{"name": "job_id", "type": "bigint", **column}, {"name": "state", "type": "text", **column}],
    }  # fmt: skip
    seen = Preview.objects.create(
        request=PreviewRequest.objects.create(write=write, by=by), write=write, edition=write.edition, rows=rows,
        row_count=len(rows), effect_digest="4" * 64, digest="5" * 64, footprint={"shop.jobs": [0, len(rows), 0]},
        shape=shape,
    )  # fmt: skip
    Execution.objects.create(
        write=write, preview=seen, approvals=[], ledger_key=digests.ledger_key(write), state="executed", rows=rows,
        row_count=len(rows), effect_digest=seen.effect_digest, finished_at=timezone.now(),
    )  # fmt: skip
    write.status, write.statement = "executed", "UPDATE shop.jobs SET state = $1 WHERE job_id = $2"
    write.save()
    return write


def changed(number: int) -> dict[str, Any]:
    before, after = {"job_id": str(number), "state": "running"}, {"job_id": str(number), "state": "queued"}
    return {"key": {"job_id": str(number)}, "columns": list(before), "before": before, "after": after}


@pytest.fixture
def served(
    world: World,
    define: Callable[..., Any],
    certified: Any,  # noqa: F811
    as_role: Callable[[str], None],
) -> Iterator[str]:
    """The address of the agents' plane as it runs, with its own role; a tool there reads a proven source."""
    define("tool", "find_job", bodies.tool())
    Agent.objects.update(**dict.fromkeys(budgets.COLUMNS, budgets.MOST))
    as_role("agents")
    with running() as url:
        yield url
    as_role("owner")


def session_of(person: Person) -> Client:
    """A browser in which the person signed in."""
    client = Client(raise_request_exception=False)
    client.force_login(person)
    return client
