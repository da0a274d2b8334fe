"""Evidence, not advice: what a contract may not say, and the plain facts that it may."""

from __future__ import annotations

import importlib
import json
import pkgutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence import contract_lint, contracts
from evidence.wording import folding, names, prose, schemas, statements
from gate.demo import definitions
from gate.triage import readers
from gate.triage.readers import document
from tests.evidence import bodies

INCIDENTS = Path(__file__).parents[1] / "data/incidents"
ROWS = "select id, state from app_ro.jobs where id = $1::bigint"


def body(**changes: Any) -> dict[str, Any]:
    """A contract without words of its own, but for what is changed."""
    plain = {"purpose": "One job.", "limitations": [], "sql": ROWS, "output_schema": {"type": "object"}}
    return bodies.tool(**{**plain, **changes})


def fields(**properties: Any) -> dict[str, Any]:
    """An answer that is one row with these columns."""
    row = {"type": ["object", "null"], "properties": properties, "additionalProperties": False}
    return {"type": "object", "properties": {"row": row}, "required": ["row"], "additionalProperties": False}


def found(**changes: Any) -> list[tuple[str, str]]:
    """Code and place of each flaw; `name` is the tool's."""
    name = changes.pop("name", "find_job")
    return [(flaw.code, flaw.place) for flaw in contract_lint.flaws(name, body(**changes))]


TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
NUMBER = {"type": "number"}
COUNT = {"type": "integer"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("recommend_fix", "advice"), ("suggestNextStep", "advice"), ("get-next-step", "advice"), ("restart_job",
        "advice"),
        ("retryJob", "advice"), ("roll_back_deploy", "advice"), ("rollback_deploy", "advice"), ("job_advice", "advice"),
        ("what_to_do", "advice"), ("getVerdict", "verdict"), ("job_is_healthy", "verdict"), ("diagnose_job", "verdict"),
        ("root_cause_of_job", "verdict"), ("rootcause", "verdict"), ("risk_score", "verdict"), ("is_safe", "verdict"),
        ("job_pass", "verdict"), ("rank_jobs", "ranking"), ("best_candidate", "ranking"), ("worst_jobs", "ranking"),
        ("top_queries", "ranking"), ("most_likely_cause", "ranking"), ("scoreJobs", "ranking"),
        ("ReCoMmEnDation", "advice"), ("find_best_candidate", "ranking"), ("list_top_errors", "ranking"),
        ("jobs_ranked", "ranking"), ("likelyCause", "verdict"), ("propose_fix", "advice"), ("severity_score",
        "verdict"),
        ("job_confidence", "verdict"), ("job_score", "ranking"), ("approve_write", "verdict"), ("vErDiCt", "verdict"),
    ],
)  # fmt: skip
def test_a_tools_name_does_not_advise_judge_or_rank(name: str, code: str) -> None:
    assert (code, "name") in found(name=name)


@pytest.mark.parametrize(
    "name",
    [
        "find_job", "list_retries", "count_restarts", "find_rollbacks", "list_failed_jobs", "cluster_health",
        "count_by_severity", "list_by_priority", "desktop_sessions", "stop_events", "query", "sql_query_shop",
        "passport_checks", "bestiary", "list_top_level_jobs", "list_refunds", "failover_events_of",
    ],
)  # fmt: skip
def test_a_tools_name_may_say_what_happened(name: str) -> None:
    if name == "failover_events_of":  # it starts with an order, and is read as one
        assert found(name=name) == [("advice", "name")]
        return
    assert found(name=name) == []


