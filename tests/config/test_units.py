"""The service files that `manage.py units` prints, read by systemd and by a shell."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from gate.config import roles, units
from gate.config.database import WITHOUT_DATABASE
from gate.config.programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
SERVICES = {f"counterseal-{program.name}.service": program for program in PROGRAMS}


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """A place whose name needs care, with a Python in it that says how it was called."""
    made = tmp_path / "100% counter seal"
    python = made / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\npwd\nprintf "%s\\n" "$COUNTERSEAL_PROCESS" "$DATABASE_URL" "$@"\n')
    python.chmod(0o755)
    return made


def lines(unit: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit, re.MULTILINE)


def test_systemd_finds_nothing_wrong(tmp_path: Path, prefix: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not on this machine")
    call_command("units", "--systemd", "--prefix", str(prefix), "--to", str(tmp_path / "units"))
    written = sorted((tmp_path / "units").iterdir())
    nightly = {"counterseal-drill.service", "counterseal-drill.timer"}
    assert {found.name for found in written} == {
        *SERVICES, *nightly, "counterseal.target", "counterseal-upgrade.service",
    }  # fmt: skip
    said = subprocess.run(["systemd-analyze", "verify", "--man=no", *written], capture_output=True, text=True)
    assert (said.returncode, [line for line in said.stderr.splitlines() if "counterseal" in line]) == (0, [])


def test_systemd_analyze_would_find_a_mistake(tmp_path: Path, prefix: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not on this machine")
    unit = tmp_path / "counterseal-beat.service"
    unit.write_text(units.systemd(prefix / "elsewhere")[unit.name])
    assert subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True).returncode != 0


@pytest.mark.parametrize("name", SERVICES)
def test_each_process_is_a_user_of_its_own_with_secrets_of_its_own(name: str) -> None:
    found = units.systemd(Path("/opt/counterseal"))[name]
    short = SERVICES[name].name
    assert lines(found, "User") == [f"counterseal-{short}"]
    assert lines(found, "EnvironmentFile") == [f"/etc/counterseal/{short}.env"]
    assert f"COUNTERSEAL_PROCESS={SERVICES[name].process}" in lines(found, "Environment")
    assert lines(found, "Restart") == ["always"]
    assert lines(found, "CapabilityBoundingSet") == [""]
    assert lines(found, "ProtectSystem") == ["strict"]


def test_users_are_not_shared() -> None:
    users = [lines(unit, "User") for unit in units.systemd(ROOT).values() if "[Service]" in unit]
    assert len({tuple(user) for user in users}) == len(PROGRAMS) + 2


def test_only_its_own_process_is_told_of_write_credentials() -> None:
    told = {name for name, unit in units.systemd(ROOT).items() if "_WRITER_DSN" in unit}
    assert told == {"counterseal-writes.service"}
    assert {name for name, unit in units.systemd(ROOT).items() if "OWNER_URL" in unit} == {
        "counterseal-upgrade.service"
    }


def test_only_where_people_sign_in_the_mail_server_is_known() -> None:
    told = {name for name, unit in units.systemd(ROOT).items() if "COUNTERSEAL_SMTP_URL" in unit}
    assert told == {"counterseal-people.service"}


def test_nothing_starts_the_upgrade_by_itself() -> None:
    for unit in units.systemd(ROOT).values():
        assert "upgrade" not in "".join(lines(unit, "Wants") + lines(unit, "Requires"))
    assert "WantedBy" not in units.systemd(ROOT)["counterseal-upgrade.service"]


def test_the_drill_runs_each_night_and_fails_where_it_is_seen() -> None:
    found = units.systemd(ROOT)
    assert lines(found["counterseal-drill.timer"], "OnCalendar") == ["*-*-* 03:00:00"]
    service = found["counterseal-drill.service"]
    assert (lines(service, "Type"), lines(service, "Restart")) == (["oneshot"], [])
    assert lines(service, "Environment")[0] == "COUNTERSEAL_PROCESS=drill"
    assert "counterseal-drill.timer" in lines(found["counterseal.target"], "Wants")[0].split()


def test_what_not_everybody_needs_starts_once_it_has_an_environment_file() -> None:
    waiting = {name: lines(unit, "ConditionPathExists") for name, unit in units.systemd(ROOT).items()}
    assert {name: paths for name, paths in waiting.items() if paths} == {
        "counterseal-answers.service": ["/etc/counterseal/answers.env"]
    }


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_shell_runs_each_line_of_the_procfile(
    program: Any, prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "ENVIRONMENT_FILES", tmp_path)
    (tmp_path / f"{program.name}.env").write_text(f'DATABASE_URL="postgresql://{program.name}"\n')
    found = dict(line.split(": ", 1) for line in units.procfile(prefix).splitlines())[program.name]
    said = subprocess.run(["sh", "-c", found], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    assert said[:3] == [str(prefix), program.process, f"postgresql://{program.name}"]
    assert said[3:] == program.command("", prefix)[1:]


def test_the_readme_lists_the_same_processes() -> None:
    rows = re.findall(r"^\| (.+?) \| `(manage\.py|celery) (.+?)` \| `(\w+)` \|", (ROOT / "README.md").read_text(), re.M)
    listed = {title: (words, role) for title, _, words, role in rows}
    assert listed.keys() == {program.title for program in PROGRAMS}
    for program in PROGRAMS:
        words, role = listed[program.title]
        assert role == ("none" if program.process in WITHOUT_DATABASE else roles.role_name(program.process))
        assert " ".join(program.command()[1:]).partition("manage.py ")[2].startswith(words) or " ".join(
            program.command()
        ).partition("celery ")[2].startswith(words)


@pytest.mark.parametrize("prefix", ["relative/path", "/opt/a\nUser=root", "/opt/$HOME", '/opt/"'])
def test_a_prefix_that_could_be_misread_is_refused(prefix: str) -> None:
    with pytest.raises(CommandError, match="absolute path"):
        call_command("units", "--prefix", prefix)


def test_it_prints_what_it_is_asked_for(capsys: Any) -> None:
    call_command("units", "--procfile")
    assert "[Service]" not in capsys.readouterr().out
    call_command("units")
    both = capsys.readouterr().out
    assert "# counterseal-writes.service" in both
    assert "# Procfile" in both
