"""A witness takes what continues the log that it knows, and nothing else, whoever offers it."""

from __future__ import annotations

import base64
import http.client
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import cosignatures, merkle, notes, witness
from audit.verify import note as notes_read
from audit.verify.tree import consistency
from audit.witnessing import Answer, Witness, own_key

KEY = notes.SigningKey("example.com/log", bytes(range(32)))
OTHER = notes.SigningKey("example.com/log", bytes(32))
ROOT = Path(__file__).resolve().parents[2]


def leaves(count: int, word: str = "leaf") -> list[bytes]:
    return [merkle.leaf_hash(f"{word} {number}".encode()) for number in range(count)]


def root(hashes: list[bytes]) -> bytes:
    frontier = merkle.Frontier()
    for hashed in hashes:
        list(frontier.append(hashed))
    return frontier.root()


def proof(hashes: list[bytes], old: int) -> list[bytes]:
    if not 0 < old <= len(hashes):
        return []
    return [root(hashes[span.start : span.end]) for span in merkle.consistency_path(old, len(hashes))]


def signed(hashes: list[bytes], key: notes.SigningKey = KEY) -> str:
    return notes.signed(notes.Checkpoint(key.name, len(hashes), root(hashes)), [key])


def offer(old: int, path: list[bytes], note: str) -> bytes:
    lines = "".join(f"{base64.b64encode(hashed).decode()}\n" for hashed in path)
    return f"old {old}\n{lines}\n{note}".encode()


def step(old: int, new: int, word: str = "leaf", key: notes.SigningKey = KEY) -> bytes:
    return offer(old, proof(leaves(new, word), old), signed(leaves(new, word), key))


@pytest.fixture
def one(tmp_path: Path) -> Witness:
    return Witness(tmp_path, [notes_read.parse_key(str(KEY.public))], own_key(tmp_path, "example.org/witness"))


def test_a_witness_whose_notes_are_damaged_cosigns_nothing(one: Witness) -> None:
    assert one.add(step(0, 5)).status == 200
    (kept,) = one.state.glob("*.note")
    for damaged in ("", "broken", kept.read_text()[:-9]):
        kept.write_text(damaged)
        assert one.add(step(5, 9)).status == 500
        assert one.add(step(0, 9)).status == 500, "Nor does it begin anew."


@given(st.integers(1, 70), st.integers(0, 70), st.integers(0, 6))
def test_a_proof_of_consistency_holds_for_its_sizes_alone(new: int, old: int, at: int) -> None:
    old = min(old, new)
    hashes = leaves(new)
    path = proof(hashes, old)
    roots = root(hashes[:old]), root(hashes)
    assert consistency(old, new, *roots, path)
    if old not in (0, new):
        assert not consistency(old, new, roots[0], b"x" * 32, path)
        assert not consistency(old, new, b"x" * 32, roots[1], path)
        assert not consistency(old, new, *roots, [*path, b"x" * 32])
        assert not consistency(old, new, *roots, path[:-1])
        changed = [b"x" * 32 if number == at % len(path) else hashed for number, hashed in enumerate(path)]
        assert not consistency(old, new, *roots, changed)


def test_it_cosigns_what_continues_the_log(one: Witness) -> None:
    key = cosignatures.read_key(one.cosigner.public)
    for old, new in ((0, 3), (3, 3), (3, 4), (4, 300)):
        answer = one.add(step(old, new))
        assert answer.status == 200
        text = signed(leaves(new)).partition("\n\n")[0] + "\n"
        assert cosignatures.found(key, text, answer.body) == answer.body
        assert cosignatures.found(key, text.replace("\n3", "\n4"), answer.body.replace("A", "B")) is None
    assert one.latest("example.com/log") == signed(leaves(300)) + answer.body


