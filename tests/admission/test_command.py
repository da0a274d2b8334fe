"""`manage.py policy`: a line in, a line out, and no database."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from gate.admission import canonical, files
from tests.admission.programs import cases, enum, program, rule

ROOT = Path(__file__).parent.parent.parent
UNUSABLE = {"verdict": "ask", "rule": None, "escalations": [{"q": None, "why": "program"}]}
UNREADABLE = {"findings": [["unreadable", "program", "error"]]}
SOUND = program([enum("q")], [rule("r", "allow", ("q", "is", "x"))])
SURE = {"q": {"value": "x", "confidence": 0.9}}


def answered(tmp_path: Path, act: str, *lines: bytes) -> list[dict[str, Any]]:
    """What the command answers to these lines, one for each."""
    given = tmp_path / "lines.jsonl"
    given.write_bytes(b"\n".join(lines) + b"\n")
    out = StringIO()
    call_command("policy", act, str(given), stdout=out)
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(found) == len(lines)
    return found


def line(**given: Any) -> bytes:
    return json.dumps(given).encode()


def test_every_case_is_decided_as_it_says(tmp_path: Path) -> None:
    rows = cases("reduce")
    keys = ("program", "answers", "judged_action", "executed_action")
    lines = [line(**{key: row[key] for key in keys if key in row}) for row in rows]
    for row, found in zip(rows, answered(tmp_path, "decide", *lines), strict=True):
        expect = row["expect"]
        assert (found["verdict"], found["rule"]) == (expect["verdict"], expect["rule"]), row["id"]
        assert sorted(map(str, found["escalations"])) == sorted(map(str, expect["escalations"])), row["id"]
        assert set(found) == {"verdict", "rule", "escalations"}


def test_every_program_is_linted_as_it_says(tmp_path: Path) -> None:
    rows = cases("lint")
    found = answered(tmp_path, "lint", *(json.dumps(row["program"]).encode() for row in rows))
    for row, one in zip(rows, found, strict=True):
        assert sorted(one["findings"]) == sorted(row["expect"]["findings"]), row["id"]


NO_PROGRAM = [
    b"", b" ", b"{", b"null", b"[]", b'"allow"', b"\xff\xfe", b"\xef\xbb\xbf{}", b"{} {}", b"[" * 100_000,
    b'{"program": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", line(), line(answers=SURE),
    line(program=None, answers=SURE),
    line(program={**SOUND, "questions": []}, answers=SURE), line(program={**SOUND, "otherwise": None}, answers=SURE),
    # Which of two answers counts would depend on who reads the line.
    b'{"program": ' + json.dumps(SOUND).encode() + b', "answers": {"q": null, "q": {"value": "x", "confidence": 1}}}',
]  # fmt: skip


def test_a_line_that_is_none_is_answered_all_the_same(tmp_path: Path) -> None:
    found = answered(
        tmp_path, "decide", line(program=SOUND, answers=SURE), *NO_PROGRAM, line(program=SOUND, answers=SURE)
    )
    assert found[1:-1] == [UNUSABLE] * len(NO_PROGRAM)
    assert found[0] == found[-1] == {"verdict": "allow", "rule": "r", "escalations": []}


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (b'{"q": {"value": "x", "confidence": NaN}}', "malformed"),
        (b'{"q": {"value": "x", "confidence": Infinity}}', "out_of_range"),
        (b'{"q": {"value": "x", "confidence": 1e999}}', "out_of_range"),
        (b'{"q": {"value": "x", "confidence": ' + b"9" * 5000 + b"}}", "out_of_range"),
        (b'{"q": {"value": "x", "confidence": true}}', "malformed"),
        (b'{"q": ' + b"[" * 900 + b"]" * 900 + b"}", "malformed"),
        (b'"q"', "missing"),
    ],
)
def test_odd_answers_are_asked_about(tmp_path: Path, answers: bytes, why: str) -> None:
    found = answered(
        tmp_path, "decide", b'{"program": ' + json.dumps(SOUND).encode() + b', "answers": ' + answers + b"}"
    )
    assert found == [{"verdict": "ask", "rule": None, "escalations": [{"q": "q", "why": why}]}]


def test_what_cannot_be_read_is_no_sound_program(tmp_path: Path) -> None:
    found = answered(
        tmp_path, "lint", b"", b"{", b"\xff", b'{"questions": [], "questions": []}', json.dumps(SOUND).encode()
    )
    assert found == [UNREADABLE] * 4 + [{"findings": []}]


def test_it_answers_line_by_line_from_standard_input_without_a_database() -> None:
    """As an operator runs it: a process of its own, that no database is reachable from."""
    environment = {**os.environ, "COUNTERSEAL_OWNER_URL": "", "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing"}
    given = b"\n".join([line(program=SOUND, answers=SURE), b"", b"\xff", line(program=SOUND, answers={})])
    done = subprocess.run(
        [sys.executable, "manage.py", "policy", "decide"], cwd=ROOT, env=environment, input=given,
        capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    found = [json.loads(one)["rule"] for one in done.stdout.splitlines()]
    assert found == ["r", None, None, None]


def test_a_text_may_stand_in_for_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO(f"{line(program=SOUND, answers=SURE).decode()}\n\n\ud800\n"))
    out = StringIO()
    call_command("policy", "decide", stdout=out)
    assert [json.loads(one)["rule"] for one in out.getvalue().splitlines()] == ["r", None, None]


def written(tmp_path: Path, name: str, given: Any) -> str:
    path = tmp_path / name
    path.write_text(json.dumps(given))
    return str(path)


def ran(*words: str) -> tuple[list[dict[str, Any]], int]:
    """What a command printed, and its exit code."""
    out, code = StringIO(), 0
    try:
        call_command("policy", *words, stdout=out)
    except CommandError as error:
        code = error.returncode
    return [json.loads(one) for one in out.getvalue().splitlines()], code


def test_check_tells_what_does_not_hold(tmp_path: Path) -> None:
    case = {"title": "x is let be", "answers": SURE, "expect": {"verdict": "allow", "rule": "r"}}
    good = written(tmp_path, "good.json", {"program": SOUND, "cases": [case]})
    found, code = ran("check", good)
    assert (found[0]["differing"], found[0]["exhaustive"]["cells"], code) == ([], 6, 0)
    wrong = {**case, "expect": {"verdict": "allow", "rule": "another"}}
    found, code = ran("check", good, written(tmp_path, "wrong.json", {"program": SOUND, "cases": [wrong]}))
    assert ([one["differing"] for one in found], code) == ([[], ["x is let be"]], 1)
    found, code = ran("check", written(tmp_path, "bare.json", {**SOUND, "otherwise": None}))
    assert (found[0]["exhaustive"], found[0]["cases"], code) == (None, 0, 1)


def test_diff_names_the_cells_that_are_newly_allowed(tmp_path: Path) -> None:
    old = written(tmp_path, "old.json", SOUND)
    looser = {**SOUND, "rules": [rule("r", "allow", ("q", "in", ["x", "y"]))]}
    found, code = ran("diff", old, written(tmp_path, "new.json", looser))
    assert (found[0]["newly_allowed"], found[0]["cells"], code) == (1, 6, 1)
    assert found[1] == {
        "cell": {"q": "y"}, "was": "ask", "was_rule": "otherwise", "becomes": "allow", "becomes_rule": "r",
    }  # fmt: skip
    stricter = {**SOUND, "rules": [rule("r", "block", ("q", "is", "x"))]}
    found, code = ran("diff", old, written(tmp_path, "new.json", stricter))
    assert (found[0]["newly_blocked"], found[1]["becomes"], code) == (1, "block", 0)


def test_export_is_what_the_digest_is_of() -> None:
    out = StringIO()
    call_command("policy", "export", stdout=out)
    lines = out.getvalue().splitlines()
    named = [canonical.digest(one.program) for one in files.shipped()]
    assert [hashlib.sha256(one.encode()).hexdigest() for one in lines] == named


def test_the_digest_of_one_export_is_the_policys_name() -> None:
    out = StringIO()
    call_command("policy", "export", "sql-writes", stdout=out)
    assert hashlib.sha256(out.getvalue().encode()).hexdigest() == canonical.digest(files.find("sql-writes").program)


def test_what_has_no_name_does_not_hold(tmp_path: Path) -> None:
    nameless = written(tmp_path, "nameless.json", {**SOUND, "note": "\ud800"})
    found, code = ran("check", nameless)
    assert (found[0]["digest"], found[0]["findings"], code) == (None, [], 1)
    assert [ran(*words)[1] for words in (["diff", nameless, nameless], ["export", nameless])] == [2, 1]


def test_what_is_no_policy_is_said(tmp_path: Path) -> None:
    for words in (
        ["check", "nobody"], ["export", "nobody"], ["diff", "sql-writes", "nobody"], ["decide", "/nowhere"],
        ["diff", "sql-writes", written(tmp_path, "unsound.json", {})],
        ["check", written(tmp_path, "cases.json", {"program": SOUND, "cases": [{"title": "no answers"}]})],
    ):  # fmt: skip
        assert ran(*words)[1] == 2, words
