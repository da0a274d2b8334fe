"""Whatever a tool says when its answer is not all of it takes the pass away: one row for each mark."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gate.triage.outcomes import Fail, Pass
from gate.triage.readers import airflow_tasks, lvs_report, pg_select, s3_objects, stripe_lists
from tests.triage.rules import cases, twins
from tests.triage.rules.cases import put
from tests.triage.rules.twins import Case

MARKS: list[tuple[str, str, Callable[[], Case], cases.Edit]] = [
    ("stripe_lists", "has_more", twins.duplicate, put("a1 result has_more", True)),
    ("stripe_lists", "has_more", twins.charge_in_a_search, put("a2 result has_more", True)),
    ("stripe_lists", "has_more", twins.canceled_order, put("a3 result has_more", True)),
    ("stripe_lists", "has_more", twins.superseded, put("a1 result has_more", True)),
    ("stripe_lists", "has_more", twins.superseded, put("a1 result has_more", cases.DROP)),
    ("stripe_lists", "has_more", twins.superseded, put("a1 result has_more", "false")),
    ("stripe_lists", "next_page", twins.charge_in_a_search, put("a2 result next_page", "WzFd")),
    ("stripe_lists", "next_page", twins.duplicate, put("a1 result next_page", "WzFd")),
    ("stripe_lists", "total_count", twins.charge_in_a_search, put("a2 result total_count", 3)),
    ("stripe_lists", "limit", twins.duplicate, put("a1 args limit", 1)),
    ("stripe_lists", "limit", twins.duplicate, put("a1 args limit", 0)),
    ("stripe_lists", "limit", twins.duplicate, put("a1 args limit", 1000)),
    ("stripe_lists", "limit", twins.superseded, put("a1 args limit", 2)),
    ("airflow_tasks", "total_entries", twins.pipeline, put("a2 result total_entries", 100)),
    ("airflow_tasks", "total_entries", twins.pipeline, put("a2 result total_entries", None)),
    ("airflow_tasks", "total_entries", twins.pipeline, put("a2 result total_entries", cases.DROP)),
    ("airflow_tasks", "next_cursor", twins.pipeline, put("a2 result next_cursor", "eyJ")),
    ("airflow_tasks", "limit", twins.pipeline, put("a2 args limit", 3)),
    ("airflow_tasks", "offset", twins.pipeline, put("a2 args offset", 1)),
    ("lvs_report", "log", twins.snapshot, put("a1 result log", [{"log_message": "Failed to read"}])),
    ("s3_objects", "IsTruncated", twins.stored_object, put("a1 result IsTruncated", True)),
    ("s3_objects", "IsTruncated", twins.stored_object, put("a1 result IsTruncated", cases.DROP)),
    ("s3_objects", "NextContinuationToken", twins.stored_object, put("a1 result NextContinuationToken", "1ueG")),
    ("s3_objects", "KeyCount", twins.stored_object, put("a1 result KeyCount", 3)),
    ("s3_objects", "MaxKeys", twins.stored_object, put("a1 result MaxKeys", 2)),
    ("s3_objects", "CommonPrefixes", twins.stored_object, put("a1 result CommonPrefixes", [{"Prefix": "p/"}])),
    ("pg_select", "truncated", twins.message, put("a1 result truncated", True)),
    ("pg_select", "truncated", twins.message, put("a2 result truncated", True)),
    ("pg_select", "truncated", twins.snapshot, put("a2 result truncated", True)),
    ("pg_select", "has_more", twins.superseded, put("a2 result has_more", True)),
    ("pg_select", "is_partial", twins.superseded, put("a2 result is_partial", True)),
    ("pg_select", "is_partial", twins.superseded, put("a2 result is_partial", None)),
    ("pg_select", "row_count", twins.superseded, put("a2 result row_count", 2)),
    ("pg_select", "row_count", twins.message, put("a2 result row_count", 2)),
    ("pg_select", "limit", twins.superseded, put("a2 result limit", 1)),
    ("pg_select", "limit", twins.superseded, put("a2 result limit", cases.DROP)),
    ("pg_select", "limit", twins.superseded, put("a2 args limit", 99)),
    ("the call", "truncated", twins.superseded, put("a2 meta truncated", True)),
]  # fmt: skip
TABLES = {
    "stripe_lists": stripe_lists.INCOMPLETE, "airflow_tasks": airflow_tasks.INCOMPLETE,
    "lvs_report": lvs_report.INCOMPLETE, "s3_objects": s3_objects.INCOMPLETE, "pg_select": pg_select.INCOMPLETE,
}  # fmt: skip


@pytest.mark.parametrize(("reader", "mark", "make", "edit"), MARKS)
def test_an_answer_that_is_not_all_of_it_shows_nothing(
    reader: str, mark: str, make: Callable[[], Case], edit: cases.Edit
) -> None:
    assert isinstance(cases.decide(make()), Pass)
    verdict = cases.decide(cases.edited(make(), edit))
    assert isinstance(verdict, Fail)
    assert reader == "the call" or "unreadable" in {line.outcome for line in verdict.checks}


@pytest.mark.parametrize("reader", sorted(TABLES))
def test_every_mark_that_a_reader_knows_has_its_row(reader: str) -> None:
    assert set(TABLES[reader]) <= {mark for name, mark, _, _ in MARKS if name == reader}


@pytest.mark.parametrize("count", [1, 100, 101])
def test_a_list_that_grew_to_its_page_is_not_whole(count: int) -> None:
    case = twins.duplicate()
    data = cases.entry(case, "a1")["result"]["data"]
    data.extend({**data[0], "id": f"re_more_{number}"} for number in range(count))
    assert isinstance(cases.decide(case), Fail)
