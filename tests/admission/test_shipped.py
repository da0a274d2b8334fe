"""The policies that are shipped: sound, decided in every cell, and each rule and verdict of them met by a case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate.admission import checking, coverage, files
from gate.admission.files import PolicyFile
from gate.admission.lint import lint
from gate.admission.reducer import decide

SHIPPED = files.shipped()
WRITTEN = (files.SHIPPED / "rules.md").read_text()


def each() -> Any:
    return pytest.mark.parametrize("policy", SHIPPED, ids=[one.name for one in SHIPPED])


def test_there_is_one_for_each_kind_of_action() -> None:
    assert [one.name for one in SHIPPED] == ["file-edits", "http-actions", "shell-commands", "sql-writes"]


@each()
def test_lint_finds_nothing_and_every_rule_can_fire(policy: PolicyFile) -> None:
    assert lint(policy.program) == []
    cells = checking.check(policy).cells
    assert cells is not None
    assert all(cells.fired.values())


@each()
def test_every_case_is_decided_as_it_says(policy: PolicyFile) -> None:
    assert checking.check(policy).differing == ()
    met = {case.rule for case in policy.cases}
    assert met == {one["id"] for one in policy.program["rules"]} | {"otherwise", None}


@each()
def test_a_question_comes_from_a_rule_that_is_written(policy: PolicyFile) -> None:
    for question in policy.program["questions"]:
        source = question["source"]
        section, _, number = source["place"].removeprefix("rules.md, ").rpartition(" ")
        assert f"{number}. {source['text']}\n" in WRITTEN.partition(f"## {section}\n")[2].partition("\n##")[0] + "\n"


@each()
def test_what_it_covers_are_its_questions_and_known_families(policy: PolicyFile) -> None:
    coverage.check(policy.covers, policy.program)
    assert any("loss" in families for families in policy.covers.values())


@each()
def test_leaving_out_any_answer_asks(policy: PolicyFile) -> None:
    for case in policy.cases:
        for gone in case.answers:
            rest = {name: answer for name, answer in case.answers.items() if name != gone}
            assert decide(policy.program, rest).verdict == "ask"


def probed(name: str, **values: str) -> str:
    program = files.find(name).program
    return decide(program, {one: {"value": value, "by": "probe"} for one, value in values.items()}).verdict


def test_node_modules_pass_and_a_home_folder_does_not() -> None:
    command = {"action": "removes", "tracked": "no", "exists": "yes", "regenerable": "yes"}
    assert probed("shell-commands", place="inside", **command) == "allow"
    assert probed("shell-commands", place="home", **command) == "block"


def test_no_production_write_is_let_pass_by_any_cell() -> None:
    for name in ("sql-writes", "http-actions"):
        program = files.find(name).program
        named = [one for one in program["questions"] if one["id"] != "environment"]
        for cell in cells(named):
            if cell.get("effect") != "reads":
                assert probed(name, environment="production", **cell) != "allow", cell


def cells(questions: list[dict[str, Any]]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = [{}]
    for one in questions:
        found = [{**cell, one["id"]: option} for cell in found for option in one["options"]]
    return found


def test_a_policy_in_a_file_of_its_own_is_found(tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    mine.write_bytes((files.SHIPPED / "sql-writes.json").read_bytes())
    assert files.find(str(mine)).program == files.find("sql-writes").program
