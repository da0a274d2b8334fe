"""What each role may not do, by trying it."""

from typing import Any

import pytest
from django.db import Error, connection, transaction

from audit import log
from audit.kinds import Kind
from gate.config.roles import GRANTS, WRITES_KINDS

pytestmark = pytest.mark.django_db(transaction=True)

ADA = log.Actor("person", "Ada Okafor", "ada")
REFUSED = "42501"

FORBIDDEN = [
    ("agents", "select outcome from triage_draft"),
    ("agents", "select * from triage_review"),
    ("agents", "select * from people_person"),
    ("agents", "select result from audit_payload"),
    ("agents", "select kind from audit_entry"),
    ("agents", "insert into writes_decision default values"),
    ("agents", "insert into writes_previewrequest default values"),
    ("agents", "insert into triage_draft default values"),
    ("agents", "update writes_writerequest set status = 'approved'"),
    ("agents", "update triage_incident set closed_at = now()"),
    ("agents", "update audit_definition set status = 'active'"),
    ("agents", "update audit_outbox set done_at = now()"),
    ("agents", "insert into audit_outbox (task, queue, subject_id, done_at) values ('x', 'x', 1, now())"),
    ("people", "insert into audit_outbox (task, queue, subject_id, sent_at) values ('x', 'x', 1, now())"),
    ("worker", "insert into audit_outbox (task, queue, subject_id, sent_at) values ('x', 'x', 1, now())"),
    ("reads", "select * from triage_incident"),
    ("reads", "update writes_writerequest set status = 'approved'"),
    # It asks the answering worker, and neither answers for it nor lets a write in but through the function.
    ("reads", "insert into audit_outbox (done_at) values (now())"),
    ("reads", "insert into admission_answerask (answers) values ('{}')"),
    ("reads", "insert into writes_admission default values"),
    ("people", "select writes_admit(1, 1, '{}')"),
    ("writer", "select writes_admit(1, 1, '{}')"),
    ("worker", "insert into triage_review default values"),
    ("worker", "insert into writes_decision default values"),
    ("worker", "select * from people_person"),
    ("worker", "update triage_draft set status = 'agreed'"),
    ("worker", "update triage_finding set fact = 'x'"),
    ("writer", "select password from people_person"),
    ("writer", "select password from people_approver"),
    ("writer", "insert into writes_decision default values"),
    ("writer", "insert into writes_previewrequest default values"),
    ("writer", "insert into writes_writerequest default values"),
    ("writer", "update writes_writerequest set statement = 'x'"),
    ("writer", "update writes_decision set act = 'approve'"),
    ("people", "insert into triage_draft default values"),
    ("people", "insert into writes_preview default values"),
    ("people", "insert into writes_execution default values"),
    ("people", "update triage_draft set outcome = 'pass'"),
    ("people", "update writes_writerequest set statement = 'x'"),
    ("people", "update audit_definition set body = '{}'"),
    ("people", "delete from people_person"),
    ("auditor", "select * from people_person"),
    ("sealer", "select * from writes_writerequest"),
    ("publisher", "select * from audit_entry"),
    ("publisher", "select * from audit_payload"),
    ("publisher", "update audit_checkpoint set note = ''"),
    ("sealer", "update audit_witnessed set size = 0"),
    ("people", "update audit_witnessed set size = 0"),
]


def refusal(statement: str) -> str | None:
    """The SQLSTATE that the statement was refused with; None when it ran. It is undone in any case."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
            transaction.set_rollback(True)
    except Error as error:
        return getattr(error.__cause__, "sqlstate", "")
    return None


@pytest.mark.parametrize(("process", "statement"), FORBIDDEN)
def test_it_is_refused(as_role: Any, process: str, statement: str) -> None:
    as_role(process)
    # An undefined column is as good as a refused one: the view does not have it.
    expected = "42703" if "people_approver" in statement else REFUSED
    assert refusal(statement) == expected


@pytest.mark.parametrize("process", [*GRANTS, "owner"])
@pytest.mark.parametrize("table", ["audit_entry", "audit_payload"])
def test_nobody_changes_the_log(as_role: Any, process: str, table: str) -> None:
    log.record(Kind.CALL_STARTED, ADA)
    as_role(process)
    column = "digest" if table == "audit_entry" else "salt"
    for statement in (f"update {table} set {column} = ''", f"delete from {table}", f"truncate {table}"):
        assert refusal(statement) == REFUSED, statement


@pytest.mark.parametrize("process", GRANTS)
def test_a_role_writes_no_kind_of_another_row(as_role: Any, process: str) -> None:
    as_role(process)
    others = sorted({kind for kind in Kind if kind not in WRITES_KINDS[process]})
    for kind in others[:: max(1, len(others) // 6)]:
        # The publisher writes no entry at all.
        with pytest.raises(Exception, match=r"violates check option|permission denied for view audit_append"):
            log.record(kind, ADA)


def test_every_role_records_a_kind_of_its_own(as_role: Any) -> None:
    for process in [process for process in GRANTS if WRITES_KINDS[process]]:
        as_role(process)
        assert log.record(WRITES_KINDS[process][0], ADA).seq


def test_the_agents_see_no_closed_incident(as_role: Any, make_person: Any) -> None:
    from audit.models import Definition
    from gate.triage.models import Incident

    ada = make_person("ada")
    version = Definition.objects.create(
        kind="class", name="failed-job", version=1, body={}, digest="", reason="", drafted_by=ada
    )
    for number, status in ((1, "open"), (2, "closed")):
        Incident.objects.create(
            kind="incident", incident_class=version, title=f"job {number}", severity="high", subject={},
            dedup_key=f"k{number}", began_at="2026-11-29T00:00Z", watch_from="2026-11-29T00:00Z", status=status,
        )  # fmt: skip
    as_role("agents")
    assert list(Incident.objects.values_list("title", flat=True)) == ["job 1"]
    assert Incident.objects.update(title="x") == 1
    assert refusal("update triage_incident set status = 'closed'") == REFUSED