REFUSED = [
    ("a log set back, told truly", step(0, 200), 409, "300\n"),
    ("a log set back, from what is known", offer(300, [], signed(leaves(200))), 400, "fewer leaves"),
    ("an old note again", offer(0, [], signed(leaves(100))), 409, "300\n"),
    ("another root of the same size", offer(300, [], signed(leaves(300, "fork"))), 409, "300\n"),
    ("a fork that grew", step(300, 400, "fork"), 422, "does not show"),
    ("no proof", offer(300, [], signed(leaves(400))), 422, "does not show"),
    ("the proof of another size", offer(300, proof(leaves(400), 200), signed(leaves(400))), 422, "does not show"),
    ("a proof too long", offer(300, [*proof(leaves(400), 300), bytes(32)], signed(leaves(400))), 422, "does not show"),
    ("a key that is not the log's", step(300, 400, key=OTHER), 403, "not signed by a known key"),
    ("a log that it does not know", step(0, 400, key=notes.SigningKey("x.org/log", bytes(32))), 404, "does not know"),
    ("a signature on another text", step(300, 400).replace(b"\n400\n", b"\n401\n"), 403, "did not make"),
    ("garbage", b"\xff\xfe", 400, "not UTF-8"),
    ("nothing", b"", 400, "The body is"),
    ("no size", b"old many\n\n" + signed(leaves(400)).encode(), 400, "The body is"),
    ("64 lines of proof", offer(300, [bytes(32)] * 64, signed(leaves(400))), 400, "at most 63"),
    ("a line that is no hash", offer(300, [bytes(31)], signed(leaves(400))), 400, "32 bytes"),
    ("a note without a signature", b"old 300\n\nexample.com/log\n400\nAAAA\n", 400, "three lines"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status", "said"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_it_refuses(one: Witness, body: bytes, status: int, said: str) -> None:
    one.add(step(0, 300))
    kept = one.latest("example.com/log")
    answer = one.add(body)
    assert answer.status == status
    assert said in answer.body
    assert one.latest("example.com/log") == kept


def test_what_it_knows_outlives_it(one: Witness, tmp_path: Path) -> None:
    one.add(step(0, 300))
    again = Witness(tmp_path, one.keys, own_key(tmp_path, "another/name"))
    assert again.cosigner == one.cosigner
    assert again.add(step(0, 200)) == Answer(409, "300\n", "text/x.tlog.size")
    assert again.add(step(300, 301)).status == 200
    pins = list(notes_read.parse_pins(next(tmp_path.glob("*.history")).read_text()))
    assert [pin.size for pin in pins] == [300, 301]
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_the_same_note_again_does_not_fill_its_disk(one: Witness, tmp_path: Path) -> None:
    one.add(step(0, 300))
    size = next(tmp_path.glob("*.history")).stat().st_size
    assert one.add(step(300, 300)).status == 200
    assert next(tmp_path.glob("*.history")).stat().st_size == size


def test_of_two_logs_at_once_it_takes_one(one: Witness) -> None:
    bodies = [step(0, 10 + number, word) for number in range(10) for word in ("leaf", "fork")]
    answers: list[int] = []
    threads = [threading.Thread(target=lambda body=body: answers.append(one.add(body).status)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200] + [409] * 19


# As a server.


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[witness.Server]:
    made = witness.server("127.0.0.1:0", tmp_path / "state", f"{KEY.public}\n", "example.org/witness")
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def asked(serving: witness.Server, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, str]:
    talk = http.client.HTTPConnection(*serving.server_address[:2], timeout=10)
    talk.request(method, path, body, headers)
    answer = talk.getresponse()
    return answer.status, answer.read().decode()


def test_it_answers_over_http(serving: witness.Server) -> None:
    assert asked(serving, "POST", "/add-checkpoint", step(0, 5))[0] == 200
    assert asked(serving, "POST", "/add-checkpoint", step(0, 4)) == (409, "5\n")
    assert asked(serving, "GET", "/checkpoint/example.com/log")[1].startswith("example.com/log\n5\n")
    assert asked(serving, "GET", "/checkpoint/..%2f..%2fetc")[0] == 404
    assert asked(serving, "POST", "/elsewhere", b"x")[0] == 404


def test_it_hears_nobody_out_for_ever(serving: witness.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    huge = {"Content-Length": str(10**12)}
    assert asked(serving, "POST", "/add-checkpoint", **huge)[0] == 413
    assert asked(serving, "POST", "/add-checkpoint", **{"Content-Length": "-1"})[0] == 411
    monkeypatch.setattr(witness.Handler, "timeout", 0.2)
    with socket.create_connection(serving.server_address[:2], timeout=10) as slow:
        slow.sendall(b"POST /add-checkpoint HTTP/1.1\r\nContent-Length: 50\r\n\r\nold")
        assert slow.recv(100) == b""
    assert asked(serving, "POST", "/add-checkpoint", step(0, 5))[0] == 200


def test_two_at_once_are_refused(serving: witness.Server, tmp_path: Path) -> None:
    with pytest.raises(witness.CannotWitness, match="Another witness"):
        witness.server("127.0.0.1:0", tmp_path / "state", f"{KEY.public}\n", "example.org/witness")


@pytest.mark.parametrize(("listen", "keys"), [("8002", str(KEY.public)), ("127.0.0.1:0", ""), ("127.0.0.1:0", "x+y+z")])
def test_what_it_cannot_start_with_is_said(tmp_path: Path, listen: str, keys: str) -> None:
    with pytest.raises(witness.CannotWitness):
        witness.server(listen, tmp_path / "state", keys, "example.org/witness")


def test_the_command_runs_without_a_database_or_a_secret(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"{KEY.public}\n")
    (tmp_path / "secrets.json").write_text("no JSON: whoever reads it fails")
    command = [
        sys.executable,
        "manage.py",
        "witness",
        "--listen",
        "127.0.0.1:0",
        "--public-key",
        str(tmp_path / "keys"),
    ]
    environment = {"COUNTERSEAL_VAR": str(tmp_path), "DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        said = running.stdout.readline()
        running.terminate()
        assert running.wait(20) == 0
    assert said.startswith("Witnessing as counterseal.local/witness+")
    assert (tmp_path / "witness" / "public_key").read_text().strip() in said
