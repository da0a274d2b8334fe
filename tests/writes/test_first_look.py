from __future__ import annotations

from typing import Any

import pytest

from audit.models import Outbox
from evidence import allowing, proof
from gate.writes import actions, admitting, editing, first_look
from gate.writes.errors import Unfit
from gate.writes.models import FirstLook
from gate.writes.parameters import Parameter
from gate.writes.statement import canonical
from tests.writes.admissions import checks
from tests.writes.conftest import BODY, REQUEUE_PARAMETERS
from tests.writes.test_screens import page, plain

pytestmark = pytest.mark.django_db

PROVEN = proof.require
READER = "writes_test_reader"
SOURCE = {
    "kind": "postgresql", "reader_env": "LOOK_READER_DSN", "doctor_env": "LOOK_DOCTOR_DSN",
    "environment": "production", "schema": "shop",
}  # fmt: skip


@pytest.fixture
def looked(superuser: Any, shop: Any, target: Any, define: Any, monkeypatch: Any, propose: Any, mia: Any) -> Any:
    """Propose, ask for a preview, and take the first look: (write, look). The writer's credential is gone."""
    if superuser.execute("select 1 from pg_roles where rolname = %s", [READER]).fetchone() is None:
        superuser.execute(f"create role {READER} login password 'r'")
    shop.execute(f"grant usage on schema shop to {READER}; grant select on shop.jobs, shop.lie to {READER}")
    monkeypatch.setenv("LOOK_READER_DSN", f"host={shop.info.host} user={READER} password=r dbname={shop.info.dbname}")
    monkeypatch.delenv("WRITES_TEST_DSN")
    monkeypatch.setattr(proof, "require", lambda source: None)
    define("source", "look", SOURCE)
    define("target", "shop", {**BODY, "first_look_source": "look"})

    def make(*args: Any) -> Any:
        write = propose(*args)
        request = actions.ask_preview(write, mia)
        first_look.make(request.pk)
        return write, FirstLook.objects.get(request=request)

    return make


def test_rows_are_seen_before_and_after_without_a_credential_that_writes(looked: Any, job: Any, entries: Any) -> None:
    write, look = looked()
    (row,) = look.rows
    assert (look.error, row["before"]["state"], row["after"]["state"]) == ("", "running", "queued")
    assert (row["before"]["locked_by"], row["after"]["locked_by"]) == ("worker-7", None)
    assert (job(7), write.previews.count()) == ("running", 0)
    assert [entry.kind for entry in entries(write.ref)] == [
        "write.proposed",
        "write.admitted",
        "write.looked_at",
        "write.looked_at",
    ]


@pytest.mark.parametrize(
    ("statement", "parameters", "states"),
    [
        ("delete from shop.jobs where job_id <= $1", [{"t": "bigint", "v": "2"}], [("running", None)] * 2),
        ("delete from shop.jobs j using shop.lie l where l.job_id = j.job_id", None, [("running", None)]),
        (
            "update shop.jobs as j set state = l.state from shop.lie as l where l.job_id = j.job_id",
            None,
            [("running", "a lie")],
        ),
        (
            "update shop.jobs set state = $1 || (select max(state) from shop.lie), price = price * $2 where job_id = 3",
            [{"t": "text", "v": "no "}, {"t": "numeric", "v": "2.5"}],
            [("running", "no a lie")],
        ),
    ],
)
def test_it_reads_what_the_statement_would_change(looked: Any, statement: str, parameters: Any, states: Any) -> None:
    _, look = looked(statement, parameters)
    assert look.error == ""
    assert [(row["before"]["state"], row["after"] and row["after"]["state"]) for row in look.rows] == states


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("insert into shop.jobs (job_id, kind, state) values (99, 'a', 'b')", "An insert changes no row"),
        ("update shop.jobs set state = default", "What state gets is known only when it runs"),
        ("update shop.jobs set (state, kind) = (select 'a', 'b')", "What state gets is known only when it runs"),
        ("update shop.jobs set state = 'a'", "more than the 10 rows"),
        ("delete from shop.children", "may not use the relation shop.children"),
    ],
)
def test_what_it_cannot_show_is_said(looked: Any, statement: str, sentence: str) -> None:
    _, look = looked(statement)
    assert (sentence in look.error, look.rows) == (True, [])


