"""A password counts by its sealed entry alone; and a receipt proves a write without us."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from audit import seal
from gate.writes import approval, execution, receipt_checks, receipt_file, receipt_keys, sealed
from gate.writes.models import Decision, WriteRequest
from tests.audit.logs import KEY
from tests.software_key import SoftwareKey
from tests.writes.signing import pinned_key, signed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sealed_log]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def log_key(settings: Any) -> None:
    """The writer knows the log's key."""
    settings.LOG_PUBLIC_KEYS = [str(KEY.public)]


@pytest.fixture
def seal_now(own_log: str, as_role: Callable[[str], None]) -> Callable[[], None]:
    """Seal what was committed so far, in the test's own log."""

    def seal_it() -> None:
        as_role("sealer")
        sealer = seal.Sealer([KEY])
        sealer.start()
        while sealer.round():
            pass
        connection.close()
        as_role("owner")

    return seal_it


def fresh(write: WriteRequest) -> WriteRequest:
    return WriteRequest.objects.select_related("target").get(pk=write.pk)


def test_a_password_is_not_believed_before_its_entry_is_sealed(
    seal_now: Any, approved: Any, job: Any, monkeypatch: Any
) -> None:
    write = approved()
    monkeypatch.setattr(sealed, "LONGEST_WAIT", 0.5)
    with pytest.raises(sealed.NotYet):
        approval.verified(fresh(write))
    with pytest.raises(sealed.NotYet):
        execution.execute(write.pk)
    assert (job(7), fresh(write).status) == ("running", "approved")
    seal_now()
    execution.execute(write.pk)
    assert (job(7), fresh(write).status) == ("queued", "executed")


def test_the_writer_waits_for_the_seal_and_then_runs(seal_now: Any, approved: Any, job: Any) -> None:
    write = approved()
    looked = threading.Event()
    kept = sealed.check
    name = dict(connection.settings_dict)

    def check(entry: Any) -> None:
        looked.set()
        kept(entry)

    def seal_later() -> None:
        assert looked.wait(10)
        connection.settings_dict.update(name)
        from gate.config.roles import role_name

        connection.settings_dict.update(USER=role_name("sealer"), PASSWORD="test-sealer")
        sealer = seal.Sealer([KEY])
        sealer.start()
        sealer.round()
        connection.close()

    sealed.check = check
    helper = threading.Thread(target=seal_later)
    helper.start()
    try:
        execution.execute(write.pk)
    finally:
        sealed.check = kept
        helper.join()
    assert job(7) == "queued"


@pytest.mark.parametrize("what", ["leaf", "node", "signature", "no key", "another key"])
def test_a_seal_that_does_not_hold_opens_nothing(
    seal_now: Any, approved: Any, job: Any, what: str, settings: Any
) -> None:
    from audit import notes

    write = approved()
    seal_now()
    if what == "no key":
        settings.LOG_PUBLIC_KEYS = []
    if what == "another key":
        settings.LOG_PUBLIC_KEYS = [str(notes.SigningKey("example.com/log", bytes(32)).public)]
    with connection.cursor() as cursor:
        if what == "leaf":
            cursor.execute("alter table audit_leaf disable trigger all")
            cursor.execute("update audit_leaf set h = sha256('x')")
        if what == "node":
            cursor.execute("alter table audit_checkpoint disable trigger all")
            cursor.execute("update audit_checkpoint set root = sha256('x')")
        if what == "signature":
            cursor.execute("alter table audit_checkpoint disable trigger all")
            cursor.execute("update audit_checkpoint set note = overlay(note placing 'AAAA' from length(note) - 8)")
    with pytest.raises(approval.NotApproved, match="not proven by the log"):
        approval.verified(fresh(write))
    execution.execute(write.pk)
    assert (job(7), fresh(write).status) == ("running", "failed")


def test_a_signed_approval_waits_for_no_seal(seal_now: Any, previewed: Any, mia: Any, job: Any) -> None:
    key, write = SoftwareKey(), previewed()
    pinned_key(mia, key)
    signed(write, mia, key)
    execution.execute(write.pk)
    assert job(7) == "queued"


# Receipts


@pytest.fixture(params=["passkey", "password"])
def executed(request: Any, seal_now: Any, previewed: Any, approve: Any, mia: Any) -> WriteRequest:
    """A write that ran, with everything about it sealed."""
    key, write = SoftwareKey(), previewed()
    pinned_key(mia, key)
    if request.param == "passkey":
        signed(write, mia, key)
    else:
        approve(write)
    seal_now()
    execution.execute(write.pk)
    seal_now()
    return fresh(write)


def keys_text() -> str:
    out = StringIO()
    call_command("pin_key", "--list", stdout=out)
    return out.getvalue()


def failing(receipt: Any, keys: str = "") -> list[str]:
    lines = receipt_checks.run(receipt, receipt_keys.parse(keys or keys_text()))
    return [line.about for line in lines if not line.holds]


