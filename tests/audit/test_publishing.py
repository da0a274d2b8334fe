"""Checkpoints arrive where they are sent, and a witness that knows better is heard."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit import notes, publishing, witness
from audit.models import Checkpoint, Witnessed
from audit.publishing_targets import BadTarget, Target, ToFile, ToWebhook, ToWitness, check_address
from audit.verify import note as notes_read
from gate.config import powers
from tests.audit.logs import KEY

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def grow(growing: Callable[[str], Callable[[int], int]]) -> Callable[[int], int]:
    return growing("publisher")


def publish(*targets: Target) -> publishing.Publisher:
    publisher = publishing.Publisher(list(targets), threading.Event())
    publisher.round()
    publisher.listening.end()
    return publisher


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[witness.Server]:
    made = witness.server("127.0.0.1:0", tmp_path / "state", f"{KEY.public}\n", "example.org/witness")
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def to_witness(serving: witness.Server, tmp_path: Path) -> ToWitness:
    return ToWitness(f"http://127.0.0.1:{serving.server_address[1]}", str(tmp_path / "state" / "public_key"))


def row(target: str) -> Witnessed:
    return Witnessed.objects.get(target=target)


class Hook(http.server.BaseHTTPRequestHandler):
    status = 200
    got: list[bytes] = []

    def do_POST(self) -> None:
        self.got.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(self.status)
        self.send_header("Location", "http://127.0.0.1:9/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def hook() -> Iterator[ToWebhook]:
    Hook.got, Hook.status = [], 200
    made = http.server.HTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield ToWebhook(f"http://127.0.0.1:{made.server_address[1]}/hook")
    made.shutdown()
    thread.join()
    made.server_close()


def test_a_file_gets_every_checkpoint_once(grow: Any, tmp_path: Path) -> None:
    sizes = [grow(3), grow(2)]
    target = ToFile(tmp_path / "checkpoints")
    publish(target)
    sizes.append(grow(1))
    publish(target)
    publish(target)
    pins = list(notes_read.parse_pins(target.path.read_text()))
    assert [pin.size for pin in pins] == sizes
    assert target.path.stat().st_mode & 0o777 == 0o600
    assert (row("file").state, row("file").size) == ("sent", sizes[-1])


def test_a_file_that_cannot_be_written_is_said_and_tried_again(grow: Any, tmp_path: Path) -> None:
    size = grow(3)
    target = ToFile(tmp_path / "mount" / "checkpoints")
    publisher = publish(target)
    assert "cannot be written" in publisher.troubles.standing["file"]
    assert (row("file").state, row("file").size) == ("failed", 0)
    (tmp_path / "mount").mkdir()
    publish(target)
    assert (row("file").state, row("file").size, row("file").sentence) == ("sent", size, "")


def test_a_webhook_is_posted_the_note(grow: Any, hook: ToWebhook) -> None:
    grow(3)
    publish(hook)
    assert Hook.got == [Checkpoint.objects.get().note.encode()]


@pytest.mark.parametrize("status", [302, 307, 500, 404])
def test_a_webhook_that_does_not_take_it_gets_the_next_one(grow: Any, hook: ToWebhook, status: int) -> None:
    grow(3)
    Hook.status = status
    publisher = publish(hook)
    assert f"answered {status}" in row("webhook").sentence
    publisher.round()
    assert len(Hook.got) == 1, "It was asked again at once."
    Hook.status = 200
    size = grow(1)
    publisher.round()
    publisher.listening.end()
    assert (row("webhook").state, row("webhook").size) == ("sent", size)


def test_nobody_at_the_other_end_is_no_trouble_for_the_others(grow: Any, tmp_path: Path) -> None:
    size = grow(3)
    publish(ToWebhook("http://127.0.0.1:9/"), ToFile(tmp_path / "checkpoints"))
    assert "cannot be reached" in row("webhook").sentence
    assert row("file").size == size


@pytest.mark.parametrize(
    "url",
    ["http://example.com/", "ftp://127.0.0.1/", "http://localhost.example.com/", "x", "http://127.0.0.1.example.com/"],
)
def test_checkpoints_go_out_over_https_alone(url: str) -> None:
    with pytest.raises(BadTarget, match="neither https"):
        check_address(url)


def test_a_witness_signs_that_it_has_seen_it(grow: Any, to_witness: ToWitness, serving: witness.Server) -> None:
    grow(3)
    publish(to_witness)
    size = grow(300)
    publish(to_witness)
    assert (row("witness").state, row("witness").size) == ("sent", size)
    assert row("witness").note == serving.witness.latest("example.com/log")


def test_a_witness_that_knows_more_than_we_remember_says_how_much(grow: Any, to_witness: ToWitness) -> None:
    grow(3)
    publish(to_witness)
    Witnessed.objects.update(size=0, note="")
    size = grow(5)
    publish(to_witness)
    assert (row("witness").state, row("witness").size) == ("sent", size)


def test_a_log_that_was_set_back_is_found_out(grow: Any, to_witness: ToWitness, tamper: Any) -> None:
    first = grow(3)
    grow(5)
    publish(to_witness)
    for table, column in (("leaf", "idx"), ("checkpoint", "size")):
        tamper(f"alter table audit_{table} disable trigger refuse_change")
        tamper(f"delete from audit_{table} where {column} >= %s", first + (table == "checkpoint"))
    publisher = publish(to_witness)
    assert row("witness").state == "refused"
    assert "it was set back" in publisher.troubles.standing["witness"]


def test_a_fork_is_found_out_also_at_the_same_size(grow: Any, to_witness: ToWitness, tamper: Any) -> None:
    grow(3)
    publish(to_witness)
    note = notes.signed(notes.Checkpoint("example.com/log", Checkpoint.objects.get().size, b"f" * 32), [KEY])
    tamper("alter table audit_checkpoint disable trigger refuse_change")
    tamper("update audit_checkpoint set note = %s", note)
    publish(to_witness)
    assert row("witness").state == "refused"
    assert "another log under this name" in row("witness").sentence


def test_an_answer_that_the_witness_did_not_sign_counts_for_nothing(
    grow: Any, to_witness: ToWitness, tmp_path: Path
) -> None:
    from audit.witnessing import Cosigner

    grow(3)
    publish(ToWitness(to_witness.url, Cosigner("example.org/witness", bytes(32)).public))
    assert (row("witness").state, row("witness").size) == ("failed", 0)
    assert "not signed with its key" in row("witness").sentence


def test_the_command_sends_once_as_its_own_role(
    grow: Any, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(powers, "check", lambda process: None)  # a copied database has not the database's own grants
    size = grow(3)
    settings.CHECKPOINT_FILE = str(tmp_path / "checkpoints")
    call_command("publish", "--once")
    assert row("file").size == size


def test_the_command_says_what_is_missing(as_role: Any, settings: Any) -> None:
    as_role("publisher")
    with pytest.raises(CommandError, match="can be taken back"):
        call_command("publish", "--once")
    settings.CHECKPOINT_WEBHOOK = "http://example.com/"
    with pytest.raises(CommandError, match="neither https"):
        call_command("publish", "--once")
    as_role("people")
    with pytest.raises(CommandError, match="more than publisher may"):
        call_command("publish", "--once")
