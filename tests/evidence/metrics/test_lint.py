"""The lint refuses policies that dress as metrics, one of each sort at least, and lets the examples be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evidence.metrics import lint, lint_words
from evidence.metrics.definition import MetricVersion
from tests.evidence.metrics.examples import EXAMPLES, PRICES

NAME = "job_seconds"
FORMULA = """
select j.id as entity, 'running' as kind, j.seconds as quantity, 's' as unit
from vis_job j where j.recorded_at <= :decision_point and j.kind = :scope ->> 'job_kind'
"""
BODY: dict[str, Any] = {
    **EXAMPLES["failed_job_cost"],
    "unit": "s",
    "title": "Seconds of jobs",
    "source_fields": {"job.id": "key", "job.kind": "text", "job.seconds": "s", "job.errors": "errors",
                      "job.recorded_at": "instant", "job.due_at": "instant"},
    "parameters": {},
    "valuation": None,
    "formula": FORMULA,
    "trace_hook": None,
    "supported_counterfactuals": [],
    "decomposers": [{"name": "by_kind", "type": "additive", "kinds": ["running"]}],
}  # fmt: skip


def selecting(column: str, rest: str = "") -> dict[str, str]:
    return {"formula": FORMULA.replace("j.seconds as quantity", f"{column} as quantity") + rest}


def of_kind(kind: str) -> dict[str, str]:
    return {"formula": FORMULA.replace("'running'", kind)}


# The nine sorts of facts, each as an author would come to write it.
PLANTED: list[tuple[str, dict[str, Any]]] = [
    ("words", {"title": "Jobs that should be retried"}),
    ("words", {"limitations": ["a value above 100 is unhealthy"]}),
    ("words", {"decomposers": [{"name": "by_severity", "type": "additive", "kinds": ["running"]}]}),
    ("words", {"decomposers": [{"name": "by_kind", "type": "additive", "kinds": ["restart"]}]}),
    ("words", {"title": "Jobs to \u0440refer"}),  # the first letter is Cyrillic
    ("words", {"supported_counterfactuals": [{"variable": "best_slots", "held_fixed": [], "not_modelled": []}]}),
    ("words", {"supported_counterfactuals": [{"variable": "slots", "not_modelled": ["you should add slots"]}]}),
    ("words", of_kind("E'p\\x61ge'")),
    ("words", of_kind("$$page$$")),
    ("words", of_kind("U&'p\\0061ge'")),
    ("words", of_kind("coalesce(j.kind, 'page')")),
    ("words", of_kind("nullif('page', j.kind)")),
    ("consequence", of_kind("case when j.seconds > j.errors then 'shed_load' else 'running' end")),
    ("consequence", of_kind("case when j.seconds > j.errors then coalesce('tier_a', '') end")),
    ("consequence", of_kind("case j.seconds > j.errors when true then 'tier_a' else 'running' end")),
    ("consequence", of_kind("case when j.seconds between 0 and 1 then 'red' else 'running' end")),
    ("consequence", {"formula": FORMULA.replace("'s' as unit", "j.seconds > j.errors as is_over, 's' as unit")}),
    ("consequence", of_kind("coalesce(j.seconds > j.errors, false)::text")),
    ("consequence", of_kind("(case when j.kind = 'a' then j.seconds > j.errors end)::text")),
    ("weight", selecting("j.seconds * 60")),
    ("weight", selecting("j.seconds * 1.5")),
    ("weight", selecting("j.seconds * '2.5'::numeric")),
    *(("weight", selecting(f"j.seconds * {said}")) for said in ["'1e3'", "'.5'", "'+5'", "'0x10'", "'1_000'"]),
    ("weight", selecting("coalesce(j.seconds, '1e3')")),
    *(
        ("weight", {"formula": f"{FORMULA} and j.due_at - j.recorded_at > {said}"})
        for said in ["'10min'", "'1 day ago'", "'PT10M'", "'00:10:00'"]
    ),
    ("weight", selecting("j.seconds + j.errors")),
    ("weight", selecting("j.seconds * (1 + 1 + 1)")),
    ("weight", {"formula": FORMULA + " and j.due_at < :decision_point - interval '10 min'"}),
    ("ranking", {"formula": FORMULA + " order by j.seconds desc limit 1"}),
    ("ranking", selecting("rank() over (order by j.seconds)")),
    ("ranking", {"formula": FORMULA + " and j.seconds = (select max(k.seconds) from vis_job k)"}),
    ("ranking", {"formula": FORMULA + " and (select max(k.seconds) from vis_job k) = j.seconds"}),
    ("ranking", {"formula": FORMULA + " and j.seconds in (select max(k.seconds) from vis_job k)"}),
    ("ranking", {"formula": FORMULA + " and j.seconds >= all (select k.seconds from vis_job k)"}),
    ("ranking", {"formula": FORMULA + " and not exists (select from vis_job k where k.seconds > j.seconds)"}),
    ("ranking", selecting("count(*) over (order by j.seconds)")),
    ("ranking", selecting("count(*) over w", " window w as (order by j.seconds)")),
    ("ranking", {"formula": FORMULA.replace("select", "select distinct on (j.kind)", 1)}),
    ("label", {"formula": FORMULA.replace("vis_job", "vis_review")}),
    ("label", {"source_fields": {**BODY["source_fields"], "job.verdict": "text"}}),
    ("label", {"formula": FORMULA + " and j.assignee = 'mia'"}),
    ("agent_parameter", {"formula": FORMULA + " and j.seconds > :threshold"}),
    ("agent_parameter", {"scope": {"job_kind": "text", "price": "text"}}),
    ("agent_parameter", {"parameters": {"window": "agent"}}),
    ("agent_parameter", selecting("j.seconds * (:scope ->> 'job_kind')::int8")),
    ("free_text", selecting("j.seconds || ' seconds'")),
    ("free_text", {"formula": FORMULA.replace("'s' as unit", "'s' as unit, j.kind as summary")}),
    ("free_text", of_kind("'the job was late'")),
    ("direction", {"higher_is_worse": True}),
    ("direction", {"metric_good": "< 5"}),
    ("direction", {"limitations": ["lower is better"]}),
    ("unversioned", {"golden": []}),
    ("unversioned", {"golden": [{**BODY["golden"][0], "value": None, "status": "unresolved"}]}),
    ("unversioned", {"owner": " "}),
    ("unversioned", {"valuation": "prices"}),
]


def codes(body: dict[str, Any], name: str = NAME) -> set[str]:
    return {flaw.code for flaw in lint.flaws(name, body)}


def test_the_planted_ones_are_planted_in_a_metric_without_a_flaw() -> None:
    assert list(lint.flaws(NAME, BODY)) == []
    assert {code for code, _ in PLANTED} == {
        "words", "consequence", "weight", "ranking", "label", "agent_parameter", "free_text", "direction",
        "unversioned",
    }  # fmt: skip


@pytest.mark.parametrize(("code", "change"), PLANTED)
def test_a_planted_policy_is_refused(code: str, change: dict[str, Any]) -> None:
    assert code in codes({**BODY, **change})
    with pytest.raises(ValueError, match="“"):
        lint.check(NAME, {**BODY, **change})


@pytest.mark.parametrize(
    "name", ["retry_count_needed", "best_version", "risk_score", "is_healthy", "recommended_slots"]
)
def test_a_name_that_advises_or_judges_is_refused(name: str) -> None:
    assert "words" in codes(BODY, name)


# A word of each family, in an inflection that is not the plainest one.
JUDGMENTS = """
shouldnt must ought recommends preferable favorite best worst worsened optimal ideally superior inferior unsafe safer
healthier unhealthiest acceptably unacceptable intolerable okay badly goodness passes failing priorities prioritized
severest urgently criticality alarming dangerous harmless hazardous riskier suspiciously anomalies outlier abnormally
trustworthy advisable negligible problematic guilty blamed actionable winner
"""
RANKS = ["ranked", "ranking", "top_job", "score", "scored", "grades", "rating", "winning", "champions"]
ORDERS = ["jobs_to_retry", "needed_restarts", "rollback_candidates", "reject_first", "restart_needed", "retry_now"]
DISGUISES = [
    str.lower, str.upper, str.title, lambda word: word.replace("a", "а").replace("e", "е").replace("o", "ο"),
    lambda word: "\u200b".join(word), lambda word: "_".join(word), lambda word: word.translate({ord("i"): "í"}),
    lambda word: "".join(chr(ord(letter) - ord("a") + 0xFF41) if letter.isalpha() else letter for letter in word),
]  # fmt: skip
PLACES = {
    "metric_id": lambda word: (word, {}),
    "kinds": lambda word: (NAME, {"decomposers": [{"name": "x", "type": "additive", "kinds": ["running", word]}]}),
    "decomposition": lambda word: (NAME, {"decomposers": [{"name": word, "type": "additive", "kinds": ["running"]}]}),
    "grain": lambda word: (NAME, {"grain": word}),
    "scope": lambda word: (NAME, {"scope": {"job_kind": "text", word: "text"}}),
    "variable": lambda word: (NAME, {"supported_counterfactuals": [{"variable": word}]}),
    "values": lambda word: (NAME, {"supported_counterfactuals": [{"variable": "x", "values": ["off", word]}]}),
    "written": lambda word: (NAME, of_kind(f"'{word}'")),
    "title": lambda word: (NAME, {"title": f"Jobs that are {word} now"}),
    "limitation": lambda word: (NAME, {"limitations": [f"jobs that are {word} count"]}),
    "held_fixed": lambda word: (NAME, {"supported_counterfactuals": [{"held_fixed": [f"what is {word} now"]}]}),
}  # fmt: skip


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_judgment_is_refused_in_each_inflection_and_disguise(disguise: Callable[[str], str]) -> None:
    judgments = JUDGMENTS.split()
    for word in [*judgments, *RANKS, *ORDERS]:
        said = disguise(word)
        if "_" not in word or "__" not in said:
            assert list(lint_words.of_a_name(said)), said
        if word in judgments:
            assert list(lint_words.of_a_text(f"jobs that are {said.replace('_', '-')} now")), said


@pytest.mark.parametrize("place", PLACES)
def test_a_judgment_is_refused_in_each_place(place: str) -> None:
    for word in ("preferable", "PRIORITIZED", "dаngerous"):
        name, changes = PLACES[place](word)
        assert codes({**BODY, **changes}, name) >= {"words"}, word


@pytest.mark.parametrize(
    "text",
    [
        "Red above five", "then close it", "Stop the deploy when it grows", "it pages on-call beyond five",
        "somebody is to be notified", "do nothing below ten", "jobs worth fixing", "needs attention above 5",
        "Errors because of the deploy", "caused by the deploy", "due to the deploy", "target is zero", "keep it low",
        "s-h-o-u-l-d be zero", "zero 👍", "⚠ above five", "ready to close", "it escalates", "small numbers are bad",
    ],
)  # fmt: skip
def test_a_sentence_that_advises_or_says_why_is_refused(text: str) -> None:
    assert codes({**BODY, "title": text})
    assert codes({**BODY, "limitations": [text]})


@pytest.mark.parametrize(
    "text",
    [
        "accounting does not establish causality", "Jobs that failed, were rejected or expired",
        "minutes in which a lock blocked the queue", "attempts that were retried count once each",
        "Time to restart, from the order to the first answer", "the topology of slots is not modeled",
        "No request is sampled; each is counted", "costs of jobs in °C × hours",
    ],
)  # fmt: skip
def test_a_sentence_that_says_what_is_counted_passes(text: str) -> None:
    assert codes({**BODY, "title": text, "limitations": [text]}) == set()


def paired(condition: str) -> dict[str, Any]:
    """Counts how many jobs stand so to each."""
    return {
        "formula": "select j.id as entity, 'running' as kind, count(*) as quantity, 's' as unit from vis_job j join "
        f"vis_job k on k.recorded_at <= :decision_point and {condition} where j.recorded_at <= :decision_point and "
        "j.kind = :scope ->> 'job_kind' group by j.id"
    }


PART = "from vis_job j where j.recorded_at <= :decision_point and j.kind = :scope ->> 'job_kind'"
DISGUISED = [
    *(
        ("ranking", paired(condition))
        for condition in (
            "k.seconds - j.seconds > 0", "- k.seconds < - j.seconds", "abs(k.seconds) > abs(j.seconds)",
            "coalesce(k.seconds, 0) > coalesce(j.seconds, 0)", "greatest(k.seconds, j.seconds) = k.seconds",
            "k.seconds * 1 > j.seconds", "k.seconds + 0 > j.seconds", "j.seconds between 0 and k.seconds",
            "not (k.seconds <= j.seconds)", "k.seconds::numeric > j.seconds::numeric",
        )
    ),
    ("ranking", {"formula": f"with p as (select j.id as id, j.seconds as s {PART}) select a.id as entity, 'running' as "
                 "kind, count(*) as quantity, 's' as unit from p a join p b on b.s > a.s group by a.id"}),
    ("ranking", {"formula": "with p as (select max(k.seconds) as m from vis_job k where k.recorded_at <= "
                 ":decision_point) select j.id as entity, 'running' as kind, j.seconds as quantity, 's' as unit from "
                 "p join vis_job j on j.seconds = p.m and j.recorded_at <= :decision_point"}),
    ("weight", selecting("case when j.seconds = 0 then j.errors else 0 end + j.seconds")),
    ("weight", selecting("least(j.errors, j.seconds)")),
    ("weight", selecting("j.seconds * extract(year from '2026-01-01'::timestamptz)")),
    ("weight", {"formula": f"with p as (select j.id as id, j.errors as e, j.seconds as s {PART}) select p.id as "
                "entity, 'running' as kind, p.e + p.s as quantity, 's' as unit from p"}),
    ("free_text", selecting("(:scope ->> 'job_kind')::numeric")),
    ("agent_parameter", {"formula": f"{FORMULA} and j.seconds > (:scope ->> 'job_kind')::numeric"}),
    ("agent_parameter", selecting("case when :scope ->> 'job_kind' = 'x' then 0 else j.seconds end")),
    ("free_text", of_kind(":scope ->> 'job_kind'")),
    ("free_text", of_kind("coalesce(lower(:scope ->> 'job_kind'), 'running')")),
]  # fmt: skip


@pytest.mark.parametrize(("code", "change"), DISGUISED)
def test_a_policy_is_found_under_what_passes_it_on(code: str, change: dict[str, Any]) -> None:
    assert code in codes({**BODY, **change})


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_no_policies(name: str) -> None:
    assert list(lint.flaws(name, EXAMPLES[name])) == []


@pytest.mark.parametrize(
    "column",
    [
        "sum(j.seconds)",
        "j.seconds - j.seconds",
        "greatest(j.seconds, 0)",
        "coalesce(j.seconds, 0) * 1",
        "extract(epoch from :decision_point - j.due_at)",
        "count(*) over (partition by j.kind)",
        "case when j.seconds > 0 then extract(epoch from j.due_at) end",
    ],
)
def test_counting_is_no_policy(column: str) -> None:
    assert codes({**BODY, **selecting(column)}) == set()


def test_moments_are_compared_without_being_a_threshold() -> None:
    assert codes({**BODY, **of_kind("case when j.due_at > j.recorded_at then 'early' else 'running' end")}) == set()


def test_what_came_later_than_another_row_is_no_ranking() -> None:
    later = " and not exists (select from vis_job k where k.id = j.id and k.due_at > j.due_at)"
    assert codes({**BODY, "formula": FORMULA + later}) == set()


def test_every_name_may_be_another_and_the_flaw_stays() -> None:
    """The cheap test of a policy: what tells what to do under the names x1, x2 … was one."""
    renamed = FORMULA.replace("vis_job", "vis_x1").replace("j.seconds", "j.x2").replace("j.kind", "j.x3")
    body = {**BODY, "source_fields": {"x1.id": "key", "x1.x2": "s", "x1.x3": "text", "x1.recorded_at": "instant"}}
    assert codes({**body, "formula": renamed}, "x4") == set()
    assert codes({**body, "formula": renamed + " order by j.x2 limit 1"}, "x4") == {"ranking"}
    assert codes({**body, "formula": renamed.replace("j.x2 as", "j.x2 * 3 as")}, "x4") == {"weight"}


@pytest.mark.parametrize("body", [{}, {"formula": 3, "decomposers": [None, {"kinds": "x"}], "limitations": [1]},
                                  {"formula": "selec", "scope": [], "parameters": []}])  # fmt: skip
def test_half_a_definition_is_read_as_far_as_it_goes(body: dict[str, Any]) -> None:
    assert codes(body) == {"unversioned"}


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Prices that should make people stop"},
        {"prices": {"bad_retry": {"price": "1", "unit": "EUR", "per": "s", "source": "letter"}}},
        {"prices": {"x": {"price": "1", "unit": "EUR", "per": "s", "source": "high, so you should roll back"}}},
        {"owner": ""},
    ],
)
def test_a_valuation_is_no_policy_either(change: dict[str, Any]) -> None:
    lint.check_valuation("prices", PRICES)
    with pytest.raises(ValueError, match="“"):
        lint.check_valuation("prices", {**PRICES, **change})


def test_one_version_has_one_content() -> None:
    first, same, other = (MetricVersion.of("x", 1, digest, EXAMPLES["queue_wait"]) for digest in ("a", "a", "b"))
    lint.check_successor(first, same)
    lint.check_successor(first, MetricVersion.of("x", 2, "b", EXAMPLES["queue_wait"]))
    with pytest.raises(ValueError, match="x version 1"):
        lint.check_successor(first, other)


def test_what_a_source_calls_its_states_is_the_sources() -> None:
    for condition in ["j.kind = 'fail'", "j.kind in ('ok', 'page')", "'bad' <> j.kind", "nullif(j.kind, 'page') = ''",
                      "j.kind in ('5xx', 'P1')"]:  # fmt: skip
        assert codes({**BODY, "formula": f"{FORMULA} and {condition}"}) == set()
