"""Cases of a second hand, each with one thing after another made wrong: none passes any more."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from gate.triage import recorded_cases
from gate.triage.replay import newest, replay
from gate.triage.rules import registry
from tests.triage.worlds import CASES

Edit = Callable[[dict[str, Any]], object]


def other(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / "other" / f"{name}.json").read_text())
    return found


def verdict(case: dict[str, Any]) -> str:
    parsed = recorded_cases.parse(recorded_cases.load(json.dumps(case).encode()))
    return str(replay(parsed, newest(registry)).as_json()["verdict"])


def entry(case: dict[str, Any], number: int) -> dict[str, Any]:
    found: dict[str, Any] = case["audit"][number]
    return found


def rule_of(case: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = entry(case, 1)["result"]["data"]["groups"][0]["rules"][0]
    return found


def stream_of(case: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = entry(case, 1)["result"]["data"]["result"][0]
    return found


def answer_at(number: int, **values: Any) -> Edit:
    return lambda case: entry(case, number)["result"].update(values)


def asked_at(number: int, **values: Any) -> Edit:
    return lambda case: entry(case, number)["args"].update(values)


def rule_says(**values: Any) -> Edit:
    return lambda case: rule_of(case).update(values)


ATTACKS: list[tuple[str, str, Edit]] = [
    ("probe_up_again", "the rule is pending", rule_says(state="pending")),
    ("probe_up_again", "the rule fires", rule_says(state="firing")),
    ("probe_up_again", "its health is unknown", rule_says(health="unknown")),
    ("probe_up_again", "it was never evaluated", rule_says(lastEvaluation="0001-01-01T00:00:00Z")),
    ("probe_up_again", "it was evaluated an hour ago", rule_says(lastEvaluation="2026-01-20T06:39:50Z")),
    ("probe_up_again", "it was evaluated later than asked", rule_says(lastEvaluation="2026-01-20T07:40:30Z")),
    ("probe_up_again", "its evaluation is not told", lambda case: rule_of(case).pop("lastEvaluation")),
    ("probe_up_again", "its alerts are not told", lambda case: rule_of(case).pop("alerts")),
    ("probe_up_again", "it has an alert", rule_says(alerts=[{"labels": {}, "state": "firing"}])),
    ("probe_up_again", "it only records", rule_says(type="recording")),
    ("probe_up_again", "it has another name", rule_says(name="ProbeUp")),
    ("probe_up_again", "one group was asked for", asked_at(1, **{"rule_group[]": ["bb"]})),
    ("probe_up_again", "another rule was asked for", asked_at(1, **{"rule_name[]": ["ProbeUp"]})),
    ("probe_up_again", "recording rules were asked for", asked_at(1, type="record")),
    ("probe_up_again", "a store did not answer", answer_at(1, warnings=["store down"])),
    ("duration_and_prometheus", "a duration of nothing", asked_at(0, Duration=0)),
    ("duration_and_prometheus", "a duration of a month", asked_at(0, Duration=43200)),
    ("duration_and_prometheus", "a duration after it began", asked_at(0, Duration=20)),
    ("duration_and_prometheus", "a duration as text", asked_at(0, Duration="60")),
    ("duration_and_prometheus", "a duration and a start", asked_at(0, StartTime="2026-05-03T03:26:10Z")),
    ("duration_and_prometheus", "asked before it could come again", lambda case: entry(case, 0)["meta"].update(
        called_at="2026-05-03T04:21:59Z")),
    ("loki_control_by_lines", "the line is of another stream", lambda case: stream_of(case)["stream"].update(app="x")),
    ("loki_control_by_lines", "the line is of yesterday",
     lambda case: stream_of(case)["values"][0].__setitem__(0, "1771326350000000000")),
    ("loki_control_by_lines", "no line is listed", lambda case: entry(case, 1)["result"]["data"].update(result=[])),
    ("loki_control_by_lines", "the list is at its limit", asked_at(1, limit=1)),
    ("loki_control_by_lines", "a limit of nothing", asked_at(0, limit=0)),
    ("recipient_row", "a limit of nothing", asked_at(1, limit=0)),
    ("refunds_all_listed", "the list goes on", answer_at(1, has_more=True)),
    ("refunds_all_listed", "only refunds of a day", asked_at(1, created={"gte": 1})),
    ("bucket_host_prefix", "a name that is in use", asked_at(1, host="restore.prod")),
    ("s3_dump_restored", "a machine of no telling name", asked_at(1, host="pg9.internal")),
    ("s3_dump_restored", "the folder of another data set", asked_at(0, Prefix="invoices/")),
    ("mailer_job_insights", "the job's id is short", lambda case: case["incident"]["subject"].update(app="mail")
        or case["incident"]["subject"].update(job_id="7")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "what", "edit"), ATTACKS, ids=[f"{row[0]}: {row[1]}" for row in ATTACKS])
def test_one_thing_made_wrong_takes_the_pass_away(name: str, what: str, edit: Edit) -> None:
    earned = other(name)
    attacked = copy.deepcopy(earned)
    edit(attacked)
    assert attacked != earned, what
    assert verdict(earned) == "pass"
    assert verdict(attacked) == "fail"
