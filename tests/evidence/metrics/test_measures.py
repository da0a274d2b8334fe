"""The measures that the four examples do not have: stages that follow each other, and the change of a ratio."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from evidence.metrics import checking
from evidence.metrics.definition import MetricVersion
from evidence.metrics.explaining import Explanation, Reading, explain
from evidence.metrics.status import Code
from tests.evidence.metrics.examples import COMMON

TIME_TO_DECISION: dict[str, Any] = {
    **COMMON,
    "title": "From intake to a person's answer",
    "unit": "min",
    "grain": "incident",
    "scope": {"incident_id": "key"},
    "source_fields": {
        "stage.incident_id": "key", "stage.name": "text", "stage.starts_at": "instant", "stage.ends_at": "instant",
        "stage.opened_at": "instant", "stage.closed_at": "instant", "stage.is_open": "flag",
        "stage.recorded_at": "instant",
    },
    "measure": "stages",
    "formula": """
select s.incident_id as entity, s.name as kind, extract(epoch from s.starts_at) as starts,
  extract(epoch from s.ends_at) as ends, extract(epoch from s.opened_at) as begins,
  extract(epoch from s.closed_at) as finishes, s.is_open as is_open
from vis_stage s where s.recorded_at <= :decision_point and s.incident_id = :scope ->> 'incident_id'
""",
    "decomposers": [{"name": "by_stage", "type": "telescoping", "kinds": ["waiting", "agent", "human"]}],
    "limitations": ["incidents that are open yet are counted up to the decision point"],
    "golden": [{"fixture": "incidents", "decision_point": "9000", "scope": {"incident_id": "1"}, "value": "11",
                "status": "resolved"}],
}  # fmt: skip
ERROR_SHARE_CHANGE: dict[str, Any] = {
    **COMMON,
    "title": "Change of the share of requests that failed",
    "unit": "percent",
    "grain": "period",
    "scope": {"service": "text"},
    "source_fields": {
        "traffic.service": "text", "traffic.version": "text", "traffic.period": "text", "traffic.errors": "errors",
        "traffic.requests": "requests", "traffic.recorded_at": "instant",
    },
    "measure": "ratio_change",
    "formula": """
select t.version as kind, t.period as period, t.errors as numerator, t.requests as denominator
from vis_traffic t where t.recorded_at <= :decision_point and t.service = :scope ->> 'service'
""",
    "decomposers": [{"name": "rate_and_mix", "type": "rate_mix"}],
    "limitations": ["a change of the mix is no cause of a change of a rate"],
    "golden": [{"fixture": "traffic", "decision_point": "1", "scope": {"service": "a"}, "value": "1",
                "status": "resolved"}],
}  # fmt: skip
BODIES = {"time_to_decision": TIME_TO_DECISION, "error_share_change": ERROR_SHARE_CHANGE}


def explained(name: str, rows: list[dict[str, Any]]) -> Explanation:
    return explain(MetricVersion.of(name, 1, "", BODIES[name]), Reading(rows))


@pytest.mark.parametrize("name", BODIES)
def test_each_is_a_definition(name: str) -> None:
    checking.check(name, BODIES[name])


def stages(incident: str, *times: int, is_open: bool = False) -> list[dict[str, Any]]:
    names = ["waiting", "agent", "human"]
    return [
        {"entity": incident, "kind": kind, "starts": starts, "ends": ends, "begins": times[0], "finishes": times[-1],
         "is_open": is_open}
        for kind, starts, ends in zip(names, times[:-1], times[1:], strict=True)
    ]  # fmt: skip


def test_stages_of_several_incidents_add_up_in_the_metrics_unit() -> None:
    found = explained("time_to_decision", [*stages("1", 0, 60, 120, 660), *stages("2", 100, 100, 130, 190)])
    assert (found.standing.status, found.standing.value, found.residual) == ("resolved", Fraction(25, 2), 0)
    assert [(one.name, one.amount) for one in found.components] == [
        ("waiting", 1), ("agent", Fraction(3, 2)), ("human", 10),
    ]  # fmt: skip


def test_open_ones_are_counted_and_said() -> None:
    found = explained("time_to_decision", [*stages("1", 0, 60, 120, 660), *stages("2", 0, 5, 6, 7, is_open=True)])
    assert [(one.code, dict(one.parameters)) for one in found.standing.reasons] == [
        (Code.STILL_OPEN, {"entities": "1"})
    ]


def test_a_stage_that_is_missing_leaves_a_residual() -> None:
    found = explained("time_to_decision", stages("1", 0, 60, 120, 660)[1:])
    assert (found.standing.status, found.residual) == ("partial", 1)
    assert {one.code for one in found.standing.reasons} == {Code.GAP, Code.RESIDUAL}


def test_rows_that_disagree_about_the_whole_have_no_value() -> None:
    rows = stages("1", 0, 60, 120, 660)
    found = explained("time_to_decision", [{**rows[0], "finishes": 700}, *rows[1:]])
    assert (found.standing.value, found.standing.reasons[0].code) == (None, Code.CONTRADICTION)


def traffic(**counts: tuple[int, int]) -> list[dict[str, Any]]:
    return [
        {"kind": name.split("_")[0], "period": name.split("_")[1], "numerator": errors, "denominator": requests}
        for name, (errors, requests) in counts.items()
    ]


def test_a_change_is_rate_and_mix_and_what_is_neither() -> None:
    found = explained(
        "error_share_change", traffic(v1_before=(9, 900), v2_before=(5, 100), v1_after=(1, 100), v2_after=(45, 900))
    )
    assert (found.standing.status, found.standing.value) == ("resolved", Fraction(46 - 14, 10))
    parts = {(one.name, one.part): one.amount for one in found.components}
    assert parts[("v1", "rate")] == parts[("v2", "rate")] == parts[("interaction", "interaction")] == 0
    assert (parts[("v1", "mix")], parts[("v2", "mix")]) == (Fraction(-8, 10), 4)


def test_a_period_without_traffic_and_an_unheard_one_have_no_change() -> None:
    alone = explained("error_share_change", traffic(v1_after=(1, 100)))
    assert [one.code for one in alone.standing.reasons] == [Code.ZERO_DENOMINATOR]
    unheard = explained("error_share_change", traffic(v1_before=(1, 100), v1_later=(1, 100)))
    assert [one.code for one in unheard.standing.reasons] == [Code.UNKNOWN_VALUE]


def test_what_is_too_long_to_be_written_exactly_is_not_known_and_not_rounded() -> None:
    # Each version has its own denominator in each period, so that of the interaction has the digits of all of them.
    rows = [
        {"kind": f"v{group}", "period": period, "numerator": group % 7, "denominator": 10**9 + 2 * group + place}
        for group in range(600)
        for place, period in enumerate(("before", "after"))
    ]
    found = explained("error_share_change", rows)
    assert found.standing.value is None
    assert [(reason.code, reason.parameters) for reason in found.standing.reasons] == [
        ("too_long", (("groups", "600"),))
    ]
    few = explained("error_share_change", rows[:40])
    assert few.standing.status == "resolved"
    assert "interaction" in [component.part for component in few.components]