@pytest.mark.parametrize(
    ("field", "schema", "code"),
    [
        ("recommendation", TEXT, "advice"), ("recommendedAction", TEXT, "advice"), ("next-steps", {}, "advice"),
        ("should_retry", FLAG, "advice"), ("retry", FLAG, "advice"), ("roll_back", FLAG, "advice"),
        ("needs_restart", FLAG, "advice"), ("restart_needed", FLAG, "advice"), ("action", TEXT, "advice"),
        ("suggestions", {"type": "array"}, "advice"), ("action_required", FLAG, "advice"),
        ("verdict", TEXT, "verdict"), ("verdict", COUNT, "verdict"), ("is_healthy", FLAG, "verdict"),
        ("healthy", FLAG, "verdict"), ("job_health", TEXT, "verdict"), ("safe", FLAG, "verdict"),
        ("passed", FLAG, "verdict"), ("fail", FLAG, "verdict"), ("ok", {}, "verdict"), ("confidence",
        NUMBER, "verdict"),
        ("riskScore", NUMBER, "verdict"), ("risk", TEXT, "verdict"), ("root_cause", TEXT, "verdict"),
        ("probability", NUMBER, "verdict"), ("priority", COUNT, "verdict"), ("severity", TEXT, "verdict"),
        ("severity_level", COUNT, "verdict"), ("rank", COUNT, "ranking"), ("score", NUMBER, "ranking"),
        ("top_queries", {"type": "array"}, "ranking"), ("best", TEXT, "ranking"), ("most_likely", TEXT, "ranking"),
        ("mostLikelyCause", TEXT, "ranking"), ("likelihood", NUMBER, "verdict"), ("nextBestAction", TEXT, "advice"),
        ("action_to_take", TEXT, "advice"), ("probable_cause", TEXT, "verdict"), ("rankedCandidates",
        {"type": "array"}, "ranking"),
        ("is_anomaly", FLAG, "verdict"), ("looksGood", FLAG, "verdict"), ("importance", COUNT, "ranking"),
    ],
)  # fmt: skip
def test_a_field_that_the_statement_makes_up_is_no_opinion(field: str, schema: Any, code: str) -> None:
    assert (code, f"/output_schema/properties/row/properties/{field}") in found(output_schema=fields(**{field: schema}))


RECORDED = ("priority", "severity", "healthy", "rank", "score", "passed", "confidence", "action")


@pytest.mark.parametrize("field", RECORDED)
def test_the_same_word_is_a_fact_where_it_is_a_column_that_is_read(field: str) -> None:
    said = {"output_schema": fields(**{field: TEXT})}
    assert found(**said, sql=f"select j.{field} from app_ro.jobs j where id = $1") == []
    assert found(**said, sql=f'select "{field}" from app_ro.jobs where id = $1') == []
    assert found(**said, sql=f"select jsonb_build_object('{field}', {field}) as result from app_ro.jobs") == []
    made_up = f"select case when state = 'failed' then 'high' else 'low' end as {field} from app_ro.jobs where id = $1"
    assert found(**said, sql=made_up)
    assert found(**said, sql=made_up.replace(" end as ", " end ")), "without `as` it is made up as well"
    assert found(**said, sql=f"select 'high' as {field}")
    assert found(**said, sql=f"select '{field}', state from app_ro.jobs -- {field}")


@pytest.mark.parametrize("field", RECORDED)
def test_a_native_answers_fields_are_the_sources(field: str) -> None:
    said = {"output_schema": fields(**{field: {"enum": ["pass", "healthy"]}})}
    assert found(**said, request={"path": "/x"}, sql=None) == []
    assert found(**said)


