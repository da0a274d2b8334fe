"""What leaves the log: exact, proven, marked where it is not whole, and recorded."""

from __future__ import annotations

import csv
import io
import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from audit import canonical, export, export_csv, export_rows, header, log, merkle, notes, payloads, seal
from audit.browse import Filters
from audit.drill.tampering import triggers_off
from audit.export_formats import FORMATS
from audit.export_rows import Selection
from audit.kinds import Kind
from audit.models import Entry
from audit.verify import __main__ as verifier
from audit.verify import note as notes_read
from audit.verify import tree

pytestmark = pytest.mark.django_db(transaction=True)
KEY = notes.SigningKey("example.com/log", bytes(range(32)))
MIA = log.Actor("person", "Mia", "mia")
AGENT = log.Actor("agent", "triage-agent", "mia")


@pytest.fixture
def sealed(own_log: str, as_role: Callable[[str], None]) -> Callable[[], seal.Sealer]:
    """Seals all that is there, as the sealer; Django is the owner again afterwards."""

    def now() -> seal.Sealer:
        as_role("sealer")
        sealer = seal.Sealer([KEY])
        sealer.start()
        while sealer.round():
            pass
        connection.close()
        as_role("owner")
        return sealer

    return now


@pytest.fixture
def superuser_here(sealed: Any, cluster_socket: Path) -> Callable[[str], None]:
    """Statements of a superuser on the test's log, which no trigger refuses."""

    def run(statements: str) -> None:
        name = connection.settings_dict["NAME"]
        with psycopg.connect(host=str(cluster_socket), user="postgres", dbname=name) as session, triggers_off(session):
            session.execute(statements.encode())

    return run


def calls(count: int, **about: Any) -> list[log.Recorded]:
    return [log.record(Kind.CALL_FINISHED, AGENT, tool="count_errors", **about) for _ in range(count)]


def exported(form: str = "jsonl", selection: Selection | None = None) -> str:
    """A whole export, ended as it should be."""
    made = export.Export(selection or Selection(), FORMATS[form], MIA)
    text = b"".join(made.pieces()).decode()
    made.ended(is_whole=True)
    return text


def lines(selection: Selection | None = None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported(selection=selection).splitlines()]


def leaf_of(line: dict[str, Any]) -> bytes:
    """Recomputed from the line alone, as a receiver does."""
    assert canonical.entry_digest(line["header"]).hex() == line["digest"]
    stamped = {name: line[name] for name in ("id", "seq", "at", "db_role", "digest")}
    return tree.leaf(canonical.header_bytes({"leaf_version": 1, **stamped}))


def test_everything_gives_the_root_that_was_signed(sealed: Any) -> None:
    calls(120, args={"job": 7}, result={"count": 3})
    sealed()
    log.record(Kind.COMMENT_ADDED, MIA, subject="late")
    first, *entries, last = lines()
    note = notes_read.parse(last["note"])
    assert note.fault([notes_read.parse_key(str(KEY.public))]) == ""
    covered = [line for line in entries if line["leaf"] is not None]
    assert [line["leaf"] for line in covered] == list(range(last["size"]))
    grown = tree.Tree()
    for line in covered:
        grown.append(leaf_of(line))
    assert (grown.size, grown.root()) == (note.size, note.root)
    assert first["complete"] is True
    assert entries[len(covered)]["header"]["subject"] == "late"


def test_a_selection_carries_a_proof_for_each_leaf(sealed: Any) -> None:
    calls(300, result={"count": 3})
    log.record(Kind.COMMENT_ADDED, MIA, subject="I-7", incident_id=7)
    sealed()
    first, entry, last = lines(Selection(Filters(incident="I-7")))
    note = notes_read.parse(last["note"])
    proof = [bytes.fromhex(hashed) for hashed in entry["proof"]]
    assert tree.root_of_proof(entry["leaf"], note.size, leaf_of(entry), proof) == note.root
    assert (first["complete"], first["filter"]) == (False, {"incident": "I-7"})


def test_payloads_are_the_stored_text_with_what_opens_their_commitments(sealed: Any) -> None:
    entry = log.record(Kind.CALL_FINISHED, AGENT, tool="t", args={"ü\0": "\ud800"}, result={"sum": 1.50})
    (line,) = lines(Selection(seq=entry.seq))[1:-1]
    salt = bytes.fromhex(line["salt"])
    for name, own in (("args", salt[:16]), ("result", salt[16:])):
        assert canonical.commitment(own, line[name].encode("ascii")).hex() == line["header"][f"{name}_c"]


