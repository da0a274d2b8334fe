"""The gateway: what is recorded, in which order things are refused, and what an agent is told."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import psycopg
import pytest

from audit import log, reading
from audit.models import Definition, Entry
from evidence import catalog, gateway, proof, reader
from evidence.errors import Problem
from tests.evidence import bodies

pytestmark = pytest.mark.django_db


def call(asker: Any, tool: str, given: dict[str, Any], investigation: int | None = None) -> gateway.CallResult:
    return gateway.call(asker[0], tool, given, investigation)


def problem(asker: Any, tool: str, given: dict[str, Any], investigation: int | None = None) -> Problem:
    with pytest.raises(Problem) as caught:
        call(asker, tool, given, investigation)
    return caught.value


def newest(kind: str) -> Entry:
    return Entry.objects.filter(kind=kind).order_by("-seq")[0]


def entry(audit_id: str) -> Entry:
    return Entry.objects.get(seq=int(audit_id.removeprefix("A-")))


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.fixture
def find_job(certified: Any, define: Any) -> Definition:
    found: Definition = define("tool", "find_job", bodies.tool())
    return found


def test_a_call_is_recorded_before_and_after_with_what_the_agent_got(
    find_job: Definition, certified: Any, asker: Any, scope_of: Any
) -> None:
    scope_of(asker[0], "find_job")
    answer = call(asker, "find_job", {"job_id": 13})
    assert answer.result == {"job": {"id": 13, "state": "failed"}}
    assert (answer.truncated, answer.budget_left) == (False, 4)
    finished = entry(answer.audit_id)
    started = Entry.objects.get(pk=finished.parent)
    assert (started.kind, finished.kind) == ("call.started", "call.finished")
    assert started.seq < finished.seq
    for one in (started, finished):
        assert (one.tool, one.tool_version, one.tool_hash) == ("find_job", 1, find_job.digest)
        assert (one.source, one.certificate) == ("scratch", str(certified.pk))
        assert (one.actor, one.principal, one.incident_id, one.run_id) == ("asker", "asker-owner", 318, "7001")
        assert (one.subject, one.call_id) == ("I-318", finished.call_id)
    assert finished.status == "ok"
    assert finished.duration_ms is not None
    content = reading.payload_of(finished.pk)
    assert (content.args, content.result) == ({"job_id": 13}, answer.result)


def test_nothing_found_is_an_answer(find_job: Definition, asker: Any, scope_of: Any) -> None:
    scope_of(asker[0], "find_job")
    assert call(asker, "find_job", {"job_id": 999_999}).result == {"job": None}


def test_unknown_forbidden_and_disabled_tools_look_the_same(
    find_job: Definition, define: Any, asker: Any, scope_of: Any
) -> None:
    define("tool", "of_another_class", bodies.tool())
    retired = define("tool", "retired", bodies.tool())
    Definition.objects.filter(pk=retired.pk).update(status="retired")
    first = define("tool", "only_drafted", bodies.tool())
    Definition.objects.filter(pk=first.pk).update(status="draft")
    scope_of(asker[0], "find_job", "retired", "only_drafted", "no_such_tool")
    before = Entry.objects.order_by("-seq")[0].seq
    told = [problem(asker, name, {"job_id": 1}) for name in
            ("no_such_tool", "of_another_class", "retired", "only_drafted", "x\0y", "propose_write2", "")]  # fmt: skip
    told.append(problem(asker, "of_another_class", {"wrong": "arguments"}))
    scope_of(asker[0], "find_job", decision_point=find_job.activated_at)  # a live tool knows nothing of the past
    told.append(problem(asker, "find_job", {"job_id": 1}))
    assert {(one.status, one.code, one.sentence, one.audit_id) for one in told} == {
        (404, "unknown_tool", told[0].sentence, "")
    }
    refused = Entry.objects.filter(seq__gt=before, kind="call.refused", actor="asker", error_class="unknown_tool")
    assert refused.count() == len(told)
    # What the agent cannot tell apart, the log does: which contract there was, if any.
    hashes = {name: Definition.objects.get(kind="tool", name=name).digest for name in ("of_another_class", "find_job")}
    assert {(one.status, one.tool, one.tool_hash) for one in refused if one.tool in hashes} == {
        ("refused", name, digest) for name, digest in hashes.items()
    }
    assert {(one.status, one.tool_hash, one.source) for one in refused if one.tool not in hashes} == {
        ("refused", "", "")
    }


def test_a_token_without_the_scope_sees_no_tool(find_job: Definition, make_agent: Any, scope_of: Any) -> None:
    from audit import agents

    _, token = make_agent("proposer", scopes=("propose",))
    principal = agents.authenticate(token)
    assert principal is not None
    scope_of(principal, "find_job")
    assert problem((principal, token), "find_job", {"job_id": 1}).code == "unknown_tool"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "job_id is missing."),
        ({"job_id": "1"}, "job_id must be of type integer."),
        ({"job_id": 1, "limit": 2}, "limit is not a property of this tool."),
        ({"job_id": float("nan")}, "The arguments hold something that JSON does not."),
        ({"job_id": nested(500)}, "The arguments nest deeper than 64 levels."),
        ({"job_id": nested(5000)}, "The arguments hold something that JSON does not."),
        ({"job_id": 1, "investigation": "7001"}, "investigation is the number of one investigation of yours."),
        ({"job_id": 1, "investigation": True}, "investigation is the number of one investigation of yours."),
    ],
)
def test_wrong_arguments_are_refused_and_recorded(
    find_job: Definition, asker: Any, scope_of: Any, given: dict[str, Any], says: str
) -> None:
    given_scope = scope_of(asker[0], "find_job")
    told = problem(asker, "find_job", given)
    assert (told.status, told.code, told.sentence) == (422, "wrong_arguments", says)
    refused = newest("call.refused")
    assert (refused.actor, refused.error, refused.status) == ("asker", says, "refused")
    assert given_scope.budget == 5


def test_the_investigation_may_stand_among_the_arguments(find_job: Definition, asker: Any, scope_of: Any) -> None:
    scope_of(asker[0], "find_job")
    answer = call(asker, "find_job", {"job_id": 1, "investigation": 7001})
    assert reading.payload_of(entry(answer.audit_id).pk).args == {"job_id": 1}
    assert problem(asker, "find_job", {"job_id": 1, "investigation": 7002}).code == "no_investigation"
    assert problem(asker, "find_job", {"job_id": 1, "investigation": 7001}, 7002).code == "wrong_arguments"


def test_without_budget_nothing_is_read(find_job: Definition, asker: Any, scope_of: Any) -> None:
    scope_of(asker[0], "find_job", budget=1)
    assert call(asker, "find_job", {"job_id": 1}).budget_left == 0
    told = problem(asker, "find_job", {"job_id": 1})
    assert (told.status, told.code) == (429, "budget_spent")
    refused = newest("call.refused")
    assert refused.error_class == "budget_spent"
    assert not Entry.objects.filter(call_id=refused.call_id, kind="call.started").exists()


def test_the_budget_is_taken_for_a_call_that_fails(certified: Any, define: Any, asker: Any, scope_of: Any) -> None:
    define("tool", "divide", bodies.any_tool("select 1 / $1::int as a", "by"))
    given_scope = scope_of(asker[0], "divide")
    told = problem(asker, "divide", {"by": 0})
    assert (told.status, told.code) == (502, "database")
    assert told.sentence == f"The database refused the read: division by zero; the failed call is {told.audit_id}."
    finished = entry(told.audit_id)
    assert (finished.kind, finished.status, finished.error_class) == ("call.finished", "failed", "database")
    assert finished.error == "The database refused the read: division by zero."
    assert reading.payload_of(finished.pk).result is None
    assert given_scope.budget == 4


def test_a_tool_is_tried_once(certified: Any, define: Any, asker: Any, scope_of: Any, reads: list[str]) -> None:
    define("tool", "divide", bodies.any_tool("select 1 / $1::int as a", "by"))
    scope_of(asker[0], "divide")
    problem(asker, "divide", {"by": 0})
    assert len(reads) == 1


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that reach the reader."""
    seen: list[str] = []
    real = reader.read

    def read(dsn: str, sql: str, *args: Any, **more: Any) -> Any:
        seen.append(sql)
        return real(dsn, sql, *args, **more)

    monkeypatch.setattr(reader, "read", read)
    return seen