@pytest.mark.parametrize("field", ["verdict", "recommendation", "root_cause", "next_steps", "risk_score"])
def test_what_is_never_a_fact_is_none_in_a_native_answer_and_in_a_column_either(field: str) -> None:
    said = {"output_schema": fields(**{field: TEXT})}
    assert found(**said, request={"path": "/x"}, sql=None)
    assert found(**said, sql=f"select {field} from app_ro.jobs")


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        ("state", {"enum": ["queued", "running", "succeeded", "failed"]}), ("retries", COUNT), ("status", COUNT),
        ("failed", COUNT), ("failed_at", TEXT), ("restart_count", COUNT), ("restarted_at", TEXT), ("retry_after",
        COUNT),
        ("retry_policy", TEXT), ("unhealthy", COUNT), ("unhealthy_count", COUNT), ("pass_rate", NUMBER),
        ("health_check_url", TEXT), ("safe_mode", FLAG), ("desktop", FLAG), ("stop", TEXT), ("priority_queue_length",
        COUNT),
        ("actions_total", COUNT), ("confidence_interval", {"type": "array"}), ("franking", TEXT), ("compass", TEXT),
        ("bypass", FLAG), ("best_before", TEXT), ("complete", FLAG), ("disputed", FLAG), ("last_error", TEXT),
        ("failure_reason", TEXT), ("healthy", {"type": ["integer", "null"]}),
    ],
)  # fmt: skip
def test_plain_facts_are_no_opinion(field: str, schema: Any) -> None:
    flaws = found(output_schema=fields(**{field: schema}))
    if field == "best_before":  # a column of this name is a fact; made up, it reads as a ranking
        assert flaws == [("ranking", "/output_schema/properties/row/properties/best_before")]
        assert found(output_schema=fields(best_before=TEXT), sql="select best_before from app_ro.goods") == []
        return
    assert flaws == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("You should restart the job.", "advice"), ("The job must be restarted.", "advice"),
        ("Says whether operators need to act.", "advice"), ("Restart the job if it failed.", "advice"),
        ("Roll back the deploy.", "advice"), ("If it fails, retry the call.", "advice"), ("Retry later.", "advice"),
        ("Then restart.", "advice"), ("A high value means restart.", "advice"), ("The next step for a job.", "advice"),
        ("Recommends what to do.", "advice"), ("Our suggestion for one job.", "advice"), ("Action required.", "advice"),
        ("Do not retry it.", "advice"), ("Consider scaling.", "advice"), ("It is advisable.", "advice"),
        ("Whether the job is healthy.", "verdict"), ("Tells if a deploy looks really quite good.", "verdict"),
        ("The root cause of a failure.", "verdict"), ("The verdict on one job.", "verdict"),
        ("Pass or fail of one job.", "verdict"), ("With a confidence from 0 to 1.", "verdict"),
        ("The likely cause.", "verdict"), ("Shows that it is safe to close.", "verdict"), ("Its risk score.",
        "verdict"),
        ("Assigns each job a severity.", "verdict"), ("Diagnoses one job.", "verdict"),
        ("The best candidate.", "ranking"), ("The top 5 causes.", "ranking"), ("The most likely job.", "ranking"),
        ("Jobs ranked by age.", "ranking"), ("Sorted by relevance.", "ranking"), ("The worst of them.", "ranking"),
        ("Not only the best: all.", "ranking"), ("No doubt the best.", "ranking"),
        ("It gives no advice, but the best job.", "ranking"), ("Do not wait for it.", "advice"),
        ("Helps to decide whether a job is done.", "advice"), ("Call find_job first.", "advice"), ("Pick the newest.",
        "advice"),
        ("Explains why a job failed.", "verdict"), ("Identifies which deploy caused the failure.", "verdict"),
        ("Top queries by time.", "ranking"), ("The most critical jobs.", "ranking"),
    ],
)  # fmt: skip
def test_a_sentence_that_advises_judges_or_ranks_is_found_wherever_it_stands(text: str, code: str) -> None:
    described = {"type": "object", "properties": {"id": {"type": "integer", "description": text}}}
    titled = {"type": "object", "properties": {"id": {"anyOf": [{"title": text}]}}}
    assert (code, "/purpose") in found(purpose=text)
    assert (code, "/limitations/1") in found(limitations=["Slow.", text])
    assert (code, "/input_schema/properties/id/description") in found(input_schema=described)
    assert (code, "/output_schema/properties/id/anyOf/0/title") in found(output_schema=titled)