def test_a_payload_that_was_cut_goes_out_as_it_is_kept(sealed: Any) -> None:
    entry = log.record(Kind.CALL_FINISHED, AGENT, tool="t", result={"rows": ["x" * 300_000]})
    (line,) = lines(Selection(seq=entry.seq))[1:-1]
    assert len(line["result"]) == payloads.LARGEST_PAYLOAD
    assert line["header"]["truncated"] is True
    assert "damaged" not in line


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("update audit_payload set result = 'rubbish' where entry_id = %s", "cannot be unpacked"),
        ("update audit_payload set args = %s where entry_id = %s", "do not match the commitment"),
        ("delete from audit_payload where entry_id = %s", "are not there"),
        ("update audit_payload set result = null where entry_id = %s", "no redaction accounts"),
        ("update audit_entry set actor = 'nobody' where id = %s", "do not match the digest"),
    ],
)
def test_what_is_damaged_goes_out_with_what_there_is_and_says_so(
    sealed: Any, tamper: Any, statement: str, said: str
) -> None:
    entries = calls(3, args={"job": 7}, result={"count": 3})
    sealed()
    values = [payloads.compress(b'"\xff"')] if statement.count("%s") == 2 else []
    tamper(statement, *values, entries[1].id)
    found = {line.get("seq"): line for line in lines()}
    assert said in found[entries[1].seq]["damaged"]
    assert "damaged" not in found[entries[2].seq]


WITHOUT = "alter table {0} alter column {1} drop not null; update {0} set {1} = null where {2} = '{3}'"


@pytest.mark.parametrize(
    ("table", "column", "code"),
    [
        ("audit_payload", "salt", "D2"),
        ("audit_entry", "digest", "F1"),
        ("audit_entry", "args_c", "D1"),
        ("audit_leaf", "h", "F1"),
        ("audit_entry", "at = 'infinity'", "T1"),
        ("audit_entry", "at = '4713-01-01 BC'", "T1"),
    ],
)
def test_no_row_stops_an_export_or_its_verification(
    table: str, column: str, code: str, sealed: Any, superuser_here: Any, tmp_path: Path, capsys: Any
) -> None:
    entries = calls(3)
    sealed()
    key = {"audit_entry": "id"}.get(table, "entry_id")
    change = f"update {table} set {column} where {key} = '{entries[1].id}'"
    superuser_here(change if "=" in column else WITHOUT.format(table, column, key, entries[1].id))
    (tmp_path / "keys").write_text(f"{KEY.public}\n")
    (tmp_path / "file").write_text(exported())
    assert verifier.main([str(tmp_path / "file"), "--public-key", str(tmp_path / "keys")]) == 1
    assert f"{code} " in capsys.readouterr().out


def test_an_export_is_verified_by_who_trusts_neither_us_nor_the_database(
    sealed: Any, tmp_path: Path, capsys: Any
) -> None:
    entries = calls(60, args={"job": 7}, result={"count": 3})
    sealed()
    (tmp_path / "keys").write_text(f"{KEY.public}\n")
    for number, selection in enumerate((Selection(), Selection(seq=entries[7].seq))):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(exported(selection=selection))
        assert verifier.main([str(file), "--public-key", str(tmp_path / "keys")]) == 0, capsys.readouterr().out
        file.write_text(file.read_text().replace('count\\":3', 'count\\":4', 1))
        assert verifier.main([str(file), "--public-key", str(tmp_path / "keys")]) == 1


def test_an_edit_with_its_digest_made_anew_names_its_entry(sealed: Any, tmp_path: Path, capsys: Any) -> None:
    entries = calls(5)
    sealed()
    made = lines()
    edited = next(line for line in made if line.get("seq") == entries[2].seq)
    edited["header"]["actor"] = "somebody-else"
    edited["digest"] = canonical.entry_digest(edited["header"]).hex()
    (tmp_path / "keys").write_text(f"{KEY.public}\n")
    (tmp_path / "edited").write_text("".join(f"{json.dumps(line)}\n" for line in made))
    assert verifier.main([str(tmp_path / "edited"), "--public-key", str(tmp_path / "keys")]) == 1
    assert f"L1  {entries[2].ref}" in capsys.readouterr().out
    # Who makes the hash anew, too, is found by the root alone.
    del edited["hash"]
    (tmp_path / "edited").write_text("".join(f"{json.dumps(line)}\n" for line in made))
    assert verifier.main([str(tmp_path / "edited"), "--public-key", str(tmp_path / "keys")]) == 1
    assert "R1  checkpoint" in capsys.readouterr().out


def test_a_leaf_without_its_entry_is_named(sealed: Any, tamper: Any) -> None:
    entries = calls(3)
    sealed()
    tamper("delete from audit_entry where id = %s", entries[1].id)
    (missing,) = [line for line in lines() if line["type"] == "missing"]
    assert missing["leaf"] == 2 or missing["hash"]


