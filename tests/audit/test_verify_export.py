"""An export is verified from its file and a public key: whatever is done to the file is a finding or a sentence."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from audit import canonical, log, merkle, notes
from audit import header as said
from audit.verify import __main__ as command
from audit.verify.entries import FIELDS
from audit.verify.export import Export
from audit.verify.findings import CODES, Report
from audit.verify.note import parse
from audit.verify.receipts import BadReceipt, Receipt
from audit.verify.receipts import parse as parse_receipts
from audit.verify.run import Outside
from tests.audit.logs import KEY, KNOWN

Lines = list[dict[str, Any]]
ORIGIN = KEY.name


def header(number: int, **about: Any) -> dict[str, Any]:
    text: dict[str, Any] = dict.fromkeys(said.FIELDS, "")
    return {
        **text, "header_version": 1, "kind": "call.finished", "actor": "Ångström", "call_id": None, "parent": None,
        "tool_version": 2, "incident_id": None, "duration_ms": 3, "status": "ok", "truncated": False,
        "writer": "agents", "writer_run": "ab12", "writer_seq": number, **about,
    }  # fmt: skip


def entry(number: int, **about: Any) -> dict[str, Any]:
    """One line of an export, written apart from the product's own export."""
    args, result, salt = f'{{"job_id":{number}}}', '{"lines":["a","b"]}', bytes(range(32))
    made = header(number, **about)
    for name, text, part in (("args", args, salt[:16]), ("result", result, salt[16:])):
        made |= {f"{name}_bytes": len(text), f"{name}_c": canonical.commitment(part, text.encode()).hex()}
    return {
        "type": "entry", "id": f"019ad0c6-30{number // 256:02x}-7000-8000-0000000000{number % 256:02x}", "seq": number,
        "at": "2025-11-29T18:00:40.300000Z", "db_role": "counterseal_agents", "digest": digest(made), "header": made,
        "args": args, "result": result, "salt": salt.hex(), "leaf": number - 1,
    }  # fmt: skip


def digest(made: dict[str, Any]) -> str:
    return canonical.entry_digest(made).hex()


def leaf(line: dict[str, Any]) -> bytes:
    from datetime import datetime

    at = datetime.fromisoformat(line["at"])
    record = canonical.leaf_record(
        entry_id=line["id"], seq=line["seq"], at=at, db_role=line["db_role"], digest=bytes.fromhex(line["digest"])
    )
    return merkle.leaf_hash(record)


def tree(leaves: list[bytes]) -> merkle.Frontier:
    grown = merkle.Frontier()
    for hashed in leaves:
        list(grown.append(hashed))
    return grown


def checkpoint(leaves: list[bytes], key: notes.SigningKey = KEY) -> dict[str, Any]:
    note = notes.signed(notes.Checkpoint(ORIGIN, len(leaves), tree(leaves).root()), [key])
    return {"type": "checkpoint", "size": len(leaves), "note": note}


def whole(count: int = 20) -> Lines:
    """A complete export of `count` sealed entries and one that is not sealed."""
    entries = [entry(number) for number in range(1, count + 1)]
    first = {
        "type": "export", "format": "counterseal-log/1", "origin": ORIGIN, "filter": {}, "complete": True,
        "made_at": "2026-11-30T00:00:00.000000Z",
    }  # fmt: skip
    tail = {**entry(count + 1), "leaf": None}
    return [first, *entries, tail, checkpoint([leaf(one) for one in entries])]


def selection() -> Lines:
    """Three entries of the log, each with its proof."""
    lines = whole(8)
    leaves = [leaf(line) for line in lines[1:9]]
    chosen = [lines[2], lines[5], lines[8]]
    for line in chosen:
        spans = merkle.inclusion_path(line["leaf"], 8)
        line["proof"] = [tree(leaves[span.start : span.end]).root().hex() for span in spans]
    return [{**lines[0], "complete": False, "filter": {"tool": "x"}}, *chosen, lines[-1]]


@pytest.fixture
def reports() -> list[Report]:
    """What verifying files gave, the last one last."""
    return []