@pytest.mark.parametrize(
    "text",
    [
        "The state of one job.", "Every attempt at one job, oldest first.", "How often a pod restarted.",
        "Restart count of each container.", "Retry attempts of one job, newest first.", "The priority of a queue.",
        "Log lines by severity.", "Accounting decomposition does not establish causality.",
        "A refund that succeeded can still fail later, when the bank returns it.", "Gives no recommendation.",
        "It is no verdict.", "Does not say what the root cause is.", "Delivery is best effort.",
        "At worst a minute late.",
        "last_error is cleared when a later attempt succeeds.", "null counts every line",
        "Whether a refund was canceled.",
        "Gives up after 25,000 lines: complete is then false and there is no count.",
        "The value with its confidence interval.",
        "job_id must be positive.", "Clients that retry are counted once.", "Events on top of the base rate.",
        "No rule reads what it answers, so nothing is decided by it.", "It cannot tell what is likely.",
        "Rows of one SELECT over the schema shop_read.", "Health checks of one target, with their HTTP status.",
        "The top of the stack.", "Calls of find_job first.",
        "Columns: id, state, retries.", "Deploys that were rolled back.", "The scoreboard of a game.",
    ],
)  # fmt: skip
def test_a_sentence_may_tell_what_happened_and_what_it_denies(text: str) -> None:
    assert found(purpose=text, limitations=[text]) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": ["pass", "fail"]}, {"const": "healthy"}, {"enum": ["restart", "wait"]}, {"enum": ["roll-back"]},
        {"enum": ["safe", None]}, {"pattern": "^(pass|fail)$"}, {"pattern": "^(?:un)?healthy$"},
        {"enum": ["do_not_touch"]}, {"enum": ["restart_service"]}, {"const": "false_positive"},
        {"default": "best"}, {"examples": ["recommended"]}, {"enum": ["Restart the job if it failed."]},
        {"anyOf": [{"items": {"enum": ["good", "bad"]}}]}, {"const": {"verdict": "x"}}, {"const": {"a": ["unsafe"]}},
    ],
)  # fmt: skip
def test_values_that_a_contract_promises_are_its_own_words(schema: Any) -> None:
    assert found(output_schema=fields(outcome=schema))
    if "const" not in schema or not isinstance(schema["const"], dict):
        assert found(input_schema={"type": "object", "properties": {"job_id": {}, "wanted": schema}})
        read = "select outcome from app_ro.jobs where outcome = $1"
        assert found(output_schema=fields(outcome=schema), sql=read) == [], "the values of a column are the source's"


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": ["queued", "running", "succeeded", "failed"]}, {"enum": ["passed", "skipped"]}, {"const": "ALARM"},
        {"pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"}, {"pattern": "^[a-z]{3}$"}, {"enum": ["critical",
        3, None]},
        {"enum": ["recovered", "restarted", "retrying"]}, {"enum": ["rollback_complete", "restart_pending"]},
        {"const": {"state": "failed"}},
    ],
)  # fmt: skip
def test_values_that_systems_record_are_facts(schema: Any) -> None:
    assert found(output_schema=fields(outcome=schema)) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": ["verdict"]},
        {"type": "object", "patternProperties": {"^verdict": {}}},
        {"type": "object", "propertyNames": {"enum": ["verdict"]}},
        {"type": "object", "dependentRequired": {"a": ["verdict"]}},
        {"type": "object", "$defs": {"v": {"properties": {"verdict": {}}}}, "properties": {"a": {"$ref": "#/$defs/v"}}},
        {"type": "object", "allOf": [{"if": {}, "then": {"properties": {"verdict": {}}}}]},
        {"type": "object", "additionalProperties": {"properties": {"verdict": {}}}},
    ],
)
def test_a_name_is_found_in_every_corner_of_a_schema(schema: Any) -> None:
    assert [code for code, _ in found(output_schema=schema)] == ["verdict"]