@pytest.mark.parametrize(
    ("sql", "shape", "code"),
    [
        ("select jsonb_build_object('job', jsonb_build_object('id', 1, 'state', 'S3CR3T')) as result", "object",
         "output_mismatch"),
        ("select jsonb_build_object('other', 1) as result", "object", "output_mismatch"),
        ("select 1 as result", "object", "wrong_shape"),
        ("select '{}'::jsonb as other", "object", "wrong_shape"),
        ("select '{}'::jsonb as result where false", "object", "wrong_shape"),
        ("select '{}'::jsonb as result from app_ro.jobs", "object", "wrong_shape"),
        ("select id from app_ro.jobs", "row", "wrong_shape"),
        ("select jsonb_build_object('job', repeat('x', 300000)) as result", "object", "truncated"),
    ],
)  # fmt: skip
def test_a_result_that_breaks_the_contract_is_kept_out(
    certified: Any, define: Any, asker: Any, scope_of: Any, sql: str, shape: str, code: str
) -> None:
    define("tool", "odd", bodies.tool(sql=sql, shape=shape, parameters=[]))
    scope_of(asker[0], "odd")
    told = problem(asker, "odd", {"job_id": 1})
    assert told.code == code
    assert "S3CR3T" not in told.sentence
    failed = entry(told.audit_id)
    assert (failed.status, failed.error_class) == ("failed", code)
    assert reading.payload_of(failed.pk).result is None