def test_a_leaf_that_was_lost_leaves_no_hole_in_the_file(sealed: Any, tamper: Any) -> None:
    calls(3)
    sealed()
    tamper("alter table audit_leaf disable trigger refuse_change")
    tamper("delete from audit_leaf where idx = 2")
    found = [line for line in lines() if line.get("leaf") == 2]
    assert found == [{"type": "missing", "leaf": 2, "hash": None}]


def test_numbers_that_an_intruder_doubled_are_all_exported(sealed: Any, tamper: Any) -> None:
    entries = calls(130)
    tamper("update audit_entry set seq = %s where kind = 'call.finished'", entries[0].seq)
    assert len(lines(Selection(Filters(tool="count_errors")))) == 132


def test_a_hole_in_the_stored_tree_costs_proofs_and_no_lines(sealed: Any, tamper: Any) -> None:
    calls(600)
    sealed()
    tamper("alter table audit_node disable trigger refuse_change")
    tamper("delete from audit_node where idx = 1")
    found = lines(Selection(Filters(tool="count_errors")))[1:-1]
    assert len(found) == 600
    assert any("proof" in line for line in found)
    assert any("proof" not in line for line in found)


def test_a_span_of_time_selects_by_the_servers_clock(sealed: Any) -> None:
    entries = calls(3)
    found = lines(Selection(Filters(tool="count_errors"), since=entries[1].at, until=entries[2].at))
    assert [line["seq"] for line in found[1:-1]] == [entries[1].seq]


def test_an_export_is_recorded_before_and_after(sealed: Any) -> None:
    calls(3)
    text = exported()
    after, before = Entry.objects.filter(kind=Kind.LOG_EXPORTED).order_by("-seq")
    from audit import reading

    left = reading.content_of(after).result
    import hashlib

    assert left["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert (left["entries"], after.parent, after.actor) == (3, before.pk, "Mia")
    assert reading.content_of(before).args == {"format": "jsonl", "filter": {}, "size": 0}


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"])
def test_no_cell_of_a_spreadsheet_is_a_formula(sealed: Any, start: str) -> None:
    agent = log.Actor("agent", f"{start}|calc", "mia")
    log.record(Kind.CALL_REFUSED, agent, tool=f"{start};=2", error=f"{start}\n=3,=4", args=f"{start}")
    text = exported("csv")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝"))]


@pytest.mark.parametrize("before", [" ", "\u00a0", "\ufeff", "\u200b ", " \t"])
@pytest.mark.parametrize("sign", list("=+-@＝＋－＠"))
def test_what_looks_like_nothing_hides_no_formula(before: str, sign: str) -> None:
    assert export_csv._cell(f"{before}{sign}1+1").startswith("'")


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("text", ["a;=1+1", "a;  @SUM(A1)", 'a";"=1', "a\t=1", "a\n=1;+2", "x;\ufeff=1", ";;-1"])
def test_no_formula_begins_where_others_separate_cells(text: str, separator: str) -> None:
    row = export_csv._row(["entry", export_csv._cell(text)])
    for cells in csv.reader(io.StringIO(row, newline=""), delimiter=separator):
        for cell in cells:
            assert not cell.strip(' \t\r\n"\ufeff').startswith(tuple("=+-@")), (row, cell)
    lines = [cell for line in row.splitlines() for cell in line.split(separator)]
    assert not [cell for cell in lines if cell.strip(' \t"\ufeff').startswith(tuple("=+-@"))], row


def test_what_is_no_formula_stays_as_it_is() -> None:
    for text in ('{"a":[1,-2],"b":"x=1"}', "2026-11-30T00:00:00.000000Z", "a - b; c", "I-7", "a@example.org; b"):
        assert export_csv._cell(text) == text


def test_no_text_breaks_a_row(sealed: Any) -> None:
    odd = 'a"b,c\r\nd;e\x1f\x85\u2028f\ud800'
    log.record(Kind.CALL_REFUSED, log.Actor("agent", odd, "mia"), tool=odd, error=odd, args={"x": odd})
    rows = list(csv.reader(io.StringIO(exported("csv"), newline="")))
    assert {len(row) for row in rows} == {len(rows[0])}
    exported("csv").encode("utf-8")


def test_ten_thousand_entries_take_no_more_memory_than_a_hundred(sealed: Any, superuser: Any) -> None:
    calls(20, result={"text": "x" * 20_000})
    with connection.cursor() as cursor:
        columns = ", ".join(header.FIELDS)
        cursor.execute(
            f"""with made as (insert into audit_entry ({columns}, digest) select {columns}, digest
                from audit_entry, generate_series(1, 500) where tool = 'count_errors' returning id)
                insert into audit_payload select made.id, salt, args, result, codec from made,
                lateral (select * from audit_payload where entry_id <> made.id limit 1) one"""
        )
    sealed()
    made = export.Export(Selection(), FORMATS["jsonl"], MIA)
    pieces = made.pieces()
    for _ in range(5):
        next(pieces)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    largest = max(len(piece) for piece in pieces)
    assert made.entries > 10_000
    assert largest < 2_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000  # kB


# Through the page.


def downloaded(response: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(response).splitlines()]


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
def test_the_page_exports_what_its_filters_select(client: Client, make_person: Any) -> None:
    client.force_login(make_person("ida", "auditor"))
    ours = log.record(Kind.COMMENT_ADDED, MIA, subject="V-991")
    assert 'action="/audit/export/?subject=V-991"' in client.get("/audit/?subject=V-991").content.decode()
    response = client.post("/audit/export/?subject=V-991", {"format": "jsonl"})
    assert 'filename="audit-log-' in response["Content-Disposition"]
    assert [line["seq"] for line in downloaded(response)[1:-1]] == [ours.seq]
    assert Entry.objects.filter(kind=Kind.LOG_EXPORTED, actor="Ida").count() == 2


@pytest.mark.parametrize(("role", "may"), [("admin", True), ("auditor", True), ("on_call", False), ("viewer", False)])
def test_only_who_may_export_is_offered_it(client: Client, make_person: Any, role: str, may: bool) -> None:
    client.force_login(make_person("ida", role))
    assert ("/audit/export/" in client.get("/audit/?subject=none").content.decode()) is may


def test_a_bad_filter_or_form_is_said_and_not_recorded(client: Client, make_person: Any) -> None:
    client.force_login(make_person("otto", "auditor"))
    assert client.post("/audit/export/?incident=many", {"format": "jsonl"}).status_code == 422
    assert client.post("/audit/export/", {"format": "xlsx"}).status_code == 422
    assert not Entry.objects.filter(kind=Kind.LOG_EXPORTED, actor="Otto").exists()


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
def test_an_entrys_proof_is_downloaded_from_its_page(client: Client, make_person: Any) -> None:
    client.force_login(make_person("vera", "viewer"))
    ours = log.record(Kind.COMMENT_ADDED, MIA, subject="V-992")
    assert f'action="/audit/{ours.seq}/proof/"' in client.get(f"/audit/{ours.seq}/").content.decode()
    response = client.post(f"/audit/{ours.seq}/proof/")
    assert f"A-{ours.seq}-proof.jsonl" in response["Content-Disposition"]
    assert [line["type"] for line in downloaded(response)] == ["export", "entry", "checkpoint"]
    assert client.post("/audit/999999999/proof/").status_code == 404


# By command.


def test_the_command_writes_a_file_that_only_its_account_reads(sealed: Any, tmp_path: Path) -> None:
    calls(3)
    sealed()
    out = tmp_path / "log.jsonl"
    call_command(
        "export_log", "--out", str(out), "--tool", "count_errors", "--since", "2020-01-01", stderr=io.StringIO()
    )
    assert out.stat().st_mode & 0o777 == 0o600
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["header"]["tool"] for line in found[1:-1]] == ["count_errors"] * 3
    assert list(tmp_path.iterdir()) == [out]
    with pytest.raises(CommandError, match="exists already"):
        call_command("export_log", "--out", str(out))


