"""manage.py attack: a corpus finds nothing at a guarded read, and what is planted behind it is found."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from audit.models import Definition
from evidence import attacking, exact_json
from evidence.errors import Refused
from evidence.reader import ReadResult
from tests.evidence import bodies, scratch

MARKS = ("--mark", "S3CR3T", "--mark", "PANMARK", "--mark", "TENANTMARK", "--mark", "LOMARK")


@pytest.fixture
def copy(source: Definition, monkeypatch: pytest.MonkeyPatch, dsn_of: Callable[[str], str]) -> Definition:
    """A copy's doctor may see everything: it is a copy."""
    monkeypatch.setenv("SCRATCH_DOCTOR_DSN", dsn_of("postgres"))
    return source


def corpus(tmp_path: Path, *cases: dict[str, Any]) -> str:
    file = tmp_path / "corpus.jsonl"
    file.write_text("\n".join(json.dumps(case) for case in cases))
    return str(file)


def attack(*words: str) -> str:
    out = io.StringIO()
    try:
        call_command("attack", "scratch", *words, stdout=out)
    except CommandError as error:
        return f"{out.getvalue()}{error}"
    return out.getvalue()


@pytest.mark.django_db
def test_the_corpus_comes_to_nothing_and_ordinary_reads_are_served(copy: Definition, tmp_path: Path) -> None:
    """One attack of each family; tests/evidence/test_attacks.py tries them all."""
    lines = (scratch.DATA / "sql.jsonl").read_text().splitlines()
    families = {json.loads(line)["family"]: json.loads(line) for line in lines}
    said = attack(
        corpus(tmp_path, *families.values()), "--ordinary", str(scratch.DATA / "ordinary_reads.jsonl"), *MARKS
    )
    assert " 0 breaches; 20 ordinary reads, 0 false refusals" in said
    assert "lines are for other doors" in said
    assert "does not see" not in said


def unguarded(connection: Any) -> Callable[..., ReadResult]:
    """A read that keeps nothing back: what the command then finds is what it can find."""

    def read(dsn: str, sql: str, params: Any = None, *, limits: Any = None) -> ReadResult:
        rows = connection.execute(sql.encode()).fetchall()
        return ReadResult([{"row": str(row)} for row in rows], ["row"], False)

    return read


BREACHES = [
    ("update app.jobs set attempts = attempts + 1 where id = 1 returning id", 'changed: rows of "app"."jobs"'),
    ("insert into app.read_log (job_id) values (1) returning 1", 'rows of "app"."read_log"'),
    ("select nextval('app.ticket_seq')", "sequences"),
    ("select lo_create(0)", "large objects"),
    ("select pg_advisory_lock(4711)", "advisory locks"),
    ("select 1 from (select pg_terminate_backend(pid) from pg_stat_activity where application_name like '%neighbor')"
     " ended", "ended another session"),
    ("select token from app.secrets", "showed S3CR3T"),
    ("select 1", "was served, and must be refused"),
]  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize(("sql", "why"), BREACHES, ids=[row[1] for row in BREACHES])
def test_each_kind_of_breach_is_found(
    copy: Definition, tmp_path: Path, scratch_owner: Any, monkeypatch: pytest.MonkeyPatch, sql: str, why: str
) -> None:
    case = {"id": "B-1", "family": "planted", "sql": sql, "must": "refused"}
    monkeypatch.setattr(attacking.reader, "read", unguarded(scratch_owner))
    said = attack(corpus(tmp_path, case), *MARKS)
    assert "breach B-1 (planted): " in said
    assert why in said
    assert "does not hold" in said


@pytest.mark.parametrize("mark", ['say "hello"', "back\\slash", "Zoë", "two\nlines", "⟦U+200B⟧", "\u2028", "plain"])
def test_a_mark_is_found_however_json_spells_it(mark: str) -> None:
    case = attacking.Case("B-1", "leak", ("select token from app.secrets",), "bounded")
    rows = exact_json.dumps([{"token": f"before {mark} after"}])
    assert attacking._try(lambda text: rows, case, [mark]) == f"showed {mark}"
    refused = Refused("database", f"The database refused the read: {mark}.")
    assert attacking._try(lambda text: refused, case, [mark]) == f"showed {mark}"
    assert attacking._try(lambda text: exact_json.dumps([{"token": "other"}]), case, [mark]) == ""


@pytest.mark.django_db
def test_a_false_refusal_is_found(copy: Definition, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    case = {"id": "O-1", "family": "benign", "sql": "select * from app.secrets", "must": "allowed"}
    said = attack(str(empty), "--ordinary", corpus(tmp_path, case))
    assert "false refusal O-1 (benign): The reader's role may not use the relation app.secrets" in said


@pytest.mark.django_db
def test_production_and_a_file_that_is_no_corpus_are_refused(define: Any, copy: Definition, tmp_path: Path) -> None:
    assert "Line 1 is no case" in attack(corpus(tmp_path, {"id": "x"}))
    assert "cannot be taken" in attack(str(tmp_path / "nothing.jsonl"))
    define("source", "scratch", bodies.source(environment="production"))
    assert "scratch is production" in attack("nothing.jsonl")


@pytest.mark.django_db
def test_what_the_doctor_does_not_see_is_said(source: Definition, tmp_path: Path) -> None:
    case = {"id": "B-1", "family": "planted", "sql": "delete from app.jobs", "must": "refused"}
    said = attack(corpus(tmp_path, case))
    assert 'The doctor does not see, so a change there is not found: passwords, rows of "app"."jobs"' in said