def test_rows_are_cut_and_said_to_be(certified: Any, define: Any, asker: Any, scope_of: Any) -> None:
    define("tool", "many", bodies.any_tool("select generate_series(1, $1::int) as n", "upto"))
    scope_of(asker[0], "many")
    answer = call(asker, "many", {"upto": 1500})
    assert answer.truncated
    assert len(answer.result["rows"]) == 1000
    assert entry(answer.audit_id).truncated


def test_what_the_log_cannot_keep_whole_is_not_shown(certified: Any, define: Any, asker: Any, scope_of: Any) -> None:
    # In the log a letter beyond ASCII takes three times the room, so it passes the reader's cap and not the log's.
    define("tool", "wide", bodies.any_tool("select repeat('é', 1000) as a from generate_series(1, 120)"))
    scope_of(asker[0], "wide")
    assert problem(asker, "wide", {}).code == "too_large"


def test_numbers_keep_their_digits(certified: Any, define: Any, asker: Any, scope_of: Any) -> None:
    define("tool", "price", bodies.any_tool("select $1::numeric as a, 0.10 as b", "amount", shape="row"))
    scope_of(asker[0], "price")
    answer = call(asker, "price", {"amount": 12.1})
    assert answer.result == {"row": {"a": Decimal("12.1"), "b": Decimal("0.10")}}
    assert str(reading.payload_of(entry(answer.audit_id).pk).result["row"]["b"]) == "0.10"


def test_arguments_stand_in_the_logs_line_as_json_and_not_as_python(
    certified: Any, define: Any, asker: Any, scope_of: Any
) -> None:
    define("tool", "echo", bodies.any_tool("select 1 as n", "text", "of", "is_open", "none", parameters=[]))
    scope_of(asker[0], "echo")
    answer = call(asker, "echo", {"text": "a b", "of": {"kind": ["ö", 1.50]}, "is_open": True, "none": None})
    said = Entry.objects.get(pk=entry(answer.audit_id).parent).summary
    assert said == 'echo text=a b of={"kind": ["ö", 1.5]} is_open=true'


