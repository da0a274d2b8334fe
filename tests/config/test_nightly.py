"""What runs once a night under `up`: also when the machine was off at night, never twice, and not in silence."""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gate.config import nightly
from gate.config.nightly import Nightly

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ENDS = [sys.executable, "-c", "print('ran')"]
FAILS = [sys.executable, "-c", "raise SystemExit(1)"]
STAYS = [
    sys.executable, "-c",
    "import time\ntry:\n  print('began', flush=True)\n  time.sleep(60)\nexcept KeyboardInterrupt:\n  print('tidied')",
]  # fmt: skip


def night(tmp_path: Path, command: list[str]) -> Nightly:
    return Nightly("tamper drill", command, tmp_path / "mark", tmp_path / "log", {})


def ended(one: Nightly, now: datetime = NOON) -> str | None:
    assert one.process is not None
    one.process.wait(20)
    return one.tend(now)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nightly, "SETTLED_AFTER", 0.0)


def test_it_waits_until_the_rest_has_settled(tmp_path: Path) -> None:
    one = night(tmp_path, ENDS)
    assert one.tend(NOON) is None
    assert one.process is None
    one.began -= nightly.SETTLED_AFTER
    one.tend(NOON)
    assert ended(one) is None
    assert (tmp_path / "log").read_text() == "ran\n"


def test_it_runs_once_a_night_also_over_restarts(settled: None, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    for began, now, is_due in (
        (NOON - timedelta(days=3), NOON, True),
        (NOON.replace(hour=2), NOON, True),
        (NOON.replace(hour=4), NOON, False),
        (NOON.replace(hour=4), NOON + timedelta(hours=14), False),
        (NOON.replace(hour=4), NOON + timedelta(hours=15), True),
    ):
        mark.touch()
        os.utime(mark, (began.timestamp(), began.timestamp()))
        assert night(tmp_path, ENDS).is_due(now) is is_due, (began, now)
    one = night(tmp_path, ENDS)
    one.tend(datetime.now(UTC) + timedelta(days=1))
    assert not night(tmp_path, ENDS).is_due(datetime.now(UTC))
    assert ended(one) is None


def test_one_that_fails_is_told(settled: None, tmp_path: Path) -> None:
    one = night(tmp_path, FAILS)
    assert one.tend(NOON) is None
    assert ended(one) == f"The tamper drill ended with exit code 1. See {tmp_path / 'log'}."
    assert one.process is None


def test_one_that_cannot_be_started_is_told(settled: None, tmp_path: Path) -> None:
    one = night(tmp_path, ["/nowhere/python"])
    assert one.tend(NOON) == "The tamper drill cannot be started (No such file or directory)."


def test_it_ends_with_us_and_tidies_up(settled: None, tmp_path: Path) -> None:
    one = night(tmp_path, STAYS)
    one.tend(NOON)
    until = time.monotonic() + 20
    while "began" not in (tmp_path / "log").read_text() and time.monotonic() < until:
        time.sleep(0.05)
    one.stop()
    assert (tmp_path / "log").read_text() == "began\ntidied\n"
    assert one.process is not None
    assert one.process.returncode is not None
