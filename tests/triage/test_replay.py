"""`manage.py replay`: recorded incidents through the production verdict, with nothing running."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate.triage import recorded_cases
from gate.triage.outcomes import receipt_hash
from gate.triage.replay import newest, replay
from gate.triage.rules import registry
from tests.triage.worlds import CASES

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(CASES.rglob("*.json"))


def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command with an empty environment: no database, no setting, no home."""
    command = [sys.executable, str(ROOT / "manage.py"), "replay", *(str(word) for word in words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd="/")


def document(name: str = "k8s_job_completed_after_failed_pod") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text())
    return found


def written(place: Path, value: Any, name: str = "case.json") -> Path:
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(json.dumps(value))
    return place / name


def replayed(value: dict[str, Any]) -> dict[str, Any]:
    case = recorded_cases.parse(recorded_cases.load(json.dumps(value).encode()))
    return replay(case, newest(registry)).as_json()


def codes(line: dict[str, Any]) -> list[str]:
    return [reason["code"] for reason in line["reasons"]]


def test_every_recorded_case_gets_its_verdict_and_none_passes_unearned() -> None:
    answer = run(CASES, "--json")
    lines = [json.loads(line) for line in answer.stdout.splitlines()]
    assert (answer.returncode, answer.stderr) == (0, "")
    assert [line["name"] for line in lines] == [file.stem for file in FILES]
    for line in lines:
        assert list(line) == ["name", "expected", "verdict", "reasons", "receipt"]
        assert line["verdict"] == line["expected"]
        assert bool(line["reasons"]) == (line["verdict"] == "fail")
        assert all(set(reason) == {"code", "headline", "sentence"} for reason in line["reasons"])
        assert line["receipt"]["sha256"] == receipt_hash(line["receipt"])
    assert [line["verdict"] for line in lines].count("pass") == 15 + 38


def test_it_exits_one_when_a_verdict_differs_and_says_so(tmp_path: Path) -> None:
    written(tmp_path, {**document(), "actual": "fail"})
    answer = run(tmp_path)
    assert answer.returncode == 1
    assert "DIFFERS" in answer.stdout
    assert "1 false passes, 0 false fails" in answer.stdout
    assert answer.stderr.strip().endswith("1 of 1 verdicts differ from how the incident ended.")
    assert run(tmp_path, "--json").stdout.count("\n") == 1


def test_a_case_whose_end_nobody_knows_differs_from_nothing(tmp_path: Path) -> None:
    told = document()
    del told["actual"]
    answer = run(written(tmp_path, told), "--json")
    assert answer.returncode == 0
    assert json.loads(answer.stdout)["expected"] is None