def test_an_export_that_cannot_be_written_leaves_no_file_and_is_recorded(sealed: Any, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="could not be written"):
        call_command("export_log", "--out", str(tmp_path / "no" / "log.jsonl"))
    assert Entry.objects.filter(kind=Kind.LOG_EXPORTED, status=export.STOPPED).count() == 1


def test_a_log_whose_tables_were_changed_is_not_exported_and_the_sentence_says_what_to_do(
    sealed: Any, tmp_path: Path
) -> None:
    calls(3)
    sealed()
    with connection.cursor() as cursor:
        cursor.execute("alter table audit_leaf rename column h to other")
    with pytest.raises(CommandError, match=r"manage.py verify_log says whether its tables"):
        call_command("export_log", "--out", str(tmp_path / "log"))
    assert not (tmp_path / "log").exists()


def test_the_auditors_role_can_export(sealed: Any, as_role: Any, tmp_path: Path) -> None:
    calls(3)
    sealed()
    as_role("auditor")
    call_command("export_log", "--out", str(tmp_path / "log"), stderr=io.StringIO())
    assert len((tmp_path / "log").read_text().splitlines()) >= 6


def test_rows_come_in_pieces_that_stay_small(sealed: Any) -> None:
    calls(130)
    sealed()
    at = export_rows.extent()
    assert [len(rows) for rows in export_rows.rows(Selection(), at)] == [50, 50, 31]
    assert at.size == 131
    assert merkle.Frontier().size == 0