def test_secrets_are_masked_in_the_log_and_nowhere_else(certified: Any, define: Any, asker: Any, scope_of: Any) -> None:
    define("tool", "echo", bodies.any_tool("select length($1::text) as n", "password", "note", parameters=["password"]))
    scope_of(asker[0], "echo")
    secret = "hunter2-hunter2"
    answer = call(asker, "echo", {"password": secret, "note": f"Bearer {secret}"})
    assert answer.result == {"rows": [{"n": len(secret)}]}
    finished = entry(answer.audit_id)
    for pk in (finished.pk, finished.parent):
        content = reading.payload_of(pk)
        assert secret not in str(content.args)
        assert "masked" in str(content.args)
    problem(asker, "echo", {"password": secret, "x": 1})
    refused = newest("call.refused")
    assert secret not in str(reading.payload_of(refused.pk).args) + refused.error


def test_a_databases_error_does_not_repeat_a_secret(certified: Any, define: Any, asker: Any, scope_of: Any) -> None:
    define("tool", "cast", bodies.any_tool("select $1::int as n", "password"))
    scope_of(asker[0], "cast")
    told = problem(asker, "cast", {"password": "hunter2-hunter2"})
    failed = entry(told.audit_id)
    assert "invalid input syntax" in failed.error
    assert "hunter2" not in failed.error + told.sentence


def test_a_result_that_nests_too_deeply_is_kept_out(certified: Any, define: Any, asker: Any, scope_of: Any) -> None:
    deep = "(repeat('[', 200) || repeat(']', 200))::jsonb"
    define("tool", "deep", bodies.any_tool(f"select {deep} as a"))
    scope_of(asker[0], "deep")
    assert problem(asker, "deep", {}).code == "too_nested"


def test_a_dark_source_is_not_read(find_job: Definition, certified: Any, asker: Any, scope_of: Any,
                                   monkeypatch: pytest.MonkeyPatch, dsn_of: Any, reads: list[str]) -> None:  # fmt: skip
    given_scope = scope_of(asker[0], "find_job")
    monkeypatch.setenv("SCRATCH_READER_DSN", dsn_of("postgres"))
    proof.certify(Definition.objects.get(kind="source", name="scratch", status="active"))
    told = problem(asker, "find_job", {"job_id": 1})
    assert (told.status, told.code) == (503, "source_dark")
    assert (reads, given_scope.budget) == ([], 5)
    assert newest("call.refused").error_class == "source_dark"


def test_a_source_without_its_variable_is_said(
    find_job: Definition, asker: Any, scope_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope_of(asker[0], "find_job")
    monkeypatch.delenv("SCRATCH_READER_DSN")
    told = problem(asker, "find_job", {"job_id": 1})
    assert told.code == "source_unset"
    assert "SCRATCH_READER_DSN" in told.sentence


@pytest.mark.parametrize("kind", ["call.started", "call.finished", "call.refused"])
def test_what_cannot_be_recorded_is_neither_run_nor_shown(
    find_job: Definition, asker: Any, scope_of: Any, monkeypatch: pytest.MonkeyPatch, reads: list[str], kind: str
) -> None:
    scope_of(asker[0], "find_job")
    real = log.record

    def record(recorded: Any, actor: Any, **about: Any) -> Any:
        if recorded.value == kind:
            raise psycopg.OperationalError("the log's database is down")
        return real(recorded, actor, **about)

    monkeypatch.setattr(log, "record", record)
    given = {} if kind == "call.refused" else {"job_id": 1}
    told = problem(asker, "find_job", given)
    assert (told.status, told.code, told.audit_id) == (503, "log_unavailable", "")
    assert len(reads) == (1 if kind == "call.finished" else 0)


def query_tool(**changes: Any) -> dict[str, Any]:
    """A tool whose SELECT the agent writes."""
    given = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}
    own = {"sql": "", "parameters": ["sql"], "input_schema": given, "output_schema": {"type": "object"}}
    return bodies.tool(**{**own, "shape": "query", **changes})


