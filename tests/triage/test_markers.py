"""Whatever the tool, an answer that says of itself that it failed, was cut, or is not of now shows nothing."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from gate.triage import markers, recorded_cases
from gate.triage.replay import newest, replay
from gate.triage.rules import registry
from tests.triage.worlds import CASES

# One earned pass of each tool's answer that may stand alone, with an answer that is an object.
EARNED = sorted(
    file for file in CASES.rglob("*.json") if json.loads(file.read_text())["actual"] == "pass"
)  # fmt: skip
BAD: list[tuple[str, Any]] = [
    *((key, True) for key in sorted(markers.FALSE)), *((key, False) for key in sorted(markers.TRUE)),
    *((key, "x") for key in sorted(markers.EMPTY)), *((key, 1) for key in sorted(markers.ZERO)),
    *((key, 5400) for key in sorted(markers.AGES)), *((key, "staging") for key in sorted(markers.PLACES)),
    ("status", "error"), ("kind", "Status"), ("truncated", "false"), ("replica_lag_s", None), ("cache_age_s", -1),
]  # fmt: skip
HARMLESS: list[tuple[str, Any]] = [
    ("truncated", False), ("partial", None), ("complete", True), ("error", None), ("warnings", []), ("errors", False),
    ("next_page_token", ""), ("return_code", 0), ("cache_age_s", 0), ("replica_lag_s", 0.4),
    ("environment", "production"),
    ("status", "success"), ("kind", "Node"), ("complete", "2026-05-05"), ("note", "stale"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), BAD)
def test_a_mark_speaks_against_an_answer(key: str, value: Any) -> None:
    assert markers.against({"rows": [], key: value}, {}, {}) == key


@pytest.mark.parametrize(("key", "value"), HARMLESS)
def test_a_harmless_mark_does_not(key: str, value: Any) -> None:
    assert markers.against({"rows": [], key: value}, {}, {}) is None


def test_the_environment_of_the_incident_is_the_right_one() -> None:
    assert markers.against({"environment": "staging"}, {"environment": "staging"}, {}) is None
    assert markers.against({"environment": "production"}, {"environment": "staging"}, {}) == "environment"


def test_an_answer_may_repeat_the_error_that_was_counted() -> None:
    assert markers.against({"error": "ETIMEDOUT", "count": 0}, {}, {"error": "ETIMEDOUT"}) is None
    assert markers.against({"error": "timed out", "count": 0}, {}, {"error": "ETIMEDOUT"}) == "error"


@pytest.mark.parametrize("file", EARNED, ids=lambda file: file.stem)
@pytest.mark.parametrize("key", ["stale", "replica_lag_s", "errors", "environment"])
def test_no_earned_pass_outlives_a_mark_on_what_it_cites(file: Path, key: str) -> None:
    earned = json.loads(file.read_text())
    cited = {finding["audit_id"] for finding in earned["findings"]}
    value = dict(BAD)[key]
    for index, entry in enumerate(earned["audit"]):
        if entry["id"] not in cited:
            continue
        for place in ("result", "meta"):
            marked = copy.deepcopy(earned)
            if type(marked["audit"][index][place]) is dict:
                marked["audit"][index][place][key] = value
                case = recorded_cases.parse(recorded_cases.load(json.dumps(marked).encode()))
                assert replay(case, newest(registry)).as_json()["verdict"] == "fail", (index, place)