@pytest.fixture
def told(reports: list[Report]) -> Callable[[], list[str]]:
    """What the last verification said besides its findings."""
    return lambda: reports[-1].information


@pytest.fixture
def found(tmp_path: Path, reports: list[Report]) -> Callable[..., list[str]]:
    """The codes that verifying a file gives."""

    def verify(lines: Lines | bytes, **outside: Any) -> list[str]:
        path = tmp_path / "export.jsonl"
        path.write_bytes(lines if isinstance(lines, bytes) else text_of(lines))
        report = Report()
        Export(path, Outside(KNOWN, **outside), report).verify()
        reports.append(report)
        return sorted(report.counts)

    return verify


def text_of(lines: Lines) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_a_whole_file_has_no_finding(found: Callable[..., list[str]]) -> None:
    assert found(whole()) == []
    assert found(whole(1)) == []
    assert found(selection()) == []


def test_the_verifier_knows_the_fields_that_the_writer_hashes() -> None:
    assert set(FIELDS[log.HEADER_VERSION]) == set(said.FIELDS)


def change(line: int, **values: Any) -> Callable[[Lines], None]:
    def do(lines: Lines) -> None:
        lines[line].update(values)

    return do


def in_header(line: int, rehash: bool = False, **values: Any) -> Callable[[Lines], None]:
    def do(lines: Lines) -> None:
        lines[line]["header"].update(values)
        if rehash:
            lines[line]["digest"] = digest(lines[line]["header"])

    return do


def drop_field(line: int, *names: str) -> Callable[[Lines], None]:
    def do(lines: Lines) -> None:
        for name in names:
            lines[line]["header"].pop(name, None)
            lines[line].pop(name, None)

    return do


def swap_texts(lines: Lines) -> None:
    lines[3]["args"], lines[4]["args"] = lines[4]["args"], lines[3]["args"]


def renumber(lines: Lines) -> None:
    del lines[5]
    for index, line in enumerate(lines[1:20]):
        line["leaf"] = index


def forget(lines: Lines) -> None:
    """Resealed by somebody without the key."""
    lines[3]["header"]["actor"] = "else"
    lines[3]["digest"] = digest(lines[3]["header"])
    lines[-1] = checkpoint([leaf(line) for line in lines[1:21]], notes.SigningKey(ORIGIN, bytes(32)))