def test_an_open_answer_hides_nothing_that_the_statement_writes_itself() -> None:
    assert found(sql="select jsonb_build_object('verdict', state) as result from app_ro.jobs") == [("verdict", "/sql")]
    assert found(sql="select case when state = 'failed' then 'Restart the job when it failed.' end as hint") == [
        ("advice", "/sql")
    ]
    assert found(sql="select id from app_ro.reports where kind = 'recommendation' and a in ('verdict', 'b')") == []


def test_each_flaw_says_where_it_is_and_what_to_write() -> None:
    flaws = list(contract_lint.flaws("find_job", body(purpose="The verdict, the best cause, and the next step.")))
    assert [flaw.code for flaw in flaws] == ["advice", "verdict", "ranking"]
    assert all(flaw.sentence.startswith("/purpose: “") and flaw.sentence.endswith(".") for flaw in flaws)
    assert len({flaw.sentence for flaw in flaws}) == 3
    place = found(output_schema=fields(**{"a/b~verdict": {}}))[0][1]
    assert place == "/output_schema/properties/row/properties/a~1b~0verdict"


def test_a_draft_with_a_flaw_is_refused_with_its_sentence() -> None:
    with pytest.raises(ValueError, match=r"^/purpose: “should” is advice; say what was read"):
        contracts.check("find_job", bodies.tool(purpose="What you should do."))
    with pytest.raises(ValueError, match=r"^name: “verdict” is a judgment"):
        contracts.check("job_verdict", bodies.tool())


def test_the_contracts_that_stand_are_without_flaw() -> None:
    standing = [(one.name, one.body) for one in [*definitions.tools(), definitions.query()]]
    for name, stated in [*standing, ("find_job", bodies.tool()), ("find_job", contracts.EXAMPLE)]:
        assert list(contract_lint.flaws(name, stated)) == []


def test_no_tool_that_a_reader_knows_has_a_flawed_name() -> None:
    for module in pkgutil.walk_packages(readers.__path__, f"{readers.__name__}."):
        importlib.import_module(module.name)
    known, left = set(), [document.Answer]
    while left:
        left += (below := left.pop().__subclasses__())
        known |= {name for reader in below for name in getattr(reader, "tools", ())}
    assert len(known) > 30
    assert [name for name in sorted(known) if list(names.of_a_tool(name))] == []


def recorded_fields(value: Any, inside: bool = False) -> Iterator[str]:
    """The names of all fields in recorded results."""
    if isinstance(value, dict):
        for name, child in value.items():
            yield from [name] if inside else []
            yield from recorded_fields(child, inside or name == "result")
    elif isinstance(value, list):
        for child in value:
            yield from recorded_fields(child, inside)


def test_no_field_of_a_recorded_answer_is_a_flaw_in_a_native_one() -> None:
    files = sorted(INCIDENTS.glob("*.json"))
    known = {name for path in files for name in recorded_fields(json.loads(path.read_text()))}
    assert len(known) > 100
    assert [name for name in sorted(known) if list(names.of_a_field(name, None, True))] == []


# A busy machine takes its time to draw; that is no fault of what is drawn.
DRAWN = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Unicode: a flaw stays one however it is disguised.
FLAWED = ("recommendation", "verdict", "root_cause", "next_step", "most_likely", "suggestion", "culprit")
HIDDEN = ("\u200b", "\u200d", "\u2060", "\u00ad", "\ufe0f", "\u034f", "\u202e", "\ufeff", "\u3164", "\u180e")
ALIKE = {
    "a": "аαᴀá",
    "c": "сᴄç",
    "d": "ԁᴅ",
    "e": "еεᴇé",
    "i": "іıɪ",
    "o": "оοօ",
    "n": "ոñ",
    "r": "гʀ",
    "s": "ѕｓ",
    "t": "тᴛτ",
}


