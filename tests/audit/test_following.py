"""A follower writes each leaf once, in order, whatever happens to it, to its file and to the database."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit import export_rows, following, log
from audit.export_formats import FORMATS
from audit.following_out import Output
from audit.kinds import Kind
from audit.listening import Listening
from audit.models import Entry
from audit.verify import __main__ as verifier
from tests.audit.logs import KEY

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def grow(growing: Callable[[str], Callable[[int], int]]) -> Callable[[int], int]:
    return growing("auditor")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "followed"


def follower(out: Path, form: str = "jsonl", start: int = 0) -> following.Follow:
    state = out.with_name("state")
    made = following.Follow(FORMATS[form], Output(out), state, following.load(state, start))
    made.begin()
    return made


def leaves(*files: Path) -> list[int]:
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [line["leaf"] for line in lines if line["type"] in ("entry", "missing", "pruned")]


def test_it_goes_on_where_it_was_stopped(grow: Any, out: Path) -> None:
    grow(120)
    assert follower(out).round()
    size = grow(7)
    again = follower(out)
    assert again.round()
    assert not again.round()
    assert leaves(out) == list(range(size))
    types = [json.loads(line)["type"] for line in out.read_text().splitlines()]
    assert (types[0], types.count("export"), types.count("checkpoint"), types[-1]) == ("export", 1, 2, "checkpoint")


def test_what_was_followed_is_verified_at_each_checkpoint(grow: Any, out: Path, capsys: Any) -> None:
    for count in (60, 7, 1):
        grow(count)
        follower(out).round()
    keys = out.with_name("keys")
    keys.write_text(f"{KEY.public}\n")
    assert verifier.main([str(out), "--public-key", str(keys)]) == 0, capsys.readouterr().out
    whole = out.read_text()
    out.write_text(whole.replace('"size":61,"note":"example.com/log\\n61', '"size":61,"note":"example.com/log\\n60'))
    assert out.read_text() != whole
    assert verifier.main([str(out), "--public-key", str(keys)]) == 1


def test_what_a_crash_left_after_the_kept_place_is_cut_off(grow: Any, out: Path) -> None:
    grow(60)
    follower(out).round()
    with out.open("a") as file:
        file.write('{"type":"entry","leaf":61,"half')
    size = grow(3)
    follower(out).round()
    assert leaves(out) == list(range(size))


@pytest.mark.parametrize("crash", range(6))
def test_no_line_is_lost_or_doubled_by_a_crash_at_any_write(
    grow: Any, out: Path, monkeypatch: pytest.MonkeyPatch, crash: int
) -> None:
    size = grow(170)
    chance, writes = random.Random(crash), [0]  # noqa: S311
    real = os.write

    def fails_sometimes(handle: int, piece: Any) -> int:
        writes[0] += 1
        if chance.random() < 0.3:
            real(handle, bytes(piece[: len(piece) // 2]))
            raise OSError("The disk went away.")
        return real(handle, piece)

    for _ in range(40):
        with monkeypatch.context() as broken:
            broken.setattr("audit.following_out.os.write", fails_sometimes)
            try:
                follower(out).round()
            except OSError:
                continue
    follower(out).round()
    assert writes[0] >= 4
    assert leaves(out) == list(range(size))


def test_a_file_that_was_moved_away_is_followed_by_a_new_one(grow: Any, out: Path) -> None:
    grow(5)
    one = follower(out)
    one.round()
    moved = out.rename(out.with_name("followed.1"))
    size = grow(5)
    one.round()
    assert leaves(moved, out) == list(range(size))


@pytest.mark.parametrize(("form", "start"), [("csv", 0), ("ocsf", 3), ("jsonl", 3)])
def test_it_begins_where_it_is_told_in_any_form(grow: Any, out: Path, form: str, start: int) -> None:
    size = grow(9)
    follower(out, form, start).round()
    assert len(out.read_text().splitlines()) >= size - start + 2


def test_a_log_that_was_set_back_or_exchanged_is_not_followed(grow: Any, out: Path, tamper: Any) -> None:
    grow(9)
    follower(out).round()
    tamper("alter table audit_leaf disable trigger refuse_change")
    tamper("update audit_leaf set h = sha256(h) where idx = 9")
    with pytest.raises(following.CannotFollow, match="not the one that was followed"):
        follower(out).round()
    tamper("alter table audit_checkpoint disable trigger refuse_change")
    tamper("delete from audit_checkpoint")
    with pytest.raises(following.CannotFollow, match="set back"):
        follower(out).round()


def test_a_state_file_of_something_else_is_said(out: Path) -> None:
    out.with_name("state").write_text("[]")
    with pytest.raises(following.CannotFollow, match="not a place"):
        follower(out)


def test_it_is_woken_by_a_checkpoint_and_survives_the_database(
    grow: Any, own_log: str, out: Path, superuser: Any
) -> None:
    grow(60)
    stop = threading.Event()
    one = follower(out)

    def work() -> None:
        one.run(stop.is_set)
        connection.close()

    parameters = dict(connection.settings_dict)

    def in_thread() -> None:
        connection.settings_dict.update(parameters)
        work()

    thread = threading.Thread(target=in_thread)
    thread.start()
    try:
        wait_for(lambda: len(leaves(out)) == 61)
        superuser.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [own_log])
        connection.close()
        log.streams.close()
        size = grow(60)
        wait_for(lambda: len(leaves(out)) == size)
    finally:
        stop.set()
        thread.join(20)
    assert leaves(out) == list(range(size))


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_two_do_not_follow_into_one_file(own_log: str, out: Path) -> None:
    from audit import files

    held = files.lock(out.with_name("followed.state.lock"))
    with pytest.raises(CommandError, match="Somebody else"):
        call_command("export_log", "--follow", "--out", str(out))
    os.close(held)
    with pytest.raises(CommandError, match="no filter"):
        call_command("export_log", "--follow", "--out", str(out), "--tool", "x")


def test_following_is_recorded(grow: Any, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grow(3)
    rounds: list[int] = []
    monkeypatch.setattr(Listening, "wait", lambda self: rounds.append(1))
    monkeypatch.setattr("threading.Event.is_set", lambda self: len(rounds) > 0)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    call_command("export_log", "--follow", "--out", str(out), "--format", "jsonl")
    assert Entry.objects.filter(kind=Kind.LOG_EXPORTED).count() == 2
    assert leaves(out) == list(range(4))
    assert export_rows.extent().size == 4