EDITS: dict[str, tuple[Callable[[Lines], None], set[str]]] = {
    "a digit of the arguments": (change(3, args='{"job_id":9}'), {"D2"}),
    "unicode in the arguments": (change(3, args='{"job_id":３}'), {"D2"}),
    "a lone surrogate": (change(3, args="\ud800"), {"D2"}),
    "arguments of two entries swapped": (swap_texts, {"D2"}),
    "arguments gone": (change(3, args=None), {"D2"}),
    "salt edited": (change(3, salt="00" * 32), {"D2"}),
    "salt gone": (change(3, salt=None), {"D2"}),
    "salt that is no hex": (change(3, salt="zz"), {"F1", "L3", "R1"}),
    "the actor": (in_header(3, actor="else"), {"D1"}),
    "the actor in another normal form": (in_header(3, actor="A\u030angstro\u0308m"), {"D1"}),
    "the actor, digest anew": (in_header(3, rehash=True, actor="else"), {"R1"}),
    "a number as text": (in_header(3, duration_ms="3"), {"D1"}),
    "a number as a fraction": (in_header(3, duration_ms=3.0), {"D1"}),
    "false as 0": (in_header(3, truncated=0), {"D1"}),
    "a list in the header": (in_header(3, actor=["x"]), {"D1"}),
    "a number beyond 2^53": (in_header(3, duration_ms=2**60), {"D1"}),
    "a field more in the header": (in_header(3, approved=True), {"D1", "V1"}),
    "a field more, digest anew": (in_header(3, rehash=True, approved=True), {"R1", "V1"}),
    "a field less in the header": (drop_field(3, "actor"), {"D1", "V1"}),
    "another version": (in_header(3, header_version=2), {"D1", "V1"}),
    "a version that is none": (in_header(3, header_version=[1]), {"D1", "V1"}),
    "no header": (change(3, header=None), {"F1"}),
    "a field more in the line": (change(3, approved_by="Mia"), {"F1"}),
    "a field less in the line": (drop_field(3, "db_role"), {"F1"}),
    "seq": (change(3, seq=77), {"R1"}),
    "seq as text": (change(3, seq="3"), {"F1"}),
    "seq as a fraction": (change(3, seq=3.0), {"F1"}),
    "seq as true": (change(3, seq=True), {"F1"}),
    "seq of another": (change(3, seq=4), {"I1", "R1"}),
    "at by a microsecond": (change(3, at="2025-11-29T18:00:40.300001Z"), {"R1"}),
    "at by a year": (change(3, at="2024-11-29T18:00:40.300000Z"), {"R1", "T1"}),
    "at in another zone": (change(3, at="2025-11-29T22:14:17.300000+01:00"), {"F1"}),
    "at that is none": (change(3, at="2025-13-29T22:14:17.300000Z"), {"F1"}),
    "the role": (change(3, db_role="counterseal_people"), {"R1"}),
    "the id": (change(3, id="019ad0c6-3000-7000-8000-0000000000ff"), {"R1"}),
    "at an hour that no clock shows": (change(3, at="2025-11-29T24:00:00.000000Z"), {"F1"}),
    "at without end": (change(3, at="infinity"), {"F1"}),
    "at before the year 1": (change(3, at="0000-01-01T00:00:00.000000Z"), {"F1"}),
    "at in the year 1": (change(3, at="0001-01-01T00:00:00.000000Z"), {"R1", "T1"}),
    "at the end of time": (change(3, at="9999-12-31T23:59:59.999999Z"), {"R1", "T1"}),
    "an id from the end of time": (change(3, id="ffffffff-ffff-7fff-bfff-ffffffffffff"), {"R1", "T1"}),
    "an id of another variant": (change(3, id="019ad0c6-3000-7000-c000-000000000003"), {"R1", "T1"}),
    "writer_seq below 1": (in_header(3, writer_seq=-5), {"D1", "G2"}),
    "writer_seq at its end": (in_header(3, writer_seq=2**53 - 1), {"D1", "G1"}),
    "writer_seq null": (in_header(3, writer_seq=None), {"D1", "G1"}),
    "a role with a line in it": (change(3, db_role="counterseal_agents\n"), {"F1"}),
    "half of a surrogate pair in a key": (in_header(3, **{"\ud800": 1}), {"D1", "V1"}),
    "a stored leaf that is another": (change(3, hash="00" * 32), {"L1"}),
    "a proof, as in a selection": (change(3, proof=["00" * 32]), {"F1"}),
    "said to be damaged": (change(3, damaged="It cannot be unpacked."), {"F1"}),
    "said to be redacted, and all there": (change(3, redacted_by=9), {"F1"}),
    "said to be a part": (change(0, filter={"agent": "x"}), {"F1"}),
    "a filter that is none": (change(0, filter=[1]), {"F1"}),
    "said to be of no log": (change(0, origin=None), {"F1"}),
    "not sealed, and older than what is": (change(21, at="2025-11-29T17:40:00.000000Z"), {"T1", "U1"}),
    "an id in capitals": (change(11, id="019AD0C6-3000-7000-8000-00000000000B"), {"F1"}),
    "the digest": (change(3, digest="00" * 32), {"D1", "R1"}),
    "the digest cut": (change(3, digest="00"), {"F1"}),
    "said to be redacted": (change(3, args=None, result=None, salt=None, redacted_by=9), {"K1"}),
    "said to be redacted by nobody": (change(3, args=None, result=None, salt=None, redacted_by="x"), {"F1"}),
    "not sealed any more": (change(3, leaf=None), {"L3", "R1"}),
    "another leaf": (change(3, leaf=7), {"L3", "R1"}),
    "a leaf below nothing": (change(3, leaf=-1), {"F1"}),
    "a leaf without end": (change(3, leaf=10**30), {"F1"}),
    "a line less": (lambda lines: lines.pop(3), {"G1", "L3", "R1"}),
    "a line less and leaves renumbered": (renumber, {"G1", "L3", "R1"}),
    "a line twice": (lambda lines: lines.insert(3, lines[3]), {"G2", "I1", "L3"}),
    "two lines in another order": (lambda lines: lines.insert(3, lines.pop(4)), {"G1", "G2", "L3", "R1"}),
    "the tail that is not sealed twice": (lambda lines: lines.insert(-1, lines[-2]), {"G2", "I1"}),
    "the first line gone": (lambda lines: lines.pop(0), {"F1"}),
    "another format": (change(0, format="counterseal-log/9"), {"F1"}),
    "another log": (change(0, origin="example.com/other"), {"F1"}),
    "said to be a selection": (change(0, complete=False), {"R1"}),
    "completeness as text": (change(0, complete="yes"), {"F1"}),
    "the checkpoint gone": (lambda lines: lines.pop(), {"F1"}),
    "the checkpoint not last": (lambda lines: lines.insert(5, lines.pop()), {"F1"}),
    "two checkpoints": (lambda lines: lines.append(lines[-1]), {"F1"}),
    "no note": (change(-1, note=None), {"S1"}),
    "a note that is none": (change(-1, note="x"), {"S1"}),
    "a note of surrogates": (change(-1, note="\ud800\n1\nAA==\n\n— x AA==\n"), {"S1"}),
    "another size": (change(-1, size=7), {"F1"}),
    "signed by another key": (forget, {"S1"}),
    "pruned without a record": (
        lambda lines: lines.__setitem__(3, {"type": "pruned", "leaf": 2, "hash": leaf(lines[3]).hex(), "by": 9}),
        {"K2"},
    ),
    "said to be missing": (
        lambda lines: lines.__setitem__(3, {"type": "missing", "leaf": 2, "hash": leaf(lines[3]).hex()}),
        {"G1", "L2"},
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_file_is_found(name: str, found: Callable[..., list[str]]) -> None:
    do, expected = EDITS[name]
    lines = whole()
    do(lines)
    assert set(found(lines)) >= expected


SELECTED: dict[str, tuple[Callable[[Lines], None], set[str]]] = {
    "the actor, digest anew": (in_header(2, rehash=True, actor="else"), {"R1"}),
    "no proof": (lambda lines: lines[2].pop("proof"), {"R1"}),
    "a proof cut": (lambda lines: lines[2]["proof"].pop(), {"R1"}),
    "a proof longer": (lambda lines: lines[2]["proof"].append("00" * 32), {"R1"}),
    "a proof that is none": (change(2, proof="x"), {"F1"}),
    "another leaf": (change(2, leaf=3), {"R1"}),
    "a leaf beyond": (change(2, leaf=99), {"R1"}),
    "said to be complete": (change(0, complete=True), {"L3", "R1"}),
    "a leaf dropped by nobody": (
        lambda lines: lines.insert(1, {"type": "pruned", "leaf": 0, "hash": "00" * 32, "by": 9}),
        {"F1"},
    ),
    "a proof without a leaf": (change(2, leaf=None), {"F1"}),
    "a proof in another order": (lambda lines: lines[2]["proof"].reverse(), {"R1"}),
    "a proof without end": (change(2, proof=["00" * 32] * 65), {"F1"}),
    "an entry twice": (lambda lines: lines.insert(2, lines[2]), {"I1"}),
    "an older checkpoint": (
        lambda lines: lines.__setitem__(-1, checkpoint([leaf(one) for one in whole(8)[1:6]])),
        {"R1"},
    ),
    "said to be redacted": (change(2, args=None, result=None, salt=None, redacted_by=9), {"K1"}),
}


@pytest.mark.parametrize("name", SELECTED)
def test_an_edited_selection_is_found(name: str, found: Callable[..., list[str]]) -> None:
    do, expected = SELECTED[name]
    lines = selection()
    do(lines)
    assert set(found(lines)) >= expected


def test_pins_and_receipts_are_held_against_a_file(found: Callable[..., list[str]]) -> None:
    lines = whole(20)
    leaves = [leaf(line) for line in lines[1:21]]
    good = parse(checkpoint(leaves[:12])["note"])
    fork = parse(checkpoint([*leaves[:11], b"x" * 32])["note"])
    ahead = parse(checkpoint([*leaves, b"x" * 32])["note"])
    foreign = parse(checkpoint(leaves[:12], notes.SigningKey(ORIGIN, bytes(32)))["note"])
    assert found(lines, pins=(good,)) == []
    assert found(lines, pins=(good, fork)) == ["C2"]
    assert found(lines, pins=(ahead,)) == ["C1"]
    assert found(lines, pins=(foreign,)) == ["S1"]
    known = Receipt("3", lines[3]["digest"])
    assert found(lines, receipts=(known, Receipt(lines[4]["id"], lines[4]["digest"]))) == []
    assert found(lines, receipts=(known, Receipt("4", lines[3]["digest"]))) == ["X1"]


def test_receipts_are_held_against_what_a_selection_has(found: Callable[..., list[str]]) -> None:
    """An entry that is said not to be sealed yet has nothing but its digest, and a receipt tells another one."""
    lines = selection()
    receipts = (Receipt(str(lines[2]["seq"]), lines[2]["digest"]), Receipt("999", "00" * 32))
    assert found(lines, receipts=receipts) == []
    in_header(2, rehash=True, actor="else")(lines)
    del lines[2]["proof"]
    lines[2]["leaf"] = None
    lines[2]["at"] = lines[-2]["at"]
    assert "X1" not in found(lines)
    assert "X1" in found(lines, receipts=receipts)


@pytest.mark.parametrize("named", ["²", "٣", "007", "9" * 5000, "-3", "A-", "019ad0c6"])
def test_what_names_no_entry_is_no_receipt(named: str) -> None:
    with pytest.raises(BadReceipt, match="Line 1 is no receipt"):
        parse_receipts([f"{named} {'0' * 64}"])


def retained(lines: Lines, **said: Any) -> Lines:
    """The first five entries dropped by what the last sealed entry records."""
    args = json.dumps({"first_leaf": 0, "last_leaf": 4, "entries": 5, "partition": "audit_entry_202509", **said})
    last = lines[20]
    salt = bytes.fromhex(last["salt"])
    last["args"] = args
    last["header"] |= {
        "kind": "log.retained", "args_bytes": len(args), "args_c": canonical.commitment(salt[:16], args.encode()).hex()
    }  # fmt: skip
    last["digest"] = digest(last["header"])
    leaves = [leaf(line) for line in lines[1:21]]
    dropped = [{"type": "pruned", "leaf": at, "hash": leaves[at].hex(), "by": 20} for at in range(5)]
    return [lines[0], *dropped, *lines[6:22], checkpoint(leaves)]


def test_what_a_retention_dropped_is_told_from_what_is_missing(found: Callable[..., list[str]]) -> None:
    assert found(retained(whole())) == []
    assert found(retained(whole(), entries=4)) == ["K2"]
    assert found(retained(whole(), last_leaf=3)) == ["K2"]
    assert found(retained(whole(), partition="audit_entry_202511")) == ["K2"], "Entries of that month are there."
    assert found(retained(whole(), partition="audit_entry_202510")) == ["K2"], "It ended just now."
    assert found(retained(whole(), partition="audit_entry_202599")) == ["K2"], "It is no month."
    again = {"first_leaf": 0, "last_leaf": 3, "entries": 4, "partition": "audit_entry_202509"}
    assert found(retained(whole(), restates=[again])) == ["K2"], "What is said again is said otherwise."
    hidden = retained(whole())
    hidden[6] = {"type": "pruned", "leaf": 5, "hash": leaf(hidden[6]).hex(), "by": 20}
    assert found(hidden) == ["K2"]


UNFIT = [
    '{"restates":5}', '{"restates":true}', '{"restates":[[1]]}', "[1,2]", "[" * 100_000,
    '{"first_leaf":NaN,"last_leaf":1e999,"entries":true}',
    '{"first_leaf":-9,"last_leaf":%s,"entries":1,"partition":"audit_entry_202509","restates":{}}' % ("9" * 4000),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["log.retained", "log.redacted"])
@pytest.mark.parametrize("args", UNFIT, ids=lambda args: args[:20])
def test_a_record_that_says_nothing_sensible_takes_nothing_out(
    args: str, kind: str, found: Callable[..., list[str]]
) -> None:
    lines = whole()
    lines[20] = claiming(lines[20], kind, args)
    leaves = [leaf(line) for line in lines[1:21]]
    lines[3] = {"type": "pruned", "leaf": 2, "hash": leaves[2].hex(), "by": 20}
    lines[-1] = checkpoint(leaves)
    assert "K2" in found(lines)


@pytest.mark.parametrize("month", ["202001", "２０２５０９", "203001"])
def test_a_month_that_never_was_takes_nothing_out_of_the_midst(month: str, found: Callable[..., list[str]]) -> None:
    """Whoever may write to the log can have such a record sealed; what stands beside the leaf tells when it was."""
    lines = whole()
    said = {"first_leaf": 7, "last_leaf": 7, "entries": 1, "partition": f"audit_entry_{month}"}
    lines[20] = claiming(lines[20], "log.retained", json.dumps(said, ensure_ascii=False))
    leaves = [leaf(line) for line in lines[1:21]]
    lines[8] = {"type": "pruned", "leaf": 7, "hash": leaves[7].hex(), "by": 20}
    lines[-1] = checkpoint(leaves)
    assert "K2" in found(lines)


def test_what_was_redacted_is_not_put_back_unseen(found: Callable[..., list[str]]) -> None:
    lines = redacted(whole())
    lines[3] = whole()[3]
    assert found(lines) == ["K3"], "Its commitment fits, and the log says that it is gone."


def redacted(lines: Lines, **said: Any) -> Lines:
    args = json.dumps({"entry": 3, "entry_id": lines[3]["id"], "part": "both", **said})
    last = lines[20]
    last["args"] = args
    last["header"] |= {
        "kind": "log.redacted", "args_bytes": len(args),
        "args_c": canonical.commitment(bytes.fromhex(last["salt"])[:16], args.encode()).hex(),
    }  # fmt: skip
    last["digest"] = digest(last["header"])
    lines[3].update(args=None, result=None, salt=None, redacted_by=20)
    lines[-1] = checkpoint([leaf(line) for line in lines[1:21]])
    return lines


def test_what_was_redacted_is_told_from_what_is_missing(found: Callable[..., list[str]]) -> None:
    assert found(redacted(whole())) == []
    assert found(redacted(whole(), entry=4)) == ["K1", "K3"]
    assert found(redacted(whole(), part="args")) == ["K1"]
    assert found(redacted(whole(), entry_id="another")) == ["K1"]


def test_what_is_not_sealed_takes_nothing_out(found: Callable[..., list[str]]) -> None:
    """Whoever has the file alone can put an entry of any kind beside the sealed ones."""
    lines = whole()
    args = json.dumps({"first_leaf": 2, "last_leaf": 2, "entries": 1, "partition": "audit_entry_202510"})
    lines[21] = claiming(lines[21], "log.retained", args)
    lines[3] = {"type": "pruned", "leaf": 2, "hash": leaf(lines[3]).hex(), "by": 21}
    assert found(lines) == ["K2"]


def test_a_redaction_that_is_sealed_in_a_second_is_told_as_such(
    found: Callable[..., list[str]], told: Callable[[], list[str]]
) -> None:
    def by_what_waits(number: int = 21, **said: Any) -> Lines:
        lines = whole()
        args = json.dumps({"entry": 3, "entry_id": lines[3]["id"], "part": "both", **said})
        lines[21] = claiming(lines[21], "log.redacted", args)
        lines[3].update(args=None, result=None, salt=None, redacted_by=number)
        return lines

    assert found(by_what_waits()) == []
    assert "A-3 was redacted by A-21, which is not sealed yet: a later export proves it." in told()
    assert found(by_what_waits(entry=4)) == ["K1"]
    assert found(by_what_waits(entry_id="another")) == ["K1"]
    assert found(by_what_waits(part="args")) == ["K1"]
    assert found(by_what_waits(20)) == ["K1"], "The line names another entry, which is sealed and says nothing of it."
    damaged = by_what_waits()
    damaged[21]["digest"] = "00" * 32
    assert "K1" in found(damaged)


def claiming(line: dict[str, Any], kind: str, args: str) -> dict[str, Any]:
    committed = canonical.commitment(bytes.fromhex(line["salt"])[:16], args.encode()).hex()
    made = {**line["header"], "kind": kind, "args_bytes": len(args), "args_c": committed}
    return {**line, "header": made, "args": args, "digest": digest(made)}


@pytest.mark.parametrize("make", [whole, selection])
def test_a_last_line_longer_than_any_vouches_for_nothing(
    make: Callable[[], Lines], found: Callable[..., list[str]]
) -> None:
    lines = make()
    forged = {**lines[1], "header": {**lines[1]["header"], "actor": "else"}}
    lines[1] = {**forged, "digest": digest(forged["header"])}
    padded = text_of(lines).rstrip(b"}\n") + b" " * 300_000 + b"}\n"
    assert "S1" in found(padded)


BROKEN = [
    b"", b"\n", b"\n\n\n", b"{", b"[]\n", b"null\n", b"\xff\xfe\n", b"\0" * 100, b'{"type":"export"}\n', b'"' * 5000,
    b"[" * 100_000 + b"\n", b'{"a":' * 100_000 + b"\n",
    b'{"type":"checkpoint","size":' + b"9" * 5000 + b',"note":""}\n',
    b'{"type":["entry"]}\n', b'{"type":"entry","type":"entry"}\n', b"NaN\n",
    b'{"type":"pruned","leaf":0,"hash":"","by":{}}\n',
    b"PK\x03\x04 this is a zip\n", b'{"type":"checkpoint","size":0,"note":"a\\n0\\nAA==\\n\\n"}\n',
]  # fmt: skip


@pytest.mark.parametrize("raw", BROKEN, ids=lambda raw: repr(raw[:20]))
def test_a_file_that_is_no_export_is_a_finding(raw: bytes, found: Callable[..., list[str]]) -> None:
    assert found(raw)


RESPELLED = {
    b'"seq": 3,': [
        b'"seq": 3, "seq": 3,', b'"seq": 3, "\\u0073eq": 4,', b'"seq": 3e0,', b'"seq": 1e999999,',
        b'"seq": ' + b"9" * 10_000 + b",",
    ],
    b'"writer_seq": 3,': [b'"writer_seq": 3, "writer_seq": 3,', b'"writer_seq": 3.0,'],
    b'"leaf": 0}': [b'"leaf": -0}', b'"leaf": 0.0}'],
    b'"header_version": 1,': [b'"header_version": true,', b'"header_version": 1.0,'],
    b'"type": "export"': [b'"\xef\xbb\xbftype": "export"', b'"type": "export", "type": "export"'],
}  # fmt: skip


@pytest.mark.parametrize("written", RESPELLED, ids=lambda written: written.decode())
def test_json_that_parsers_read_differently_is_a_finding(written: bytes, found: Callable[..., list[str]]) -> None:
    for other in RESPELLED[written]:
        raw = text_of(whole()).replace(written, other, 1)
        assert raw != text_of(whole())
        assert found(raw), other[:40]


AROUND = [(b"\xef\xbb\xbf", b""), (b"", b"\n"), (b"", b" "), (b"", b"\0"), (b"", b"\x1f\x8b")]


@pytest.mark.parametrize("around", AROUND)
def test_bytes_before_and_after_are_a_finding(around: tuple[bytes, bytes], found: Callable[..., list[str]]) -> None:
    assert "F1" in found(around[0] + text_of(whole()) + around[1])


def test_a_file_that_was_cut_anywhere_is_a_finding(found: Callable[..., list[str]]) -> None:
    raw = text_of(whole())
    chosen = random.Random(4)  # noqa: S311 - which bytes
    for end in [len(raw) - 1, *(chosen.randrange(len(raw)) for _ in range(40))]:
        assert found(raw[:end]), f"Cut after {end} bytes it is taken for whole."


def test_any_changed_byte_is_a_finding(found: Callable[..., list[str]]) -> None:
    # What nothing signs is left out: the tail that is not sealed, and what the first line says about the export.
    lines = [{**whole(6)[0], "made_at": "", "filter": {}}, *whole(6)[1:-2], whole(6)[-1]]
    raw = text_of(lines)
    start, chosen = raw.index(b"\n"), random.Random(5)  # noqa: S311 - which bytes
    for _ in range(300):
        at = chosen.randrange(start, len(raw) - 1)
        changed = raw[:at] + bytes([raw[at] ^ (1 << chosen.randrange(7))]) + raw[at + 1 :]
        if json_of(changed) != json_of(raw):
            assert found(changed), f"Byte {at} was changed from {raw[at : at + 1]!r} and nothing was found."


def json_of(raw: bytes) -> Any:
    try:
        return [json.loads(line) for line in raw.splitlines()]
    except ValueError:
        return None


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "audit.verify", *words], cwd=settings.BASE_DIR, capture_output=True, text=True, env={}
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "key").write_text(f"{KEY.public}\n")
    (tmp_path / "good").write_bytes(text_of(whole()))
    bad = whole()
    bad[3]["args"] = "\x1b[31mred"
    bad[4]["header"]["writer_run"] = "\x1b[2J\n"
    (tmp_path / "bad").write_bytes(text_of(bad))
    return tmp_path


