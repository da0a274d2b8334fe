"""Rows that decide what the log keeps and what tools do, held against the entries that say who made them so.

A hold that is lifted by hand lets a month go, and a definition that is edited in place was activated by nobody. Rows of
the search say nothing that payloads do not; but words that were redacted must not stand there, and no entry may be
left out of it unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit import reading, search_text, twohands, verify_rows
from audit.models import Definition, Entry
from audit.verify import entries
from audit.verify.claims import content
from audit.verify.findings import Report

HOLDS = """
select id, lifted_at is null,
  case when month is null then 'I-' || incident_id else to_char(month, '"month "YYYY-MM') end
from audit_hold order by id
"""
ACTS = {"held": True, "lifted": False}  # whether it stands after that
# Words of what is not there any more: nobody would make such a row anew.
LEFT_OVER = """
select s.entry_id::text from audit_search s where not exists (
  select from audit_payload p where p.entry_id = s.entry_id and (p.args is not null or p.result is not null))
"""
# An entry whose arguments and result are null, true or a digit or two has hardly a word: most of what has no row.
WITHOUT_ROW = """
select e.id from audit_entry e join audit_leaf l on l.entry_id = e.id
where l.idx < (select min(next_leaf) from audit_searchstate) and e.args_bytes + e.result_bytes > 8
  and not exists (select from audit_search s where s.entry_id = e.id) order by l.idx
"""
BATCH = 500


def check(report: Report, *, is_pruned: bool) -> None:
    """Report holds, definitions and rows of the search that are not what entries and payloads say."""
    _holds(report, is_pruned)
    _definitions(report, is_pruned)
    _search(report)


def _said(*kinds: str) -> Iterator[tuple[entries.Entry, dict[str, Any]]]:
    """What the intact entries of some kinds say, in order."""
    for entry in verify_rows.of_kind(*kinds):
        said = content(entry) if entries.check(entry, Report()) else None
        if isinstance(said, dict):
            yield entry, said


def _holds(report: Report, is_pruned: bool) -> None:
    recorded = {
        repr(said.get("hold")): (entry, ACTS[said["act"]], said.get("subject"))
        for entry, said in _said("log.held")
        if said.get("act") in ("held", "lifted")
    }
    there = {repr(number): (stands, subject) for number, stands, subject in verify_rows.rows(HOLDS)}
    for number, (entry, stands, subject) in recorded.items():
        if there.get(number) != (stands, subject):
            how = "stands" if stands else "was lifted"
            report.add("H1", entry.ref, f"It says that the hold on {subject} {how}, and that hold's row does not.")
    for number in sorted(there.keys() - recorded.keys()) if not is_pruned else ():
        report.add("H1", f"hold {number}", "No entry says who put it.")


def _definitions(report: Report, is_pruned: bool) -> None:
    drafted: set[tuple[str, str]] = set()
    in_force: dict[tuple[str, str], Any] = {}
    for entry, said in _said("definition.drafted", "definition.activated"):
        if entry.text("kind") == "definition.drafted":
            drafted.add((entry.text("subject"), str(said.get("digest"))))
        elif entry.text("status") == "ok" and type(said.get("version")) is int:
            in_force[str(said.get("kind")), str(said.get("name"))] = said.get("version")
    active = set()
    for one in Definition.objects.order_by("id"):
        if twohands.digest_of(one.kind, one.name, one.body) != one.digest:
            report.add("H1", str(one), "Its body does not give its digest: it was edited in place.")
        elif (str(one), one.digest) not in drafted and not is_pruned:
            report.add("H1", str(one), "No entry says who drafted it so.")
        if one.status == Definition.Status.ACTIVE:
            active.add((one.kind, one.name, one.version))
    _in_force(report, active, {(*named, version) for named, version in in_force.items()}, is_pruned)


def _in_force(report: Report, rows: set[Any], said: set[Any], is_pruned: bool) -> None:
    for kind, name, version in sorted(said - rows, key=repr):
        report.add("H1", f"{kind} {name} v{version}", "The log says that it is in force, and it is not.")
    for kind, name, version in sorted(rows - said, key=repr) if not is_pruned else ():
        report.add("H1", f"{kind} {name} v{version}", "It is in force, and the log does not say who activated it last.")


def _search(report: Report) -> None:
    for (key,) in verify_rows.rows(LEFT_OVER):
        report.add("K3", f"entry {key}", "Words of it stand in the search, and its arguments and result are gone.")
    keys = [key for (key,) in verify_rows.rows(WITHOUT_ROW)]
    for first in range(0, len(keys), BATCH):
        found = Entry.objects.filter(pk__in=keys[first : first + BATCH]).order_by("seq")
        contents = reading.contents_of(found)
        for entry in found:
            read = contents[entry.pk]
            if read.is_readable and search_text.words_of(read.args, read.result):
                report.add("I3", entry.ref, "The search has gone past it and has no words of it.")
