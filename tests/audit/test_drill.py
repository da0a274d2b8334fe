"""The drill finds every tampering in a copy of the real log, and fails when the verifier has been blunted."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from audit import reading, verifying
from audit.drill import forging, recorded, tampering
from audit.drill import run as drill_run
from audit.drill.known import KNOWN
from audit.models import Entry
from audit.verify import entries, run
from audit.verify.run import Outside
from tests.audit.logs import KNOWN as LOG_KEYS
from tests.audit.logs import Published, intruder, sealed_log

__all__ = ["intruder", "sealed_log"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def drill(
    as_role: Callable[[str], None], cluster_socket: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[str]]:
    """Run the command beside the test's own server; its lines."""
    monkeypatch.setenv("COUNTERSEAL_DRILL_URL", f"postgresql://postgres@/postgres?host={cluster_socket}")

    def run_it(*words: str) -> list[str]:
        as_role("drill")
        said = StringIO()
        try:
            call_command("tamper_drill", *words, stdout=said)
        finally:
            lines.extend(said.getvalue().splitlines())
        return lines

    lines: list[str] = []
    run_it.lines = lines  # type: ignore[attr-defined]
    return run_it


def databases(superuser: Any) -> set[str]:
    return {name for (name,) in superuser.execute("select datname from pg_database where datname like '%drill%'")}


def test_every_tampering_of_the_real_log_is_found(
    sealed_log: Published, drill: Callable[..., list[str]], superuser: Any
) -> None:
    verifying.record(verifying.verify(Outside(LOG_KEYS)))  # a row, and an entry that says what is in it
    before = connection.settings_dict["NAME"], list(Entry.objects.order_by("seq").values_list("pk", flat=True))
    lines = drill("--entries", "400")  # from the midst of its writers' numbers
    assert lines[-1] == f"{len(KNOWN)} of {len(KNOWN)} tamperings of 400 entries were found."
    assert [line for line in lines[:-1] if not line.startswith("found ")] == []
    after = connection.settings_dict["NAME"], list(Entry.objects.order_by("seq").values_list("pk", flat=True))
    assert before == (after[0], after[1][:-1]), "The log has one entry more, and Django stands where it stood."
    drilled = recorded.last()
    assert drilled is not None
    assert (drilled.status, drilled.is_bad, drilled.is_late) == ("ok", False, False)
    assert drilled.sentence == lines[-1].rstrip(".")
    args = reading.content_of(Entry.objects.get(seq=drilled.seq)).args
    assert (args["tried"], args["found"], args["missed"]) == (len(KNOWN), len(KNOWN), [])
    assert databases(superuser) == set()


def test_a_verifier_that_does_not_look_at_contents_fails_it(
    sealed_log: Published, drill: Any, monkeypatch: pytest.MonkeyPatch, superuser: Any
) -> None:
    monkeypatch.setattr(drill_run, "KNOWN", KNOWN[:2])
    monkeypatch.setattr(entries, "_content", lambda entry, name: [])
    with pytest.raises(CommandError, match=r"The verifier misses \d+ known tamperings") as failed:
        drill()
    assert failed.value.returncode == 1
    missed = [line for line in drill.lines if line.startswith("NOT FOUND")]
    assert missed == ["NOT FOUND  a character of a stored result: lacks D2"]
    drilled = recorded.last()
    assert drilled is not None
    assert (drilled.status, drilled.is_bad) == ("failed", True)
    assert reading.content_of(Entry.objects.get(seq=drilled.seq)).args["missed"] == ["a character of a stored result"]
    assert databases(superuser) == set()


def test_a_verifier_that_does_not_look_at_signatures_fails_it(
    sealed_log: Published, drill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        drill_run, "KNOWN", [one for one in KNOWN if "new key" in one.name or "another key" in one.name]
    )
    monkeypatch.setattr(run.Note, "fault", lambda self, keys: "")
    with pytest.raises(CommandError, match="The verifier misses 1 known"):
        drill()


def test_a_log_that_was_tampered_with_is_not_drilled(
    sealed_log: Published, drill: Callable[..., list[str]], intruder: Any
) -> None:
    with tampering.triggers_off(intruder):
        intruder.execute("select set_config('counterseal.leaf', '300', true)")
        forging.edit_payload(intruder)
    intruder.commit()
    with pytest.raises(CommandError, match=r"The log itself has findings \(D2\)") as failed:
        drill()
    assert failed.value.returncode == 2
    drilled = recorded.last()
    assert drilled is not None
    assert (drilled.status, drilled.is_bad) == ("failed", True)
    assert "The log itself has findings (D2)" in drilled.sentence


def test_without_a_named_server_it_starts_one_of_its_own(
    sealed_log: Published, drill: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []
    make = tempfile.mkdtemp
    monkeypatch.setattr(
        tempfile, "mkdtemp", lambda *args, **named: made.append(Path(make(*args, **named))) or str(made[-1])
    )
    monkeypatch.delenv("COUNTERSEAL_DRILL_URL")
    monkeypatch.setattr(drill_run, "KNOWN", KNOWN[:1])
    assert drill()[-1] == "1 of 1 tamperings of 570 entries were found."
    assert made
    assert not [path for path in made if path.exists()], "Nothing of it is left."


def test_a_small_log_is_not_drilled_and_says_so(own_log: str, drill: Callable[..., list[str]], superuser: Any) -> None:
    superuser.execute(f"revoke all on database {own_log} from public")
    superuser.execute(f"grant connect on database {own_log} to counterseal_drill")
    with pytest.raises(CommandError, match="The log has 0 sealed entries in a row, and a drill needs 330") as failed:
        drill()
    assert failed.value.returncode == 0, "Else a new installation has a failed unit each night."
    drilled = recorded.last()
    assert drilled is not None
    assert (drilled.status, drilled.is_bad) == ("skipped", False), "A young log is no fault of the verifier."