def test_it_runs_by_itself_and_exits_with_what_it_found(files: Path) -> None:
    good = run(str(files / "good"), "--public-key", str(files / "key"))
    assert (good.returncode, good.stderr) == (0, "")
    assert "Integrity: what is sealed is what was written." in good.stdout, "One entry is not."
    assert "Completeness: nothing is missing." in good.stdout
    bad = run(str(files / "bad"), "--public-key", str(files / "key"))
    assert bad.returncode == 1
    assert "D2  A-3: " in bad.stdout
    assert "\x1b" not in bad.stdout, "What an entry says must not steer the terminal."


@pytest.mark.parametrize("name", ["nowhere", "good", "."])
def test_what_it_cannot_use_is_a_sentence(name: str, files: Path) -> None:
    """A key that is none, files that are not there, and a directory."""
    asked = run(str(files / name), "--public-key", str(files / name))
    assert asked.returncode == 2
    assert "Traceback" not in asked.stderr
    assert asked.stderr


def test_pins_stand_below_each_other_or_in_lines_of_json(files: Path) -> None:
    leaves = [leaf(line) for line in whole()[1:21]]
    pinned = [checkpoint(leaves[:size]) for size in (3, 20)]
    (files / "notes").write_text("\n".join(pin["note"] for pin in pinned))
    (files / "lines").write_text("".join(json.dumps(pin) + "\n" for pin in pinned))
    (files / "fork").write_text(checkpoint([b"x" * 32])["note"])
    for name, code in (("notes", 0), ("lines", 0), ("fork", 1)):
        words = [str(files / "good"), "--public-key", str(files / "key"), "--pins", str(files / name)]
        assert command.main(words) == code, name


def test_a_file_of_pins_that_was_emptied_is_not_taken_for_one(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "pins").write_text("\n")
    words = [str(files / "good"), "--public-key", str(files / "key"), "--pins", str(files / "pins")]
    assert command.main(words) == command.UNUSABLE
    assert "holds no checkpoint" in capsys.readouterr().err


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        path = tmp_path / str(count)
        path.write_bytes(text_of(whole(count)))
        tracemalloc.start()
        Export(path, Outside(KNOWN), Report()).verify()
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    assert peak(4000) < peak(400) + 200_000


def test_every_code_is_explained() -> None:
    assert all(len(code) == 2 and text.endswith(".") for code, text in CODES.items())