@st.composite
def disguised(draw: st.DrawFn, words: tuple[str, ...]) -> str:
    """A flawed word with look-alikes in it and invisible characters between its letters."""
    letters = []
    for letter in draw(st.sampled_from(words)):
        letters.append(draw(st.sampled_from([letter, *ALIKE.get(letter, "")])))
        letters.append(draw(st.sampled_from(["", "", *HIDDEN])))
    return "".join(letters)


@DRAWN
@given(disguised(FLAWED), st.sampled_from(["", "job_", "x-", "the "]), st.sampled_from(["", "_of_job", "-1"]))
def test_a_disguised_word_is_found_in_a_name(word: str, before: str, after: str) -> None:
    assert list(names.never(before + word + after))


@DRAWN
@given(disguised(("the verdict", "the root cause", "a recommendation", "what you should do", "the next step")))
def test_a_disguised_word_is_found_in_a_sentence(words: str) -> None:
    assert list(prose.flaws(f"It tells {words}."))


@DRAWN
@given(st.text(max_size=200))
def test_any_text_has_the_same_flaws_in_capitals_and_in_another_normal_form(text: str) -> None:
    plain = list(prose.flaws(text))
    assert list(prose.flaws(unicodedata.normalize("NFD", text))) == plain
    assert list(prose.flaws(unicodedata.normalize("NFC", text))) == plain
    assert folding.folded(folding.folded(text)) == folding.folded(text)


WORD = st.from_regex(r"[a-z]{1,12}", fullmatch=True)


@DRAWN
@given(st.lists(WORD, min_size=1, max_size=5))
def test_a_name_has_the_same_words_in_every_way_to_write_it(words: list[str]) -> None:
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    pascal = "".join(word.capitalize() for word in words)
    spellings = ["_".join(words), "-".join(words), " ".join(words), "_".join(words).upper(), "__".join(words)]
    assert {folding.words(spelling) for spelling in spellings} == {tuple(words)}
    if all(len(word) > 1 for word in words):  # two capitals in a row are one word
        assert folding.words(camel) == folding.words(pascal) == tuple(words)


KEYS = st.text(max_size=6) | st.sampled_from(
    ["properties", "required", "enum", "const", "pattern", "patternProperties", "dependentRequired", "propertyNames",
     "description", "items", "$defs", "allOf", "additionalProperties", "default"]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@DRAWN
@given(JSON, JSON, JSON, st.text(max_size=40) | JSON)
def test_a_half_typed_contract_is_looked_at_all_the_same(output: Any, given: Any, limitations: Any, sql: Any) -> None:
    said = {"output_schema": output, "input_schema": given, "limitations": limitations, "sql": sql, "purpose": output}
    for flaw in contract_lint.flaws("", said):
        assert flaw.sentence


@DRAWN
@given(st.lists(st.sampled_from(["properties", "items", "anyOf", "$defs", "additionalProperties", "not"]), max_size=5))
def test_a_flaw_is_found_however_deep_it_stands(path: list[str]) -> None:
    schema: Any = {"type": "object", "properties": {"verdict": {}}}
    for step in reversed(path):
        wrap = {"properties": {"a": schema}, "$defs": {"a": schema}, "anyOf": [schema]}
        schema = {"type": "object", step: wrap.get(step, schema)}
    assert [said.text for said in schemas.said(schema, "") if said.text == "verdict"] == ["verdict"]


def test_a_statements_columns_are_those_that_it_reads() -> None:
    sql = """select a, b.c, "D" as e, f(g) h, case when i = 'x' then j else k end l, count(*) m -- n
             from o where p = $1 and q in ('r', s) /* t */ order by u"""
    assert {"a", "c", "d", "g", "i", "j", "k", "p", "q", "s", "u"} <= statements.columns(sql)
    assert not {"e", "h", "l", "m", "n", "r", "t", "x"} & statements.columns(sql)
