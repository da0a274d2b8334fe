from __future__ import annotations

import pytest

from gate.writes import comparing, display
from gate.writes.statement import canonical

STATEMENTS = [
    "update shop.jobs set state = $1, locked_by = null where job_id = $2 and state is distinct from $1",
    "insert into shop.jobs (job_id, kind) values (1, 'é from where set'), (2, 'b')",
    "insert into shop.jobs (job_id) select job_id from shop.lie where job_id in (select 1 from shop.jobs) order by 1",
    "delete from shop.jobs j using shop.lie l where j.job_id = l.job_id",
    "update shop.jobs set price = extract(epoch from now()) from shop.lie where true",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_what_is_shown_is_the_canonical_text_broken_before_keywords_only(text: str) -> None:
    statement = canonical(text, 2 if "$2" in text else 0).text
    shown = display.lines(statement)
    assert " ".join(line.text for line in shown) == statement
    assert all(line.parts[0].is_keyword for line in shown)


def test_lines_read_like_a_statement() -> None:
    shown = display.lines("UPDATE shop.jobs SET state = $1 WHERE job_id = $2")
    assert [line.indent + line.text for line in shown] == [
        "UPDATE shop.jobs", "   SET state = $1", " WHERE job_id = $2",
    ]  # fmt: skip


def test_only_what_differs_is_shown_as_different() -> None:
    row = {
        "key": {"job_id": "7"},
        "columns": ["job_id", "at", "who", "seen"],
        "before": {"job_id": "7", "at": "2026-11-29 08:10:00", "who": "a", "seen": "1"},
        "after": {"job_id": "7", "at": "2026-11-29 10:35:00", "who": None, "seen": "2"},
    }
    (shown,) = comparing.compared([row], ["seen"])
    at, who, seen = shown.changes
    assert (shown.key, shown.same) == ("job_id 7", ["job_id"])
    assert (at.before.same, at.before.differs, at.after.differs) == ("2026-11-29 ", "08:10:00", "10:35:00")
    assert (who.before.differs, who.after.differs) == ("a", "null")
    assert seen.after.differs == "assigned at execution"


def test_a_hidden_character_in_a_row_is_spelled_out() -> None:
    row = {"key": {}, "columns": ["a"], "before": {"a": "x\u202ey"}, "after": {"a": "z"}}
    (shown,) = comparing.compared([row])
    assert shown.changes[0].before.differs == "x‹U+202E›y"


def test_columns_stand_in_the_tables_order_and_new_ones_after_them() -> None:
    row = {"key": {}, "columns": ["b", "a"], "before": {"a": "1", "b": "1"}, "after": {"a": "2", "b": "2", "c": "3"}}
    (shown,) = comparing.compared([row])
    assert [change.column for change in shown.changes] == ["b", "a", "c"]


def test_a_deleted_row_has_no_after() -> None:
    (shown,) = comparing.compared([{"key": {}, "columns": ["a"], "before": {"a": "1"}, "after": None}])
    assert (shown.changes[0].before.is_there, shown.changes[0].after.is_there) == (True, False)


def test_a_footprint_leaves_nothing_out() -> None:
    assert comparing.touched({"shop.jobs": [0, 1, 0], "shop.log": [2, 0, 3]}) == [
        (1, "updated in", "shop.jobs"), (2, "added to", "shop.log"), (3, "deleted from", "shop.log"),
    ]  # fmt: skip
