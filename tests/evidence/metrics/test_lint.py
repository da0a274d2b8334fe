"""The lint refuses policies that dress as metrics, one of each sort at least, and lets the examples be."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.metrics import lint
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
