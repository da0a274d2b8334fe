"""The shop's recorded cases: each is decided as its outcome says, by the rules that the demo puts in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.demo import admins, definitions
from gate.triage import case_files, replay
from gate.triage.rules import registry

FILES = sorted((Path(admins.__file__).parent / "cases").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_case_is_decided_as_it_ended(file: Path) -> None:
    told = replay.replay(case_files.read(file), replay.newest(registry))
    assert told.expected is not None
    assert told.verdict == told.expected, told.reasons


def test_each_rule_of_the_demo_has_a_case_that_passes_and_one_that_fails() -> None:
    cases = [case_files.read(file) for file in FILES]
    for hypothesis in definitions.PASSING_HYPOTHESES:
        assert {case.expected for case in cases if case.hypothesis == hypothesis} == {"pass", "fail"}
