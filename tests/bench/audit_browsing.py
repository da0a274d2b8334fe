"""The pages of a large log: what each of their statements takes in the database, and how many there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit import browse, choices
from audit.browse import Filters
from tests.bench.filling import fill

WANTED, WANTED_TEXT = 5.0, 50.0  # milliseconds
FILTERS = {
    "agent": {"agent": "agent-3"}, "tool": {"tool": "tool_7"}, "kind": {"kind": "write.proposed"},
    "incident": {"incident": "318"}, "subject": {"subject": "I-700"}, "status": {"status": "not-ok"},
    "agent and tool": {"agent": "agent-7", "tool": "tool_27"}, "a filter that matches nothing": {"tool": "none"},
    # Those that meet in every second entry of the rarer one, seldom, and nowhere at all.
    "agent and event": {"agent": "agent-7", "kind": "call.finished"},
    "agent and status": {"agent": "agent-0", "status": "failed"},
    "tool and status": {"tool": "tool_20", "status": "failed"},
    "agent and tool that never meet": {"agent": "agent-7", "tool": "tool_12"},
    "agent and event that never meet": {"agent": "agent-7", "kind": "write.proposed"},
    "agent and status that never meet": {"agent": "agent-3", "status": "not-ok"},
    "event and status that never meet": {"kind": "write.proposed", "status": "stale"},
    "a view": {"view": "writes-and-refusals"},
    "a view of none": {"view": "rules-and-policies"},
}  # fmt: skip
WORDS = {"a word in each": "timeout", "a word in a tenth": "common3", "in a thousandth": "mid318", "in one": "rare4711"}


def run(sockets: Path, entries: int) -> None:
    """Print the slowest statement of each page, next to what is wanted."""
    fill(entries, has_words=True)
    _say("first page", lambda: browse.page(Filters()))
    _say("deep page", lambda: browse.page(Filters(), before=entries // 10))
    _say("choices of all filters", lambda: choices.of(Filters()))
    for name, typed in FILTERS.items():
        _say(f"page by {name}", lambda typed=typed: browse.page(Filters(**typed)))
    for name, word in WORDS.items():
        _say(f"page by words: {name}", lambda word=word: browse.page(Filters(q=word)), WANTED_TEXT)


def _say(title: str, show: Callable[[], Any], wanted: float = WANTED) -> None:
    show()
    with CaptureQueriesContext(connection) as captured:
        show()
    times = [_in_database(query["sql"]) for query in captured.captured_queries]
    print(f"{title}: {sum(times):.2f} ms in {len(times)} statements, slowest {max(times):.2f} (wanted {wanted:.0f})")  # noqa: T201


def _in_database(statement: str) -> float:
    """Planning and running, as the server says; the better of two."""
    found = []
    with connection.cursor() as cursor:
        for _ in range(2):
            cursor.execute(f"explain (analyze, timing off, format json) {statement.replace('%', '%%')}", None)
            plan = cursor.fetchone()[0][0]
            found.append(plan["Planning Time"] + plan["Execution Time"])
    return float(min(found))
