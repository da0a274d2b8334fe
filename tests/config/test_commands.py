"""What each command says when the database does not answer, or its role is not the one that the command works as."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core import management
from django.db import OperationalError, ProgrammingError

import manage
from gate.config import failures
from gate.config.roles import COMMANDS, role_name

ROOT = Path(__file__).resolve().parents[2]
# One that is an operator's, one that is not, and the one whose exit code says more than that it failed.
TRIED = {"backup": ["nowhere.dump"], "upgrade": [], "tamper_drill": []}


@pytest.mark.parametrize("name", TRIED)
def test_a_command_without_its_database_says_so_in_a_sentence(name: str, tmp_path: Path) -> None:
    variable = "COUNTERSEAL_OWNER_URL" if COMMANDS[name] == "owner" else "DATABASE_URL"
    role = role_name(COMMANDS[name])
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), name, *TRIED[name]], cwd=tmp_path, capture_output=True, text=True,
        env={"COUNTERSEAL_VAR": str(tmp_path), variable: f"postgresql://{role}:p@127.0.0.1:1/c"}, check=False,
    )  # fmt: skip
    assert done.returncode == (2 if name == "tamper_drill" else 1), done.stderr
    assert done.stderr.startswith("CommandError: The database does not answer (")
    assert done.stderr.endswith(f"This command wants the connection of {role} in {variable}.\n")


def test_whatever_command_it_is_the_database_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_lost(argv: list[str]) -> None:
        raise OperationalError("lost") from psycopg.OperationalError("connection refused")

    monkeypatch.setattr(management, "execute_from_command_line", is_lost)
    monkeypatch.setattr(sys, "argv", ["manage.py", "whatever"])
    with pytest.raises(SystemExit, match=r"The database does not answer \(connection refused\)"):
        manage.main()
    monkeypatch.setattr(sys, "argv", ["manage.py", "whatever", "--traceback"])
    with pytest.raises(OperationalError):
        manage.main()


def test_a_role_that_may_not_is_told_which_one_may(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.PROCESS = "writer"
    refused = ProgrammingError("permission denied for view people_approver")
    refused.__cause__ = psycopg.errors.InsufficientPrivilege("permission denied for view people_approver")
    monkeypatch.delenv("DATABASE_URL", raising=False)
    assert "set DATABASE_URL to the connection of counterseal_writer." in (failures.said_of(refused) or "")
    monkeypatch.setenv("DATABASE_URL", "postgresql://counterseal_people@db/counterseal")
    said = failures.said_of(refused) or ""
    assert said.endswith("This command wants the connection of counterseal_writer in DATABASE_URL.")
    assert "permission denied for view people_approver" in said


def test_a_fault_of_ours_is_no_sentence() -> None:
    wrong = ProgrammingError('column "x" does not exist')
    wrong.__cause__ = psycopg.errors.UndefinedColumn('column "x" does not exist')
    assert failures.said_of(wrong) is None
    assert failures.said_of(ValueError("x")) is None