@pytest.mark.parametrize(
    "text",
    ["", "[1]", "{", '{"name": "x"}', '{"a": 1, "a": 2}', '{"name": "x", "hypothesis": "y", "findings": 3}', "\xff"],
)
def test_a_bad_file_is_named_in_one_sentence_and_the_others_are_replayed(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_bytes(text.encode("latin-1"))
    written(tmp_path, document(), "good.json")
    answer = run(tmp_path, "--json")
    assert answer.returncode == 2
    assert json.loads(answer.stdout)["verdict"] == "pass"
    assert answer.stderr.strip().count("\n") == 0
    assert f"{tmp_path}/bad.json" in answer.stderr


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    answer = run(tmp_path / "nowhere", tmp_path)
    assert answer.returncode == 2
    assert answer.stderr.count("is neither a recorded case nor a folder that holds one") == 2


def test_folders_are_walked_through_sorted_and_each_file_is_replayed_once(tmp_path: Path) -> None:
    for name in ("b/2.json", "a/deep/1.json", "b/1.json"):
        written((tmp_path / name).parent, {**document(), "name": name}, Path(name).name)
    (tmp_path / "a" / "notes.md").write_text("not a case")
    answer = run(tmp_path / "b" / "2.json", tmp_path, "--json")
    names = [json.loads(line)["name"] for line in answer.stdout.splitlines()]
    assert names == ["b/2.json", "a/deep/1.json", "b/1.json"]


def test_a_folder_of_a_team_decides_too(tmp_path: Path) -> None:
    """A broken folder refuses the replay as it refuses every process."""
    refused = run(CASES, "--json", COUNTERSEAL_VERDICT_RULES=str(tmp_path / "nowhere"))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "which is no folder" in refused.stderr


# What the record leaves out is not made up


def test_a_case_without_meta_fails_with_provenance_missing() -> None:
    told = document()
    for entry in told["audit"]:
        del entry["meta"]
    line = replayed(told)
    assert (line["verdict"], set(codes(line))) == ("fail", {"unreadable", "provenance_missing"})


@pytest.mark.parametrize("key", ["incident_id", "called_at", "ok", "error", "truncated", "took_ms"])
def test_no_part_of_meta_may_be_missing_or_null(key: str) -> None:
    told = document()
    told["audit"][0]["meta"][key] = None if key != "error" else "x"
    assert replayed(told)["verdict"] == "fail"
    del told["audit"][0]["meta"][key]
    assert "provenance_missing" in codes(replayed(told))


def test_without_the_incident_nothing_passes() -> None:
    told = document()
    del told["incident"]
    assert codes(replayed(told)) == ["provenance_missing"]


@pytest.mark.parametrize(
    "key", ["id", "subject", "began_at", "watch_from", "decided_at", "recurrence_period_s", "freshness_s"]
)
@pytest.mark.parametrize("value", [None, "", -1, [], "2026-05-05T02:00:40"])
def test_an_incident_that_is_not_told_whole_passes_nothing(key: str, value: Any) -> None:
    told = document()
    told["incident"][key] = value
    assert replayed(told)["verdict"] == "fail"
    del told["incident"][key]
    assert codes(replayed(told)) == ["provenance_missing"]


Change = Callable[[dict[str, Any]], Any]
META: list[tuple[str, Change, str]] = [
    ("another incident", lambda meta: meta.update(incident_id="INC-1"), "wrong_incident"),
    ("not ok", lambda meta: meta.update(ok=False), "call_failed"),
    ("an error beside ok", lambda meta: meta.update(error="timeout"), "call_failed"),
    ("cut", lambda meta: meta.update(truncated=True), "truncated"),
    ("before it began", lambda meta: meta.update(called_at="2026-05-05T02:00:39Z"), "before_incident"),
    ("after the decision", lambda meta: meta.update(called_at="2026-05-05T08:20:01Z"), "after_decision"),
    ("took until after the decision", lambda meta: meta.update(took_ms=10**7), "after_decision"),
    ("stale", lambda meta: meta.update(called_at="2026-05-05T07:49:59Z"), "stale"),
    ("ended before it began", lambda meta: meta.update(took_ms=-1), "after_decision"),
    ("a time without zone", lambda meta: meta.update(called_at="2026-05-05T08:14:40"), "provenance_missing"),
    ("ok as text", lambda meta: meta.update(ok="true"), "provenance_missing"),
    ("cut as text", lambda meta: meta.update(truncated="false"), "provenance_missing"),
    ("ok as number", lambda meta: meta.update(ok=1), "provenance_missing"),
    ("a year that no clock knows", lambda meta: meta.update(took_ms=10**25), "provenance_missing"),
]


@pytest.mark.parametrize(("change", "code"), [row[1:] for row in META], ids=[row[0] for row in META])
def test_provenance_takes_the_pass_away(change: Change, code: str) -> None:
    told = document()
    assert replayed(told)["verdict"] == "pass"
    change(told["audit"][0]["meta"])
    line = replayed(told)
    assert line["verdict"] == "fail"
    assert code in codes(line)


def test_an_entry_id_that_stands_twice_is_not_one_entry() -> None:
    told = document()
    told["audit"].append(told["audit"][0])
    assert "repeated_entry" in codes(replayed(told))


@pytest.mark.parametrize("cited", [1, "1 ", None, True, ["a1"], {"id": "a1"}, "A1"])
def test_an_id_of_another_type_or_spelling_names_no_entry(cited: Any) -> None:
    told = document()
    told["audit"][0]["id"] = "1" if cited in (1, "1 ") else "a1"
    told["findings"][0]["audit_id"] = cited
    assert "unknown_entry" in codes(replayed(told))


def test_a_hypothesis_that_the_class_did_not_allow_passes_nothing() -> None:
    told = document()
    told["incident"]["hypotheses"] = ["workload_recovered"]
    assert codes(replayed(told)) == ["hypothesis_not_allowed"]


def test_members_and_those_not_delivered_are_read_from_the_record() -> None:
    told = document()
    told["incident"]["members"] = [told["incident"]["subject"]]
    assert replayed(told)["verdict"] == "pass"
    told["incident"]["members"] = [{"namespace": "billing", "job": "another"}]
    assert "missing_fact" in codes(replayed(told))
    for key in ("undelivered", "truncatedAlerts", "items", "alert_count", "alerts"):
        more = document()
        more["incident"][key] = [{}, {}] if key == "alerts" else 7
        assert codes(replayed(more)) == ["members_unknown"]
        more["incident"] |= {key: "7"}
        assert codes(replayed(more)) == ["provenance_missing"]
    for key, one in (("items", 1), ("alerts", [{}]), ("undelivered", 0)):
        assert replayed({**document(), "incident": {**document()["incident"], key: one}})["verdict"] == "pass"
    told["incident"] |= {"members": [told["incident"]["subject"]] * 2, "items": 2}
    assert codes(replayed(told)) == ["members_unknown"]
    del told["incident"]["items"]
    told["incident"]["members"] = "all"
    assert codes(replayed(told)) == ["provenance_missing"]


def test_numbers_keep_their_digits() -> None:
    loaded = recorded_cases.load(b'{"a": 0.1, "b": 0.049999999999999999999, "c": 3}')
    assert [str(loaded[key]) for key in "abc"] == ["0.1", "0.049999999999999999999", "3"]


@pytest.mark.parametrize("good", [{"op": "<", "value": 25}, "< 25"])
def test_a_condition_is_read_in_either_spelling(good: Any) -> None:
    told = document("throttling_back_in_range")
    told["incident"]["metric_good"] = good
    assert replayed(told)["verdict"] == "pass"


@pytest.mark.parametrize(
    "good", [{"op": ">", "value": 25}, "> 25", "<25", "< x", "", {"op": "<"}, {"op": "<", "value": "25"},
             {"op": "<", "value": True}, {"op": "<", "value": 1.7}, None, 25],
)  # fmt: skip
def test_another_condition_or_none_that_can_be_read_passes_nothing(good: Any) -> None:
    told = document("throttling_back_in_range")
    told["incident"]["metric_good"] = good
    assert replayed(told)["verdict"] == "fail"


def test_literals_that_are_no_json_are_read_as_no_number() -> None:
    told = document()
    text = json.dumps(told).replace('"succeeded": 1', '"succeeded": NaN')
    case = recorded_cases.parse(recorded_cases.load(text.encode()))
    assert replay(case, newest(registry)).verdict == "fail"
