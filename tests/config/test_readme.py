"""The README against the tree: each variable, command and module that it names exists, and none goes unsaid."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from gate.config.roles import COMMANDS, role_name
from gate.writes import canary_placing
from gate.writes.errors import Unfit

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
CODE = [file for package in ("audit", "evidence", "gate") for file in (ROOT / package).rglob("*.py")]
READ = {name for file in CODE for name in re.findall(r"\"(COUNTERSEAL_[A-Z_]*[A-Z])\"", file.read_text())}
# Each secret can be the name of a file instead.
FILES = {
    f"{name}_FILE" for file in CODE for name in re.findall(r"secret\(\"(COUNTERSEAL_[A-Z_]+)\"\)", file.read_text())
}
OURS = {name for name, app in get_commands().items() if app.startswith(("audit", "evidence", "gate"))}
BORROWED = {"collectstatic"}


def test_every_variable_is_documented_and_every_documented_one_is_read() -> None:
    said = set(re.findall(r"COUNTERSEAL_[A-Z_]*[A-Z]", README))
    assert READ - said == set()
    assert said - READ - FILES == set()


def test_every_command_is_documented_and_every_documented_one_exists() -> None:
    said = set(re.findall(r"manage\.py ([a-z_]+)", README))
    assert OURS - said == set()
    assert said - OURS - BORROWED == set()


def test_each_command_is_said_to_run_as_its_role() -> None:
    table = README[README.index("A command runs as one role") :]
    rows = dict(re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \| (.+) \|$", table, re.M))
    said = {name: who for names, who in rows.items() for name in re.findall(r"`([a-z_]+)`", names)}
    assert len(said) > 15
    for name, who in said.items():
        process = COMMANDS.get(name, "people")
        if process == "owner":
            assert "COUNTERSEAL_OWNER_URL" in who, name
        elif who != "none":
            assert f"`{role_name(process)}`" in who, name


@pytest.mark.django_db
def test_the_canary_has_the_form_of_one() -> None:
    section = README[README.index("### Canaries") :]
    (found,) = canary_placing.read(section[section.index("```json") + 7 : section.index("\n```\n")])
    with pytest.raises(Unfit, match=r"no target orders|no agent triage-agent"):
        canary_placing.plan(found, placed_by="root")


def test_every_module_that_is_run_exists() -> None:
    modules = re.findall(r"python -m ([a-z_.]+[a-z])", README)
    assert {"audit.verify", "gate.writes.receipt", "tests.kills", "tests.kills.writes"} <= set(modules)
    assert [name for name in modules if name not in ("pip", "venv") and importlib.util.find_spec(name) is None] == []


def test_every_place_in_the_tree_exists() -> None:
    places = re.findall(r"`((?:audit|evidence|gate|tests|static|templates)/[\w/.]+)`", README)
    assert len(places) > 5
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_a_limit_has_the_default_that_is_said() -> None:
    text = (ROOT / "gate/config/settings.py").read_text()
    limits = dict(re.findall(r"environment\.number\(\"(COUNTERSEAL_[A-Z_]+)\", (\d+)\)", text))
    assert len(limits) >= 5
    rows = {name: row for row in README.splitlines() if row.startswith("|") for name in limits if f"`{name}`" in row}
    assert {name for name, default in limits.items() if not re.search(rf"\b{default}\b", rows[name])} == set()
