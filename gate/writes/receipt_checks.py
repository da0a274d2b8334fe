"""The checks of a write's receipt, one after another. Pure, and written apart from what makes receipts.

It shares with the writer the canonical form (RFC 8785) and the check of a key's signature, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from uuid import UUID

from audit import canonical
from audit.verify import entries, lines, note, tree
from audit.verify.findings import Report
from gate.people.key_assertions import BadAssertion, raw, verify
from gate.writes.receipt_keys import Keys, Pinned

FORMAT = "counterseal-write-receipt/1"
LONGEST = 64 * 1024 * 1024  # bytes
TAGS = {
    "proposal": b"write-proposal/v1\0", "policy": b"write-policy/v1\0", "preview": b"write-preview/v1\0",
}  # fmt: skip
APPROVAL_TAG, LEDGER_TAG = b"write-approval/v1\0", b"write-ledger/v1\0"
APPROVALS = ("approve", "break_glass")
ENTRY = "entry"
QUARANTINE = timedelta(hours=24)


class BadReceipt(ValueError):
    """The file is no receipt; the sentence says why."""


class Fails(Exception):
    """A check that does not hold; the sentence says why."""


@dataclass(frozen=True)
class Line:
    """One check: what it is about, and why it fails."""

    about: str
    why: str = ""

    @property
    def holds(self) -> bool:
        return not self.why


def parse(text: bytes) -> dict[str, Any]:
    """The receipt of a file. Raises BadReceipt."""
    if len(text) > LONGEST:
        raise BadReceipt("The file is longer than any receipt.")
    try:
        value = json.loads(text.decode(), object_pairs_hook=_single)
    except (ValueError, RecursionError) as problem:
        raise BadReceipt("The file is not JSON.") from problem
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise BadReceipt(f"The file is no receipt of the form {FORMAT}.")
    return value


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands in it twice")
    return dict(pairs)


def run(receipt: Mapping[str, Any], keys: Keys) -> list[Line]:
    """Every check of a receipt, in order. A check that cannot be made fails."""
    given = _Given(receipt, keys)
    return [_tried(about, check) for about, check in _checks(given)]


def _tried(about: str, check: Callable[[], None]) -> Line:
    try:
        check()
    except (Fails, BadAssertion, lines.Malformed, note.Unreadable) as problem:
        return Line(about, str(problem))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        return Line(about, f"a part of the receipt is missing, or is not what it should be ({problem})")
    return Line(about)


def _checks(given: _Given) -> Iterator[tuple[str, Callable[[], None]]]:
    yield "the proposal gives its digest", lambda: given.check_record("proposal")
    yield "the policy gives its digest", lambda: given.check_record("policy")
    yield "the preview gives its digest, and is of this proposal", given.check_preview
    yield "the checkpoint is signed by a known key of the log", given.check_checkpoint
    yield "the log holds the execution", lambda: given.check_entry(given.execution[ENTRY], "write.executed")
    yield "the execution is of this write, and of these approvals", given.check_execution
    yield "what was written is what was previewed", given.check_effect
    yield "the ledger key is the proposal's", given.check_ledger
    for number, decision in enumerate(given.decisions, 1):
        yield from _of_decision(given, number, decision)
    yield "the people who approved fill every seat of the policy", given.check_quorum


def _of_decision(given: _Given, number: int, decision: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], None]]]:
    name = f"approval {number}"
    yield f"{name} is about this proposal, preview and policy", lambda: given.check_statement(decision)
    yield f"the log holds {name}", lambda: given.check_entry(decision[ENTRY], "write.approved")
    yield f"the log says the same of {name}", lambda: given.check_recorded(decision)
    yield f"{name} was vouched for as the policy asks", lambda: given.check_vouched(decision)
    yield f"{name} was given in time", lambda: given.check_time(decision)


class _Given:
    """A receipt with the keys that it is checked with."""

    def __init__(self, receipt: Mapping[str, Any], keys: Keys) -> None:
        self.receipt = receipt
        self.keys = keys

    @property
    def execution(self) -> Mapping[str, Any]:
        return dict(self.receipt["execution"])

    @property
    def decisions(self) -> list[Mapping[str, Any]]:
        found = self.receipt.get("decisions")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    @cached_property
    def head(self) -> note.Note:
        """The checkpoint, when a key of the log has signed it. Raises Fails."""
        parsed = note.parse(self.receipt["checkpoint"])
        if fault := parsed.fault(self.keys.log):
            raise Fails(fault)
        return parsed

    def check_record(self, name: str) -> None:
        part = self.receipt[name]
        _equal(_digest(TAGS[name], part["record"]), part["digest"], f"it gives another digest than the {name}'s")

    def check_preview(self) -> None:
        self.check_record("preview")
        record = self.receipt["preview"]["record"]
        found = {name: record[name] for name in ("proposal", "error", "row_count")}
        expected = {
            "proposal": self.receipt["proposal"]["digest"], "error": "", "row_count": self.execution["row_count"],
        }  # fmt: skip
        _equal(found, expected, "it is of another proposal, or of other rows")

    def check_checkpoint(self) -> None:
        if not self.keys.log:
            raise Fails("KEYS holds no key of the log")
        assert self.head.size >= 0

    def check_entry(self, line: Mapping[str, Any], kind: str) -> None:
        """The entry is whole, of this write, and a leaf under the checkpoint."""
        stored = _stored(line)
        report = Report()
        if not entries.check(stored.entry, report):
            raise Fails(" ".join(one.sentence for one in report.first))
        _equal(stored.entry.text("kind"), kind, "it is an entry of something else")
        _equal(stored.entry.text("subject"), self.receipt["write"], "it is an entry of another write")
        leaf = entries.leaf_hash(stored.entry)
        if leaf is None or stored.leaf is None or stored.proof is None:
            raise Fails("it comes without its place in the log")
        root = tree.root_of_proof(stored.leaf, self.head.size, leaf, stored.proof)
        _equal(root, self.head.root, "no proof leads from it to the root of the checkpoint")

    def check_execution(self) -> None:
        args = _args(self.execution[ENTRY])
        ids = [one["id"] for one in self.decisions]
        said = {"approvals": args["approvals"], "ledger": args["ledger"], "attempt": args["attempt"]}
        _equal(said, {name: self.execution[name] for name in said}, "the log says something else of the execution")
        _equal(sorted(ids), sorted(args["approvals"]), "the approvals are not those that opened the gate")
        if not ids or len(set(ids)) != len(ids):
            raise Fails("there is no approval, or one of them is there twice")

    def check_effect(self) -> None:
        seen = self.receipt["preview"]["record"]["effect"]
        _equal(self.execution["effect"], seen, "another effect was written than was previewed")
        _equal(_args(self.execution[ENTRY])["effect"], seen, "the log names another effect")
        if not _stored(self.execution[ENTRY]).entry.header["truncated"]:  # many rows are cut in the log
            wrote = json.loads(self.execution[ENTRY]["result"])
            said = {name: self.execution[name] for name in ("effect", "row_count", "xid")}
            _equal({name: wrote[name] for name in said}, said, "the log has something else written")

    def check_ledger(self) -> None:
        about = f"{self.receipt['write']}\0{self.receipt['proposal']['digest']}".encode()
        key = str(UUID(bytes=hashlib.sha256(LEDGER_TAG + about).digest()[:16]))
        _equal(self.execution["ledger"], key, "the row in the target's ledger is of another proposal")

    def check_statement(self, decision: Mapping[str, Any]) -> None:
        said = decision["statement"]
        _equal(_digest(APPROVAL_TAG, said), decision["digest"], "the statement gives another digest")
        if said["decision"] not in APPROVALS or said["decision"] != decision["act"]:
            raise Fails("it approves nothing")
        expected = {
            "write": self.receipt["write"], "proposal": self.receipt["proposal"]["digest"],
            "preview": self.receipt["preview"]["digest"], "policy": self.receipt["policy"]["digest"],
            "target": self.receipt["proposal"]["record"]["target_digest"],
            "edition": self.receipt["proposal"]["record"]["edition"], "approver_id": decision["by"],
            "role": decision["role"], "method": decision["method"], "expires_at": decision["expires_at"],
            "reason": hashlib.sha256(decision["reason"].encode()).hexdigest(),
        }  # fmt: skip
        _equal({name: said[name] for name in expected}, expected, "it is about something else")
        record = self.receipt["proposal"]["record"]
        if record["proposer_kind"] == "person" and record["proposer"] == decision["by"]:
            raise Fails("whoever proposed the write approved it")

    def check_recorded(self, decision: Mapping[str, Any]) -> None:
        said = {name: value for name, value in decision.items() if name != ENTRY}
        _equal(_args(decision[ENTRY]), said, "the log says something else of it")

    def check_vouched(self, decision: Mapping[str, Any]) -> None:
        allowed = self.receipt["policy"]["record"]["method"]
        if decision["method"] == "passkey":
            self._check_signature(decision)
        elif decision["method"] != "password" or allowed != "password":
            raise Fails(f"it was given with a {decision['method']}, and the policy asks for a passkey")

    def _check_signature(self, decision: Mapping[str, Any]) -> None:
        key = self._key_of(decision)
        challenge = hashlib.sha256(canonical.header_bytes(decision["statement"])).digest()
        verify(decision["assertion"], challenge=challenge, public_key=raw(key.public_key), party=self.keys.party)

    def _key_of(self, decision: Mapping[str, Any]) -> Pinned:
        wanted = decision["assertion"]["credential"], decision["by"], decision["statement"]["approver"]
        ran = _stored(self.execution[ENTRY]).entry.at
        for key in self.keys.pinned:
            if (key.credential, key.person, key.username) == wanted and key.counted_at(ran):
                return self._old_enough(key, ran)
        raise Fails("KEYS has no key of that person which signed it and was pinned when it was run")

    def _old_enough(self, key: Pinned, ran: datetime) -> Pinned:
        if self.receipt["policy"]["record"]["risk"] != "normal" and ran - key.pinned_at < QUARANTINE:
            raise Fails("the key was pinned less than 24 hours before it was run, and the write is of high risk")
        return key

    def check_time(self, decision: Mapping[str, Any]) -> None:
        ran, given = _stored(self.execution[ENTRY]).entry.at, _stored(decision[ENTRY]).entry.at
        if not given <= ran:
            raise Fails("it was given after the write was run")
        if given > datetime.fromisoformat(decision["statement"]["expires_at"]):
            raise Fails("it had lapsed when it was given")

    def check_quorum(self) -> None:
        record = self.receipt["policy"]["record"]
        if record["break_glass"] == "true" and any(one["act"] == "break_glass" for one in self.decisions):
            return
        seats = {name.removeprefix("approvers "): n for name, n in record.items() if name.startswith("approvers ")}
        people = {one["by"]: one["role"] for one in self.decisions if one["act"] == "approve"}
        if not seats or Counter(seats) - Counter(people.values()):
            raise Fails("a seat is empty")


def _equal(found: object, expected: object, sentence: str) -> None:
    if not _is_same(found, expected):
        raise Fails(sentence)


def _is_same(one: Any, other: Any) -> bool:
    # To Python 1 is equal to true and to 1.0; they are other bytes.
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_is_same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(one == other)


def _digest(tag: bytes, record: Mapping[str, canonical.Scalar]) -> str:
    return hashlib.sha256(tag + canonical.header_bytes(record)).hexdigest()


def _stored(line: Mapping[str, Any]) -> lines.Stored:
    if line.get("type") != "entry":
        raise Fails("a part that should be an entry of the log is none")
    lacking = [name for name, needed in lines.KEYS["entry"].items() if needed and name not in line]
    if lacking:
        raise Fails(f"the entry lacks {', '.join(lacking)}")
    return lines.stored(lines.Line(0, "entry", dict(line)))


def _args(line: Mapping[str, Any]) -> dict[str, Any]:
    value = json.loads(line["args"])
    if not isinstance(value, dict):
        raise Fails("the entry's arguments are no object")
    return value
