"""What of the tables beside the log takes reading every row: bodies of definitions, and the rows of the search.

The search says nothing that payloads do not; but words that were redacted must not stand there, and no entry may be
left out of it unseen.
"""

from __future__ import annotations

from audit import reading, search_text, twohands, verify_rows
from audit.models import Definition, Entry
from audit.verify.findings import Report

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


def check(report: Report) -> None:
    """Report definitions whose digest is of another body, and rows of the search that are not what payloads say."""
    for one in Definition.objects.order_by("id"):
        if twohands.digest_of(one.kind, one.name, one.body) != one.digest:
            report.add("H1", str(one), "Its body does not give its digest: it was edited in place.")
    _search(report)


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
