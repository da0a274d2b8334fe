"""The pages of tools: what they show, how a version is drafted in fields, and who does what."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from audit import reading, twohands
from audit.models import Definition, Entry
from audit.refusing import NotAllowed
from evidence import contracts, kinds, tool_calls, tool_forms
from evidence.tool_forms import ToolForm
from tests.evidence import bodies

pytestmark = [pytest.mark.django_db, pytest.mark.urls("gate.config.urls_people")]


@pytest.fixture
def enter(make_person: Any) -> Callable[[str, str], Client]:
    """A browser in which somebody of a role signed in."""

    def sign_in(username: str, role: str) -> Client:
        client = Client()
        client.force_login(make_person(username, role))
        return client

    return sign_in


@pytest.fixture
def admin(enter: Any) -> Client:
    return enter("ada", "admin")  # type: ignore[no-any-return]


@pytest.fixture
def find_job(source: Any, define: Any) -> Definition:
    return define("tool", "find_job", bodies.tool())  # type: ignore[no-any-return]


def typed(body: dict[str, Any], **changes: str) -> dict[str, str]:
    """What somebody types to say a body."""
    said = {key: str(value) for key, value in tool_forms.initial_of(body).items() if key not in tool_forms.FIXED}
    return {**said, "name": "find_job", "reason": "It is needed.", **changes}


def text(answer: Any) -> str:
    return str(answer.content.decode())


def test_the_form_says_everything_that_a_contract_says() -> None:
    own = set(ToolForm.base_fields) - {"name", "reason"}
    assert (
        own
        == (contracts.KEYS - set(tool_forms.FIXED)) | contracts.SQL_KEYS | contracts.REQUEST_KEYS | contracts.OPTIONAL
    )


@pytest.mark.parametrize("kind", sorted(kinds.KINDS))
def test_what_is_typed_is_what_is_drafted_whatever_the_kind_of_source(kind: str, define: Any) -> None:
    define("source", "other", dict(kinds.KINDS[kind].source_example))
    plain = {key: contracts.EXAMPLE[key] for key in contracts.KEYS}
    body = {**plain, **kinds.KINDS[kind].tool_example, "source": "other", "limitations": ["Slow."], "max_rows": 5}
    form = ToolForm(typed(body))
    assert form.is_valid(), form.errors
    assert form.body() == body
    contracts.check("find_job", form.body())


def test_a_browsers_line_breaks_change_nothing(find_job: Definition, admin: Client, define: Any) -> None:
    lines = "select jsonb_build_object('job', null)\n  as result\nwhere $1::bigint > 0"
    define("tool", "find_job", bodies.tool(sql=lines))
    changed = typed(bodies.tool(sql=lines.replace("\n", "\r\n")), purpose="The job.\r\n")
    assert admin.post("/tools/find_job/new/", changed).status_code == 302
    page = text(admin.get("/tools/find_job/"))
    diff = page[page.index("Change against version 2") : page.index('id="v2"')]
    assert "The job." in diff
    assert "jsonb_build_object" not in diff


def test_a_change_of_sql_is_shown_by_its_lines(find_job: Definition, admin: Client, define: Any) -> None:
    first = "select jsonb_build_object('job', null)\n  as result\nwhere $1::bigint > 0"
    define("tool", "find_job", bodies.tool(sql=first))
    assert admin.post("/tools/find_job/new/", typed(bodies.tool(sql=first.replace("> 0", "> 7")))).status_code == 302
    version = Definition.objects.get(name="find_job", version=3)
    before = Definition.objects.get(name="find_job", version=2)
    changed = [line for line in twohands.diff(before, version) if line[0] in "+-"]
    assert changed == ["-    | where $1::bigint > 0", "+    | where $1::bigint > 7"]


def test_one_drafts_another_activates_and_agents_have_it(
    source: Any, admin: Client, enter: Any, find_job: Definition
) -> None:
    changed = typed(bodies.tool(), purpose="The state of one job, by its id.")
    answer = admin.post("/tools/find_job/new/", changed)
    assert (answer.status_code, answer["Location"]) == (302, "/tools/find_job/")
    page = text(admin.get("/tools/find_job/"))
    assert "You drafted this version, so someone else must activate it." in page
    assert "Change against version 1" in page
    refused = admin.post("/tools/find_job/versions/2/activation/")
    assert refused.status_code == 409
    assert "someone else must activate it" in text(refused)
    assert contracts.active("find_job").version == 1  # type: ignore[union-attr]
    assert enter("mia", "admin").post("/tools/find_job/versions/2/activation/").status_code == 302
    assert contracts.active("find_job").purpose == "The state of one job, by its id."  # type: ignore[union-attr]
    assert "activated by Mia" in text(admin.get("/tools/find_job/"))


def test_the_page_says_what_a_tool_promises_and_declares(find_job: Definition, admin: Client, define: Any) -> None:
    from tests.triage.conftest import JOB_FAILED

    define("class", "job_failed", {**JOB_FAILED, "tools": ["find_job", "other"]})
    page = text(admin.get("/tools/find_job/"))
    for words in (
        "The state of one job.", "job.state", "one of completed, failed, queued, running", "select jsonb_build_object(",
        "Jobs older than a year are gone.", 'href="/classes/job_failed/"', "counterseal/returns_action_recommendations",
        "readOnlyHint", find_job.digest, "First-Hand", "Second-Hand", 'href="/sources/scratch/"',
    ):  # fmt: skip
        assert words in page, words
    listed = text(admin.get("/tools/"))
    assert "The state of one job." in listed
    assert 'href="/classes/job_failed/"' in listed


def test_the_lists_queries_do_not_grow_with_the_tools(
    find_job: Definition, admin: Client, define: Any, django_assert_num_queries: Any
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            assert admin.get("/tools/").status_code == 200
        return len(caught)

    queries()  # what is remembered after the first page
    before = queries()
    for number in range(5):
        define("tool", f"other_{number}", bodies.tool())
    assert queries() == before


def test_calls_of_late_are_counted_with_their_median_and_no_further_than_a_cap(
    find_job: Definition, certified: Any, asker: Any, scope_of: Any, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evidence import gateway
    from evidence.errors import Problem

    name = "counted_tool"  # entries stay: no other test calls a tool of this name
    Definition.objects.filter(pk=find_job.pk).update(name=name)
    scope_of(asker[0], name, budget=9)
    assert tool_calls.lately([name, "nothing"])["nothing"] == tool_calls.Lately(0, 0, None, None)
    for number in (1, 13):
        gateway.call(asker[0], name, {"job_id": number}, None)
    with pytest.raises(Problem):
        gateway.call(asker[0], name, {"job_id": "x"}, None)  # refused, and no call
    found = tool_calls.lately([name])[name]
    assert (found.number, found.failed, found.is_more) == (2, 0, False)
    assert found.median_ms is not None
    monkeypatch.setattr(tool_calls, "MOST", 1)
    capped = tool_calls.lately([name])[name]
    assert (capped.number, capped.is_more) == (1, True)
    assert "1 or more" in text(admin.get(f"/tools/{name}/"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"input_schema": '{"type": "object",\n "properties": }'}, "line 2, column 16"),
        ({"input_schema": '{"type": "object",\n "properties": }'}, "It reads: &quot;properties&quot;: }"),
        ({"output_schema": '{"type": "array"}'}, "its root must be an object schema"),
        ({"output_schema": '{"type": "object", "$ref": "#/$defs/x"}'}, "leads nowhere"),
        ({"source": ""}, "This field is required"),
        ({"shape": ""}, "say how its rows become the result"),
        ({"request": '{"path": "/x"}'}, "is read by a statement; leave the request empty"),
        ({"max_rows": "0"}, "greater than or equal to 1"),
        ({"sql": "delete from app.jobs"}, "Only a SELECT"),
        ({"parameters": "other"}, "other is no property of the input schema"),
        ({"purpose": "What you should do."}, "/purpose: “should” is advice"),
        ({"name": "job_verdict"}, "name: “verdict” is a judgment"),
        ({"limitations": "Slow.\nThe best guess."}, "/limitations/1: “best” ranks"),
        ({"sql": "select case when id = $1 then 'x' end as severity from app_ro.jobs"}, "“severity” is a judgment"),
    ],
)
def test_what_cannot_be_is_said_at_its_field_and_the_typing_is_kept(
    source: Any, admin: Client, changes: dict[str, str], words: str
) -> None:
    answer = admin.post("/tools/new/", typed(bodies.tool(), **changes))
    assert answer.status_code == 422
    assert words in text(answer)
    assert "It is needed." in text(answer)
    assert not Definition.objects.filter(kind="tool").exists()


def test_a_flaw_in_a_schema_is_said_with_its_line(source: Any, admin: Client) -> None:
    body = bodies.tool(output_schema={"type": "object", "properties": {"a": {}, "verdict": {"type": "string"}}})
    answer = text(admin.post("/tools/new/", typed(body)))
    assert "Line 5, /output_schema/properties/verdict: “verdict” is a judgment" in answer


def test_words_are_checked_without_drafting_with_script_and_without(source: Any, admin: Client) -> None:
    flawed = {**typed(bodies.tool(), purpose="The root cause."), "act": "check", "input_schema": "{"}
    fragment = admin.post("/tools/new/", flawed, headers={"HX-Request": "true"})
    assert fragment.status_code == 200
    assert text(fragment).lstrip().startswith('<section class="panel is-bad" id="words">')
    assert "/purpose: “root cause” is a judgment" in text(fragment)
    assert "<form" not in text(fragment), "a field under somebody's hands is never swapped"
    page = admin.post("/tools/new/", flawed)
    assert "/purpose: “root cause” is a judgment" in text(page)
    assert 'value="find_job"' in text(page)
    sound = {**typed(bodies.tool()), "act": "check"}
    assert "nothing found" in text(admin.post("/tools/new/", sound, headers={"HX-Request": "true"}))
    assert not Definition.objects.filter(kind="tool").exists()


def test_the_form_starts_from_what_is_in_force(find_job: Definition, admin: Client) -> None:
    page = text(admin.get("/tools/find_job/new/"))
    assert "Jobs older than a year are gone." in page
    assert "select jsonb_build_object(" in page
    assert admin.get("/tools/nothing/new/").status_code == 404
    assert 'name="body"' in text(admin.get("/tools/find_job/new/?as=json"))


def test_a_tool_is_retired_by_one_and_comes_back_by_two(find_job: Definition, admin: Client, enter: Any) -> None:
    missing = admin.post("/tools/find_job/versions/1/retirement/", {"reason": ""})
    assert missing.status_code == 422
    assert contracts.active("find_job") is not None
    assert admin.post("/tools/find_job/versions/1/retirement/", {"reason": "It is wrong."}).status_code == 302
    assert contracts.active("find_job") is None
    entry = Entry.objects.filter(kind="definition.retired").order_by("-seq")[0]
    assert (entry.subject, entry.summary) == ("tool find_job v1", "out of force: It is wrong.")
    assert reading.payload_of(entry.pk).args["digest"] == find_job.digest
    again = admin.post("/tools/find_job/versions/1/retirement/", {"reason": "Twice."})
    assert again.status_code == 409
    assert "is retired, so it cannot be retired" in text(again)
    assert "cannot be activated" in text(admin.post("/tools/find_job/versions/1/activation/"))
    # The same words may come back, by two hands.
    assert admin.post("/tools/find_job/new/", typed(bodies.tool())).status_code == 302
    assert admin.post("/tools/find_job/versions/2/activation/").status_code == 409
    assert enter("mia", "admin").post("/tools/find_job/versions/2/activation/").status_code == 302


def test_only_what_can_be_missed_is_retired(source: Definition, make_person: Any) -> None:
    with pytest.raises(NotAllowed, match="Sources are not retired"):
        twohands.retire(source.pk, by=make_person("ada", "admin"), reason="x")


@pytest.mark.parametrize("role", ["viewer", "on_call", "auditor"])
def test_who_changes_no_tools_reads_them(find_job: Definition, enter: Any, role: str) -> None:
    other = enter("other", role)
    page = text(other.get("/tools/find_job/"))
    assert "Retire" not in page
    assert "Draft a change" not in page
    assert other.get("/tools/new/").status_code == 403
    assert other.post("/tools/find_job/new/", typed(bodies.tool(), purpose="Other.")).status_code == 403
    assert other.post("/tools/find_job/new/", {**typed(bodies.tool()), "act": "check"}).status_code == 403
    assert other.post("/tools/find_job/versions/1/retirement/", {"reason": "x"}).status_code == 403
    assert other.post("/tools/find_job/versions/1/activation/").status_code == 403


def test_a_draft_alone_has_a_page(source: Any, admin: Client, make_person: Any) -> None:
    twohands.draft("tool", "find_job", bodies.tool(), by=make_person("mia", "admin"), reason="First.")
    page = text(admin.get("/tools/find_job/"))
    assert "Activate version 1" in page
    assert "no class, so no agent may call it" in page


def test_as_json_it_is_drafted_as_well(source: Any, admin: Client) -> None:
    body = json.dumps(bodies.tool())
    answer = admin.post("/tools/new/", {"name": "find_job", "reason": "Kept in a file.", "body": body})
    assert (answer.status_code, answer["Location"]) == (302, "/tools/find_job/")
    flawed = json.dumps(bodies.tool(purpose="What you should do."))
    answer = admin.post("/tools/new/", {"name": "other", "reason": "Kept in a file.", "body": flawed})
    assert answer.status_code == 422
    assert "“should” is advice" in text(answer)