@pytest.fixture
def query(define: Any, source: Definition) -> None:
    """The scratch source lets agents write SELECTs of their own, and has a tool for them."""
    proof.certify(define("source", "scratch", bodies.source(query=True)))
    define("tool", "query", query_tool())


@pytest.mark.usefixtures("query")
def test_an_agent_writes_a_select_of_its_own_where_the_source_allows_it(asker: Any, scope_of: Any) -> None:
    scope_of(asker[0], "query", budget=20)
    answer = call(
        asker, "query", {"sql": "select state, count(*) as n from jobs group by state order by state limit 1"}
    )
    assert answer.result == {"columns": ["state", "n"], "rows": [{"state": "completed", "n": 125}]}
    assert entry(answer.audit_id).certificate
    for sql, code in (
        ("delete from app_ro.jobs", "not_a_read"),
        ("select 1; select 2", "not_one_statement"),
        # The role may read these columns, but the source does not expose their schema.
        ("select id, tenant, body from app.tickets", "denied"),
        ("select relname from pg_class", "denied"),
        ("select $1::text as a", "parameters"),
    ):
        refused = problem(asker, "query", {"sql": sql})
        assert (refused.code, bool(refused.audit_id)) == (code, True), sql
    assert problem(asker, "query", {}).code == "wrong_arguments"


def test_a_query_is_unknown_as_long_as_its_source_does_not_allow_it(
    certified: Any, define: Any, asker: Any, scope_of: Any
) -> None:
    define("tool", "query", query_tool())
    scope_of(asker[0], "query")
    assert problem(asker, "query", {"sql": "select 1 as a"}).sentence == problem(asker, "no_tool", {}).sentence
    assert "query" not in {offer.name for offer in catalog.offered(asker[0])}
    for value in (False, True):
        proof.certify(define("source", "scratch", bodies.source(query=value)))
        assert ("query" in {offer.name for offer in catalog.offered(asker[0])}) is value


def test_contract_and_hash_stand_in_every_entry_of_a_call_that_had_one(
    find_job: Definition, define: Any, asker: Any, scope_of: Any, source: Definition
) -> None:
    """Also of a call that was refused: it shows under which contract. Only what no contract answers to has none."""
    define("tool", "broken", bodies.any_tool("select 1 / 0 as a"))
    define("tool", "of_another_class", bodies.tool())
    scope_of(asker[0], "find_job", "broken", budget=2)
    asked = {
        "wrong_arguments": ("find_job", {"job_id": "x"}, None),
        "no_investigation": ("find_job", {"job_id": 13}, 7002),
        "unknown_tool": ("of_another_class", {"job_id": 13}, None),
        "query_failed": ("broken", {}, None),
        "": ("find_job", {"job_id": 13}, None),
        "budget_spent": ("find_job", {"job_id": 13}, None),
    }
    for code, (tool, given, investigation) in asked.items():
        if code:
            problem(asker, tool, given, investigation)
        else:
            call(asker, tool, given)
        last = Entry.objects.filter(actor="asker").order_by("-seq")[0]
        with_same = Entry.objects.filter(call_id=last.call_id)
        in_force = Definition.objects.get(kind="tool", name=tool)
        said = {(one.tool, one.tool_version, one.tool_hash, one.source) for one in with_same}
        assert said == {(tool, 1, in_force.digest, "scratch")}, code
    problem(asker, "nothing", {})
    assert (newest("call.refused").tool, newest("call.refused").tool_hash) == ("nothing", "")
