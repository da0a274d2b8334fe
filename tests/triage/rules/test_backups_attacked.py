"""Backups that nobody could go back to, each one field away from one that was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gate.triage.outcomes import Fail, Pass
from tests.triage.rules import cases, twins
from tests.triage.rules.cases import DROP, both, put
from tests.triage.rules.twins import Case

LV, SQL = "a1 result report 0 lv 0", "select max(created_at) as newest, count(*) as n from projects"
DUMP = "a1 result Contents 1"
ATTACKS: list[tuple[str, Callable[[], Case], cases.Edit, str]] = [
    # The snapshot
    ("older than a day", twins.snapshot, put(f"{LV} lv_time", "2017-01-30 23:29:59 +0000"), "more than a day old"),
    ("made after it began", twins.snapshot, put(f"{LV} lv_time", "2017-01-31 23:30:01 +0000"), "before the incident"),
    ("made at some hour somewhere", twins.snapshot, put(f"{LV} lv_time", "2017-01-31 17:20:00"), "zone"),
    ("of no size", twins.snapshot, put(f"{LV} lv_size", "0g"), "holds nothing"),
    ("of a few bytes", twins.snapshot, put(f"{LV} lv_size", "310b"), "holds nothing"),
    ("of a size without a unit", twins.snapshot, put(f"{LV} lv_size", "310"), "not a size with its unit"),
    ("of a size as a number", twins.snapshot, put(f"{LV} lv_size", 310), "not a text"),
    ("of a size below zero", twins.snapshot, put(f"{LV} lv_size", "-310g"), "not a size with its unit"),
    ("of nothing: a volume", twins.snapshot, put(f"{LV} origin", ""), "no snapshot"),
    ("of nobody knows what", twins.snapshot, put(f"{LV} origin", DROP), "not in the result"),
    ("no volume", twins.snapshot, put("a1 result report 0 lv", []), "no snapshot"),
    ("no report", twins.snapshot, put("a1 result report", []), "not exactly one report"),
    ("two reports", twins.snapshot, put("a1 result report", [{"lv": []}, {"lv": []}]), "not exactly one report"),
    ("LVM could not read all", twins.snapshot, put("a1 result log", []), "`log` stands there"),
    ("it ran full", twins.snapshot_among_volumes, put("a1 result report 0 lv 2 lv_attr", "swi-I-s---"), "not valid"),
    ("it is being merged back", twins.snapshot_among_volumes, put("a1 result report 0 lv 2 lv_attr", "Swi-a-s---"),
     "not valid"),
    ("attributes that are none", twins.snapshot_among_volumes, put("a1 result report 0 lv 2 lv_attr", "fine"),
     "no attributes"),
    ("of another volume", twins.snapshot_among_volumes, put("incident subject volume", "mysql"), "no snapshot"),
    ("of several volumes, none named", twins.snapshot_among_volumes, put("incident subject volume", DROP), "several"),
    ("on another host, asked", twins.snapshot, put("a1 args host", "db2.cluster"), "another host"),
    ("picked", twins.snapshot, put("a1 args select", "lv_name=~snap"), "also asked by select"),
    ("no host in the incident", twins.snapshot, put("incident subject host", DROP), "does not say its `host`"),
    # The stored object
    ("an empty bucket", twins.stored_object, both(put("a1 result Contents", DROP), put("a1 result KeyCount", 0)),
     "not in"),
    ("a list of nothing", twins.stored_object, both(put("a1 result Contents", []), put("a1 result KeyCount", 0)),
     "no copy"),
    ("the newest is empty", twins.stored_object, put(f"{DUMP} Size", 0), "holds nothing"),
    ("the newest is a few bytes", twins.stored_object, put(f"{DUMP} Size", 20), "holds nothing"),
    ("a size as text", twins.stored_object, put(f"{DUMP} Size", "310000000000"), "not a whole number"),
    ("stored last week", twins.stored_object, put(f"{DUMP} LastModified", "2017-01-24T18:00:00Z"),
     "more than a day old"),
    ("stored after it began", twins.stored_object, both(
        put(f"{DUMP} LastModified", "2017-01-31T23:31:00Z"),
        put("a1 result Contents 0 LastModified", "2017-01-31T23:32:00Z")), "before the incident"),
    ("the list goes on", twins.stored_object, put("a1 result IsTruncated", True), "goes on"),
    ("another bucket, answered", twins.stored_object, put("a1 result Name", "pg-backups-old"), "another bucket"),
    ("another bucket, asked", twins.stored_object, put("a1 args Bucket", "pg-backups-old"), "another bucket"),
    ("another part", twins.stored_object, put("a1 args Prefix", "staging/"),
     "another part of the bucket was asked"),
    ("another part, answered", twins.stored_object, put("a1 result Prefix", "staging/"), "another part"),
    ("from a later one on", twins.stored_object, put("a1 args StartAfter", "production/0131"),
     "also asked by StartAfter"),
    ("no bucket in the incident", twins.stored_object, put("incident subject bucket", DROP),
     "does not say its `bucket`"),
    # The restored copy
    ("no row", twins.snapshot, put("a2 result rows 0 n", 0), "holds no row"),
    ("a count as text", twins.snapshot, put("a2 result rows 0 n", "1700000"), "not a whole number"),
    ("no count", twins.snapshot, put("a2 result rows 0 n", None), "not a whole number"),
    ("rows newer than the snapshot", twins.snapshot, put("a2 result rows 0 newest", "2017-01-31T17:20:01Z"),
     "not from"),
    ("rows of last week", twins.snapshot, put("a2 result rows 0 newest", "2017-01-24T17:19:51Z"), "not from the time"),
    ("no newest row", twins.snapshot, put("a2 result rows 0 newest", None), "not a text"),
    ("the original", twins.snapshot, put("a2 args host", "db1.cluster"), "may be the original"),
    ("the original by its short name", twins.snapshot, put("a2 args host", "db1"), "may be the original"),
    ("the original with its port", twins.snapshot, put("a2 args host", "DB1.cluster.:5432"), "may be the original"),
    ("some address", twins.snapshot, put("a2 args host", "10.0.0.4"), "may be the original"),
    ("this very machine", twins.snapshot, put("a2 args host", "localhost"), "may be the original"),
    ("not the object that the incident names", twins.stored_object,
     put("incident subject key", "production/0132.dump"), "before the incident"),
    ("nobody says where", twins.snapshot, put("a2 args host", DROP), "exactly once"),
    ("through something", twins.snapshot, put("a2 args proxy", "pgbouncer"), "also asked by proxy"),
    ("some of the rows", twins.snapshot, put("a2 args sql", f"{SQL} where id=1"), "were narrowed"),
    ("a part of the count", twins.snapshot, put(
        "a2 args sql", "select max(created_at) as newest, count(*) filter (where true) as n from projects"),
     "a part of the rows"),
    ("a time without a count", twins.snapshot, put("a2 args sql", "select max(created_at) as newest from projects"),
     "were not counted"),
    ("a number that counts nothing", twins.snapshot, put("a2 args sql", "select 1700000 as n from projects"),
     "where a column belongs"),
    ("no row at all", twins.snapshot, both(
        put("a2 args sql", "select id from projects"), put("a2 result", {"rows": [], "row_count": 0, "limit": 100})),
     "there is no row"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "make", "edit", "why"), ATTACKS, ids=[attack[0] for attack in ATTACKS])
def test_a_copy_that_is_none_is_no_backup(title: str, make: Callable[[], Case], edit: cases.Edit, why: str) -> None:
    verdict = cases.decide(cases.edited(make(), edit))
    assert isinstance(verdict, Fail)
    assert why in cases.sentences(verdict), cases.sentences(verdict)


@pytest.mark.parametrize("size", ["310g", "<310.00g", "310.00m", "1t", "2048k", "1024B", "300G"])
def test_every_size_that_lvm_writes_is_read(size: str) -> None:
    assert isinstance(cases.decide(cases.edited(twins.snapshot(), put(f"{LV} lv_size", size))), Pass)


def test_rows_themselves_show_a_restored_copy_too() -> None:
    rows = put("a2 result", {"rows": [{"id": 1}], "row_count": 1, "limit": 100})
    edit = both(put("a2 args sql", "select id from projects"), rows)
    assert isinstance(cases.decide(cases.edited(twins.snapshot(), edit)), Pass)


def test_a_snapshot_that_is_gone_since_is_heard() -> None:
    case = twins.snapshot()
    result = {"report": [{"lv": [{**cases.entry(case, "a1")["result"]["report"][0]["lv"][0], "lv_size": "0g"}]}]}
    twins.call(case, "a9", "lvs_report", {"host": "db1.cluster"}, result)
    assert [reason.code for reason in cases.decide(case).reasons] == ["contradicted_later"]  # type: ignore[union-attr]
