"""From the monitor's report to the drafts: the real agents' plane over HTTP, the real shop, the real rules."""

import asyncio
from decimal import Decimal

import psycopg
import pytest

from audit import log, reading, twohands
from audit.models import Entry, Outbox
from evidence import proof, reader
from gate.demo import agent, definitions, monitor, shop
from gate.triage import intake
from gate.triage.models import Draft
from gate.triage.tasks import render_verdict
from gate.writes import admission
from gate.writes.models import WriteRequest
from gate.writes.tasks import admit_write
from tests.evidence.serving import running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("gate.config.urls_agents")]
OPERATOR = log.Actor("process", "operator command", "test")


@pytest.fixture
def tokens(define, make_agent, shop_dsn, monkeypatch):
    """An installation as the admins leave it: all defined, the source proven. The agent's and the intake's token."""
    monkeypatch.setenv("SHOP_READER_DSN", shop_dsn(shop.READER))
    monkeypatch.setenv("SHOP_DOCTOR_DSN", shop_dsn(shop.DOCTOR))
    for wanted in definitions.everything():
        define(
            next(kind.name for kind in twohands.KINDS.values() if kind.plural == wanted.plural),
            wanted.name,
            wanted.body,
        )
    proof.certify(twohands.active("source", definitions.SOURCE))
    yield make_agent("triage-agent")[1], intake.issue_token("shop-monitor", OPERATOR)
    reader.close()


@pytest.fixture
def investigate(tokens, as_role, made_at):
    """Report everything, let the agent work, render the verdicts: the drafts in the reports' order."""

    def run():
        as_role("agents")
        with running() as url:
            incidents = monitor.report_all(url, tokens[1], made_at)
            asyncio.run(agent.investigate_all(url, tokens[0], incidents))
        as_role("worker")
        for job in Outbox.objects.filter(task="gate.triage.tasks.render_verdict", done_at=None).order_by("pk"):
            render_verdict(job.pk)
        as_role("owner")
        found = Draft.objects.filter(investigation__incident__in=incidents).select_related("investigation__incident")
        return sorted(found, key=lambda draft: incidents.index(draft.investigation.incident_id))

    return run


@pytest.fixture
def changed_shop(shop_dsn):
    """The same shop on a worse day; as it was before when the test is over."""
    changes = [
        ("insert into shop.log_lines (at, job_kind, worker, error, message)"
         " values (now() - interval '1 hour', 'settle_payouts', 'worker-2', 'ReadTimeout', 'again')",
         "delete from shop.log_lines where message = 'again'"),
        ("update shop.refunds set status = 'failed', failure_reason = 'lost_card' where refund_id = 're_5526'",
         "update shop.refunds set status = 'succeeded', failure_reason = null where refund_id = 're_5526'"),
        ("update shop.jobs set state = 'queued', locked_by = null where job_id = 90433",
         "update shop.jobs set state = 'running', locked_by = 'worker-7' where job_id = 90433"),
    ]  # fmt: skip
    with psycopg.connect(shop_dsn(shop.OWNER), autocommit=True) as owner:
        for change, _ in changes:
            owner.execute(change)
        yield
        for _, back in changes:
            owner.execute(back)


def codes(draft):
    return {reason["code"] for reason in draft.reasons}


def test_the_six_reports_become_two_passes_and_four_fails_each_for_its_own_reason(investigate):
    recovered, uncounted, lag, borrowed, refund, stuck = investigate()
    assert [draft.outcome for draft in (recovered, refund)] == ["pass", "pass"]
    assert (uncounted.outcome, codes(uncounted)) == ("fail", {"unreadable", "not_whole"})
    assert any("not finished, so its count says nothing" in reason["sentence"] for reason in uncounted.reasons)
    assert (lag.outcome, codes(lag)) == ("fail", {"no_rule"})
    assert (borrowed.outcome, "wrong_incident" in codes(borrowed)) == ("fail", True)
    assert (stuck.outcome, codes(stuck)) == ("fail", {"no_rule"})
    check_number(stuck.investigation)


def check_number(looked_into):
    """What the stuck job's kind has cost came over MCP out of the shop's history, and the draft cites its entry."""
    cited = looked_into.findings.get(fact="cost_of_failures")
    entry = Entry.objects.get(seq=int(cited.audit_id[2:]))
    found = reading.payload_of(entry.pk).result
    assert (entry.tool, found["value"], found["mechanism_status"]) == ("explain_metric", Decimal("28.33"), "resolved")
    assert "28.33 EUR, resolved" in looked_into.answer
    told = looked_into.briefing["offered"]["metrics"]
    assert [one["metric_id"] for one in told["selected"]] == ["failed_job_cost", "queue_wait"]
    assert {one["metric_id"]: (one["why"], one["missing"]) for one in told["available"]} == {
        "failed_job_cost": ("fits", []),
        "queue_wait": ("fits", []),
        "error_budget_burn": ("not_of_subject", ["first_minute", "last_minute"]),
    }


def test_one_proposed_write_waits_for_a_person_and_one_is_blocked_before(investigate, as_role):
    stuck = investigate()[-1]
    as_role("reads")
    for job in Outbox.objects.filter(task=admit_write.name):
        admit_write(job.pk)
    as_role("owner")
    write, wide = WriteRequest.objects.order_by("pk")
    assert (write.status, write.incident_id) == ("waiting", stuck.investigation.incident_id)
    assert [parameter["v"] for parameter in write.parameters] == ["queued", "90433", "running", "worker-7"]
    found = admission.latest(write)
    assert (found.rule, found.escalations) == ("production_is_asked", [])
    assert {name: fact["seen"] for name, fact in found.facts.items()} == {
        "environment": "production", "frozen": "none now", "open_incident": f"I-{write.incident_id}",
        "rows_touched": "1 row", "keyed": "the key job_id", 
        "user_data": "every column that is written is labeled otherwise",
        "tables_touched": "shop.jobs, and what the trigger log_job_change, the trigger touch_jobs may touch",
        "reversible": "the trigger log_job_change would act again",
    }  # fmt: skip
    assert (wide.status, wide.incident_id) == ("blocked", stuck.investigation.incident_id)
    assert admission.why_blocked(wide).endswith("(keyed: no, rows_touched: few).")


def test_a_changed_shop_makes_the_same_script_hand_in_something_else(changed_shop, investigate):
    recovered, *_, refund, stuck = investigate()
    assert (recovered.outcome, refund.outcome) == ("fail", "fail")
    assert "came once" in recovered.investigation.answer
    assert "re_5526 is failed" in refund.investigation.answer
    assert stuck.investigation.hypothesis == "transient_failure_recovered"
    assert not WriteRequest.objects.exists()
