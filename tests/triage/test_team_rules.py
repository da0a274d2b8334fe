"""Rules of teams: loaded from their own folders without a fork, apart from each other, or refused whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from textwrap import dedent

import pytest
from django.core.management import call_command

from gate.triage.outcomes import ActiveRule, Fail, Pass
from gate.triage.replay import newest
from gate.triage.rules import registry
from gate.triage.rules.language import Rule
from tests.triage.worlds import WORLDS, World, at, call, put

ROOT = Path(__file__).resolve().parents[2]
READER = '''
"""queue_depth: how many jobs wait."""

from gate.triage.readers.document import Answer


class QueueDepth(Answer):
    tools = ("queue_depth",)

    def asked_keys(self) -> frozenset[str]:
        return self.args.keys()

    def asked_queue(self) -> str:
        return self.args.text("queue")

    def waiting(self) -> int:
        return self.result.integer("waiting")
'''
RULE = '''
"""The queue is drained: {word}."""

from gate.triage.readers import incident as said
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule, equal

from ..queue_depth import QueueDepth


def asked_for_this_queue(depth: QueueDepth, case: Case) -> Judgment:
    if depth.asked_keys() != frozenset(("queue",)):
        return Judgment(False, "", "it was not asked by exactly queue.")
    return equal(depth.asked_queue(), said.subject_text(case.incident, "queue"), "another queue was asked for.")


def nothing_waits(depth: QueueDepth, case: Case) -> Judgment:
    return Judgment(depth.waiting() <= {limit}, f"{{depth.waiting()}}", "jobs still wait.")


DEPTH = Need(
    readers=(QueueDepth,),
    asked=asked_for_this_queue,
    answered=asked_for_this_queue,
    checks=(Check(title="The queue is drained", test=nothing_waits, earn="An empty queue", unreadable="Unread"),),
    again=(nothing_waits,),
)
RULE = Rule(hypothesis="{hypothesis}", version={version}, facts=(Fact(name="queue_drained", needs=(DEPTH,)),))
'''


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    yield
    registry.use([])


def folder_of(
    place: Path, *, hypothesis: str = "queue_drained", version: int = 1, limit: int = 0, word: str = "a"
) -> Path:
    """A folder with one rule and its reader."""
    home = place / hypothesis
    home.mkdir(parents=True, exist_ok=True)
    (place / "queue_depth.py").write_text(READER)
    text = RULE.format(hypothesis=hypothesis, version=version, limit=limit, word=word)
    (home / f"v{version}.py").write_text(text)
    return place


def drained(waiting: int) -> World:
    world = WORLDS["transient_failure_recovered"]()
    found = call(50, "queue_depth", {"queue": "payouts"}, {"waiting": waiting}, at(6, 25))
    named = world.with_incident(subject={"queue": "payouts"}, hypotheses=("queue_drained",))
    finding = world.findings[0].__class__("queue_drained", "A-50")
    return named.but(hypothesis="queue_drained", entries=(found,), findings=(finding,), rules=newest(registry))


def rule_of(hypothesis: str) -> Rule:
    return next(rule for rule in registry.newest() if rule.hypothesis == hypothesis)


def test_a_folder_of_a_team_is_in_force_beside_the_shipped_rules(tmp_path: Path) -> None:
    shipped = registry.loaded()
    registry.use([folder_of(tmp_path / "ours")])
    assert [rule for rule in registry.loaded() if rule.hypothesis != "queue_drained"] == list(shipped)
    assert isinstance(drained(0).decide(), Pass)
    assert isinstance(drained(1).decide(), Fail)
    assert isinstance(drained(0).with_result(50, put(("waiting",), "0")).decide(), Fail)


def test_two_folders_with_a_module_of_the_same_name_do_not_clash(tmp_path: Path) -> None:
    one = folder_of(tmp_path / "one" / "rules", hypothesis="queue_drained", limit=0)
    other = folder_of(tmp_path / "two" / "rules", hypothesis="queue_short", limit=5)
    (other / "queue_depth.py").write_text(READER.replace('"waiting"', '"depth"'))
    registry.use([one, other])
    readers = {rule_of(name).facts[0].needs[0].readers[0] for name in ("queue_drained", "queue_short")}
    assert len(readers) == 2
    assert isinstance(drained(0).decide(), Pass)


def test_a_changed_reader_of_a_team_changes_its_hash_and_only_its(tmp_path: Path) -> None:
    one = folder_of(tmp_path / "one", hypothesis="queue_drained")
    other = folder_of(tmp_path / "two", hypothesis="queue_short")
    registry.use([one, other])
    before = {name: registry.hash_of(rule_of(name)) for name in ("queue_drained", "queue_short")}
    (one / "queue_depth.py").write_text(READER + "\n# more\n")
    registry.hash_of.cache_clear()
    after = {name: registry.hash_of(rule_of(name)) for name in before}
    assert after["queue_drained"] != before["queue_drained"]
    assert after["queue_short"] == before["queue_short"]


def test_a_hash_does_not_depend_on_where_the_folder_lies(tmp_path: Path) -> None:
    hashes = []
    for place in ("here", "there/deeper"):
        registry.use([folder_of(tmp_path / place)])
        hashes.append(registry.hash_of(rule_of("queue_drained")))
    assert hashes[0] == hashes[1]


def test_a_team_may_bring_the_next_version_of_a_shipped_rule(tmp_path: Path) -> None:
    version = rule_of("refund_completed").version + 1
    registry.use([folder_of(tmp_path / "ours", hypothesis="refund_completed", version=version)])
    assert newest(registry)["refund_completed"].rule == rule_of("refund_completed")
    assert rule_of("refund_completed").version == version


def test_the_body_of_a_team_rule_is_printed_and_put_in_force(tmp_path: Path) -> None:
    registry.use([folder_of(tmp_path / "ours")])
    printed = StringIO()
    call_command("rule_body", "queue_drained", "1", stdout=printed)
    body = json.loads(printed.getvalue())
    assert registry.find(body) == rule_of("queue_drained")
    assert registry.active({"queue_drained": body})["queue_drained"] == ActiveRule(
        rule_of("queue_drained"), body["hash"]
    )


def broken(place: Path, name: str, text: str) -> Path:
    folder = folder_of(place)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(dedent(text))
    return folder


BROKEN = [
    ("queue_drained/v2.py", "RULE = 1\n", "must say RULE"),
    ("queue_drained/v2.py", "def (\n", "cannot be read as Python"),
    ("queue_drained/v2.py", "from ..nowhere import X\n", "cannot be loaded"),
    ("queue_drained/v2.py", "RULE = UNKNOWN\n", "cannot be loaded"),
    ("queue_drained/v2.py", "import os\n", "imports os"),
    ("queue_depth.py", "def f(r): return r.get('x', 0)\n", "get() makes up"),
    ("helpers/deep.py", "def f(r): return r.a or r.b\n", "`or` takes"),
]


@pytest.mark.parametrize(("name", "text", "says"), BROKEN, ids=[f"{name}: {says}" for name, _, says in BROKEN])
def test_a_broken_folder_is_refused_whole_in_one_sentence(tmp_path: Path, name: str, text: str, says: str) -> None:
    folder, before = broken(tmp_path / "ours", name, text), registry.loaded()
    with pytest.raises(registry.Refused, match=r"The rules in .* are not used") as refused:
        registry.use([folder])
    assert says in refused.value.sentence
    assert "\n" not in refused.value.sentence
    assert registry.loaded() == before


def test_a_rule_of_absences_alone_or_with_a_judging_name_is_refused(tmp_path: Path) -> None:
    for fact, says in (("no_jobs_waiting", "absences"), ("queue_ok", "`ok`")):
        folder = folder_of(tmp_path / fact)
        file = folder / "queue_drained" / "v1.py"
        file.write_text(file.read_text().replace('name="queue_drained"', f'name="{fact}"'))
        with pytest.raises(registry.Refused, match=says):
            registry.use([folder])


def test_the_same_version_twice_is_refused(tmp_path: Path) -> None:
    folders = [folder_of(tmp_path / "one"), folder_of(tmp_path / "two")]
    with pytest.raises(registry.Refused, match="are both version 1 of queue_drained"):
        registry.use(folders)
    with pytest.raises(registry.Refused, match="are both version 1 of refund_completed"):
        registry.use([folder_of(tmp_path / "three", hypothesis="refund_completed")])


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(registry.Refused, match="which is no folder"):
        registry.use([tmp_path / "nowhere"])


def test_a_grammar_of_a_team_may_take_text_apart(tmp_path: Path) -> None:
    folder = broken(tmp_path / "ours", "grammars/words.py", "import re\nWORD = re.compile('a|b')\n")
    registry.use([folder])
    assert isinstance(drained(0).decide(), Pass)


def start(*words: str, folders: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *words], capture_output=True, text=True, check=False,
        env={"COUNTERSEAL_VERDICT_RULES": folders, "COUNTERSEAL_VAR": os.devnull + "-none"},
    )  # fmt: skip


def test_a_process_starts_with_the_folders_of_the_environment_or_says_in_one_sentence_why_not(tmp_path: Path) -> None:
    good = folder_of(tmp_path / "good")
    printed = start("rule_body", "queue_drained", "1", folders=str(good))
    assert json.loads(printed.stdout)["hypothesis"] == "queue_drained", printed.stderr
    bad = broken(tmp_path / "bad", "queue_drained/v2.py", "import os\n")
    refused = start("rule_body", "queue_drained", "1", folders=f"{good}:{bad}")
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert len(refused.stderr.strip().splitlines()) == 1
    assert "imports os" in refused.stderr