def test_a_receipt_is_verified_without_django(executed: WriteRequest, mia: Any, tmp_path: Path, client: Client) -> None:
    client.force_login(mia)
    answer = client.get(f"/writes/{executed.pk}/receipt.json")
    assert f"{executed.ref}-receipt.json" in answer["Content-Disposition"]
    (tmp_path / "receipt.json").write_bytes(answer.content)
    (tmp_path / "keys").write_text(keys_text())
    command = [sys.executable, "-m", "gate.writes.receipt", "receipt.json", "--keys", "keys"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"}  # no settings, no database
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Every check holds." in done.stdout
    changed = json.loads(answer.content)
    changed["decisions"][0]["reason"] = "Another."
    (tmp_path / "receipt.json").write_text(json.dumps(changed))
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, "FAIL" in done.stdout) == (1, True)
    (tmp_path / "receipt.json").write_text("{}")
    assert subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True).returncode == 2


def test_checking_a_receipt_imports_no_django() -> None:
    code = "import sys, gate.writes.receipt; sys.exit(any(name.partition('.')[0] == 'django' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={"PATH": "/usr/bin"}).returncode == 0


def test_every_part_of_a_receipt_is_held_against_another(executed: WriteRequest) -> None:
    receipt, keys = receipt_file.of(executed), keys_text()
    receipt = json.loads(json.dumps(receipt))
    assert failing(receipt, keys) == []
    believed = []
    for path, value in leaves(receipt):
        for other in (another(value), *twins(value)):
            changed = copy.deepcopy(receipt)
            put(changed, path, other)
            pointer = "/" + "/".join(map(str, path))
            if not failing(changed, keys) and pointer != "/format":  # which `parse` looks at
                believed.append((pointer, other))
    assert believed == []


def test_a_receipt_lacks_no_part_and_has_none_twice(executed: WriteRequest) -> None:
    receipt, keys = json.loads(json.dumps(receipt_file.of(executed))), keys_text()
    believed = []
    for path in branches(receipt):
        without, twice = copy.deepcopy(receipt), copy.deepcopy(receipt)
        at(without, path[:-1]).pop(path[-1])
        if not failing(without, keys) and path != ("format",):
            believed.append(path)
        if isinstance(path[-1], int):
            at(twice, path[:-1]).append(at(receipt, path))
            if not failing(twice, keys):
                believed.append((*path, "twice"))
    assert believed == []


def test_a_key_in_quarantine_proves_no_write_of_high_risk(executed: WriteRequest) -> None:
    receipt, vouched = (
        json.loads(json.dumps(receipt_file.of(executed))),
        "approval 1 was vouched for as the policy asks",
    )
    if Decision.objects.get(write=executed).method != "passkey":
        return
    lines = [json.loads(line) for line in keys_text().splitlines()]
    lately = (executed.proposed_at - timedelta(hours=1)).isoformat()
    early = "\n".join(json.dumps({**one, "pinned_at": lately} if one["type"] == "key" else one) for one in lines)
    assert failing(receipt, early) == []
    receipt["policy"]["record"]["risk"] = "high"
    assert vouched in failing(receipt, early)
    assert vouched not in failing(receipt, keys_text())


def branches(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """Each place of an object and of a list."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from branches(inner, (*path, step))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Any:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path, value


def put(value: Any, path: tuple[Any, ...], new: Any) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = new


def twins(value: Any) -> list[Any]:
    """What is equal to it in Python, and other bytes in a file."""
    if isinstance(value, bool):
        return [int(value)]
    return [float(value), *([bool(value)] if value in (0, 1) else [])] if isinstance(value, int) else []


def another(value: Any) -> Any:
    if isinstance(value, str):
        return ("1" if value[:1] != "1" else "2") + value[1:]
    return 7 if value is None or value is False else (None if value is True else value + 1)


def test_keys_of_somebody_else_or_none_verify_nothing(executed: WriteRequest, mia: Any) -> None:
    receipt = json.loads(json.dumps(receipt_file.of(executed)))
    lines = [json.loads(line) for line in keys_text().splitlines()]
    without_log = "\n".join(json.dumps(line) for line in lines if line["type"] != "log")
    assert "the checkpoint is signed by a known key of the log" in failing(receipt, without_log)
    if Decision.objects.get(write=executed).method == "passkey":
        without_people = "\n".join(json.dumps(line) for line in lines if line["type"] != "key")
        assert failing(receipt, without_people) == ["approval 1 was vouched for as the policy asks"]
        early = [{**line, "revoked_at": line["pinned_at"]} if line["type"] == "key" else line for line in lines]
        revoked = "\n".join(map(json.dumps, early))
        assert failing(receipt, revoked) == ["approval 1 was vouched for as the policy asks"]


def test_an_unsealed_receipt_is_not_handed_out(seal_now: Any, previewed: Any, mia: Any, client: Client) -> None:
    key, write = SoftwareKey(), previewed()
    pinned_key(mia, key)
    client.force_login(mia)
    assert client.get(f"/writes/{write.pk}/receipt.json").status_code == 404
    signed(write, mia, key)
    execution.execute(write.pk)
    answer = client.get(f"/writes/{write.pk}/receipt.json")
    assert (answer.status_code, b"not sealed" in answer.content) == (409, True)
