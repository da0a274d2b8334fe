"""The README's rule, from an empty folder to one in force: files, commands and steps as they stand there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from audit import twohands
from audit.models import Definition, Outbox
from gate.people.models import Person
from gate.triage import case_files, rule_actions, tasks
from gate.triage.outcomes import Pass
from gate.triage.rule_models import Flip, Trial
from gate.triage.rules import registry
from gate.triage.situation import Situation

ROOT = Path(settings.BASE_DIR)
README = (ROOT / "README.md").read_text()
SECTION = README[README.index("\n## Write a rule\n") :].split("\n## ")[1]
BLOCKS = re.findall(r"^<!-- rule(?:: (\S+))? -->\n```(\w+)\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)
FILES = {name: text for name, _, text in BLOCKS if name}
COMMANDS = "".join(text for name, language, text in BLOCKS if not name and language == "sh")
NAME = "backlog_drained"
# Stands for what the README starts Python with.
SHIM = f'python3() {{ shift 3; "{sys.executable}" "$@"; }}\nset -e\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with the README's files, and the product in it."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "manage.py").symlink_to(ROOT / "manage.py")
    return tmp_path


@pytest.fixture
def ran(place: Path) -> subprocess.CompletedProcess[str]:
    """The README's commands, run there one after the other."""
    environment = {"PATH": os.environ["PATH"], "COUNTERSEAL_VAR": str(place / "no-such-var")}
    return subprocess.run(
        ["bash", "-c", SHIM + COMMANDS], cwd=place, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def loaded(ran: subprocess.CompletedProcess[str], place: Path, settings: Any) -> Iterator[dict[str, Any]]:
    """This process with both variables set, and the body that the command has printed."""
    settings.CASES = [str(place / "our-cases")]
    registry.use([place / "our-rules"])
    yield json.loads(ran.stdout[ran.stdout.index("{") :])
    registry.use([])


def test_the_section_has_its_files_and_commands() -> None:
    assert list(FILES) == ["our-rules/queue_depth.py", f"our-rules/{NAME}/v1.py", "our-cases/drained.json"]
    assert len(BLOCKS) == SECTION.count("```") / 2 == 4
    assert all(command in COMMANDS for command in ("manage.py replay our-cases", f"manage.py rule_body {NAME} 1"))


def test_the_commands_run_as_they_stand(ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.returncode == 0, ran.stderr
    assert "2 cases: 1 pass, 1 fail; 0 false passes, 0 false fails." in ran.stdout
    assert "an empty queue without workers shows nothing" in ran.stdout


@pytest.mark.parametrize(
    ("change", "code"), [(('"actual": "fail"', '"actual": "pass"'), 1), (('"findings"', '"found"'), 2)]
)
def test_replay_exits_as_the_readme_says(
    ran: subprocess.CompletedProcess[str], place: Path, change: tuple[str, str], code: int
) -> None:
    case = place / "our-cases" / "idle.json"
    case.write_text(case.read_text().replace(*change))
    again = subprocess.run(
        [sys.executable, "manage.py", "replay", "our-cases", "--json"], cwd=place, capture_output=True, text=True,
        check=False, env={"COUNTERSEAL_VERDICT_RULES": str(place / "our-rules")},
    )  # fmt: skip
    assert again.returncode == code, again.stderr
    lines = [json.loads(line) for line in again.stdout.splitlines()]
    assert {frozenset(line) for line in lines} == {frozenset(("name", "expected", "verdict", "reasons", "receipt"))}
    assert len(lines) == (2 if code == 1 else 1)


@pytest.mark.django_db
def test_the_steps_bring_it_in_force(
    loaded: dict[str, Any], client: Client, make_person: Callable[..., Person], place: Path
) -> None:
    ada, mia = make_person("ada", "admin"), make_person("mia", "admin")
    client.force_login(ada)
    said = {"name": NAME, "body": json.dumps(loaded), "reason": "Backlogs are looked into each week."}
    assert client.post("/rules/new/", said).status_code == 302
    version = Definition.objects.get(kind="rule", name=NAME)
    at = f"/rules/{NAME}/versions/1"
    page = client.get(f"/rules/{NAME}/").content.decode()
    assert "Try it on everything on record" in page
    assert client.post(f"{at}/trials/").status_code == 302
    job = Outbox.objects.get(task=rule_actions.TRY, subject_id=Trial.objects.get(definition=version).pk)
    while Outbox.objects.filter(pk=job.pk, done_at=None).exists():
        tasks.try_rule(job.pk)
    assert client.post(f"{at}/shadow/").status_code == 302
    assert client.post(f"{at}/activation/").status_code == 409  # it takes a second admin
    client.force_login(mia)
    assert "Activate version 1" not in client.get(f"/rules/{NAME}/").content.decode()
    flips = list(Flip.objects.filter(trial__definition=version, kind=Flip.Kind.FAIL_TO_PASS))
    assert [flip.subject for flip in flips] == ["exports-drained"]
    signed = {"flips": [flip.pk for flip in flips], "reason": "It was worked off, says the postmortem."}
    assert client.post(f"{at}/signatures/", signed).status_code == 302
    assert "Activate version 1" in client.get(f"/rules/{NAME}/").content.decode()
    assert client.post(f"{at}/activation/").status_code == 302
    in_force = twohands.active("rule", NAME)
    assert in_force is not None
    assert in_force.body == loaded
    case = Situation.of_case(case_files.read(place / "our-cases" / "drained.json"))
    assert case is not None
    assert isinstance(case.decide(registry.active({NAME: in_force.body})), Pass)


def test_the_hash_covers_what_the_readme_says(loaded: dict[str, Any], place: Path) -> None:
    def hash_now() -> str:
        registry.hash_of.cache_clear()
        return registry.hash_of(next(rule for rule in registry.newest() if rule.hypothesis == NAME))

    assert hash_now() == loaded["hash"]
    (place / "our-rules" / "another_reader.py").write_text('"""A reader that the rule does not import."""\n')
    assert hash_now() == loaded["hash"]
    reader = place / "our-rules" / "queue_depth.py"
    reader.write_text(reader.read_text() + "# more\n")
    assert hash_now() != loaded["hash"]