def test_what_it_reads_is_one_select_of_the_statements_own_parts() -> None:
    statement = canonical("update shop.jobs set price = price + $1 where job_id = $2", 2)
    assert first_look.as_select(
        statement, [Parameter("numeric", "1"), Parameter("bigint", "7")], shown_in="shop_read"
    ) == (
        "SELECT to_jsonb(jobs.*) AS before, to_jsonb(jobs.*) || jsonb_build_object('price', price + $1::text::numeric)"
        " AS after FROM shop_read.jobs WHERE job_id = $2::text::bigint"
    )
    with pytest.raises(Unfit, match="An insert"):
        first_look.as_select(canonical("insert into shop.jobs (job_id) values (1)", 0), [], shown_in="shop")


def test_it_comes_with_the_proposal_and_with_each_edition(looked: Any, client: Any, mia: Any, agent: Any) -> None:
    write, _ = looked()
    FirstLook.objects.all().delete()
    asked = checks(write).filter(queue="reads")
    assert asked.count() == 1
    for _ in range(2):
        first_look.make_unasked(write.pk)
    (look,) = FirstLook.objects.filter(write=write)
    assert (look.request, look.error, look.rows[0]["after"]["state"]) == (None, "", "queued")
    client.force_login(mia)
    assert "First look read through look" in plain(page(client, write))
    changed = [{"t": "text", "v": "done"}, *REQUEUE_PARAMETERS[1:]]
    given = {"statement": write.statement, "parameters": changed, "title": write.title, "reason": write.reason}
    edited = editing.edit(write, seen_version=write.version, by_agent=agent, **given)
    assert "First look read through" not in plain(page(client, write))
    first_look.make_unasked(write.pk)
    assert not FirstLook.objects.filter(edition=2).exists()  # what is still being checked, nobody is shown
    admitting.admit(edited.pk)
    newest = FirstLook.objects.latest("pk")
    assert (newest.edition, newest.rows[0]["after"]["state"]) == (2, "done")


def test_through_views_it_shows_what_they_show(looked: Any, shop: Any, define: Any, propose: Any) -> None:
    shop.execute(
        "create schema shop_read; create view shop_read.jobs as select job_id, state, locked_by from shop.jobs;"
        f"grant usage on schema shop_read to {READER}; grant select on shop_read.jobs to {READER};"
        f"revoke all on shop.jobs from {READER}"
    )
    allowing.forget()  # what the role could use in the shop of the test before
    define("source", "look", {**SOURCE, "schema": "shop_read"})
    write = propose(title="Requeue it")
    first_look.make_unasked(write.pk)
    look = FirstLook.objects.get(write=write)
    assert (look.error, [set(row["columns"]) for row in look.rows]) == ("", [{"job_id", "state", "locked_by"}])


def test_a_source_that_is_not_proven_shows_nothing(looked: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(proof, "require", PROVEN)
    _, look = looked()
    assert look.rows == []
    assert "The source look is not read, for its credential has not been proven yet" in look.error


def test_it_is_asked_for_together_with_the_preview_where_the_target_names_a_source(looked: Any, mia: Any) -> None:
    _, look = looked()
    jobs = Outbox.objects.filter(subject_id=look.request_id, task__startswith="gate.writes.tasks.")
    jobs = jobs.exclude(task="gate.writes.tasks.admit_write")
    assert sorted(jobs.values_list("task", "queue")) == [
        ("gate.writes.tasks.first_look", "reads"), ("gate.writes.tasks.preview_write", "writes"),
    ]  # fmt: skip
    first_look.make(look.request_id)
    assert FirstLook.objects.filter(request=look.request_id).count() == 1


def test_without_a_source_nobody_looks(propose: Any, mia: Any) -> None:
    request = actions.ask_preview(propose(), mia)
    assert not Outbox.objects.filter(subject_id=request.pk, task="gate.writes.tasks.first_look").exists()


def test_the_page_says_whose_eyes_they_were(looked: Any, client: Any, mia: Any) -> None:
    write, _ = looked()
    client.force_login(mia)
    words = plain(page(client, write))
    assert "First look read through look, with a credential that cannot write; nothing was run" in words
    assert "Approve:" not in words


def test_the_source_of_a_first_look_is_a_name(define: Any, mia: Any) -> None:
    from gate.writes import targets

    targets.check_body("shop", {**BODY, "first_look_source": "look"})
    with pytest.raises(ValueError, match="is the name of a source"):
        targets.check_body("shop", {**BODY, "first_look_source": ""})
