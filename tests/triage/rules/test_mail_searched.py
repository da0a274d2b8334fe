"""A search of the mail system shows a delivery by the recipient's own row, and by nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from gate.triage.outcomes import Fail, Pass
from gate.triage.readers import mail_search
from tests.triage.rules import cases
from tests.triage.rules.cases import DROP, Case, Edit, both, edited, put

ROW = "a1 result messages 0"


def searched() -> Case:
    case = cases.recorded("pending_mail_retried_and_delivered")
    one = cases.entry(case, "a1")
    rows = one["result"]["rows"]
    one |= {"tool": "mail_search", "args": {"message_id": "m-445", "cursor": None},
            "result": {"messages": rows, "total": len(rows), "next_page_token": None, "took_ms": 4}}  # fmt: skip
    return case


def more(*rows: Any) -> Edit:
    def edit(case: Case) -> None:
        result = cases.entry(case, "a1")["result"]
        result["messages"] += [{**result["messages"][0], **row} for row in rows]
        result["total"] = len(result["messages"])

    return edit


def test_every_mark_of_a_cut_answer_has_its_row() -> None:
    told = {title.split(":")[0] for title, _ in ATTACKS}
    assert set(mail_search.INCOMPLETE) <= told


@pytest.mark.parametrize(
    "edit",
    [
        put("a1 args limit", 50), put("a1 args recipient", "person-a@example.org"),
        more({"recipient": "person-b@example.org", "delivery_status": "failed", "delivered_at": None}),
        put(f"{ROW} delivered_at", "2026-01-14 10:06:00.25+01"), put("a1 result has_more", False),
    ],
)  # fmt: skip
def test_the_recipients_own_row_earns_it(edit: Edit) -> None:
    verdict = cases.decide(edited(searched(), edit))
    assert isinstance(verdict, Pass), cases.sentences(verdict)


ATTACKS: list[tuple[str, Edit]] = [
    ("total: one more", put("a1 result total", 2)), ("total: none", put("a1 result total", DROP)),
    ("total: as text", put("a1 result total", "1")), ("total: true", put("a1 result total", True)),
    ("truncated: true", put("a1 result truncated", True)), ("has_more: true", put("a1 result has_more", True)),
    ("next_page_token: there", put("a1 result next_page_token", "x")),
    ("nextPageToken: there", put("a1 result nextPageToken", "x")),
    ("limit: reached", put("a1 args limit", 1)), ("limit: of nothing", put("a1 args limit", 0)),
    ("an estimate", both(put("a1 result total"), put("a1 result resultSizeEstimate", 1))),
    ("another status", put(f"{ROW} delivery_status", "queued")), ("no status", put(f"{ROW} delivery_status")),
    ("status in capitals", put(f"{ROW} delivery_status", "SENT")), ("no time", put(f"{ROW} delivered_at", None)),
    ("a time without a zone", put(f"{ROW} delivered_at", "2026-01-14T09:06:00")),
    ("delivered before", put(f"{ROW} delivered_at", "2026-01-14T08:59:59Z")),
    ("delivered later than asked", put(f"{ROW} delivered_at", "2026-01-14T09:55:01Z")),
    ("another recipient", put(f"{ROW} recipient", "person-b@example.org")),
    ("a look-alike", put(f"{ROW} recipient", "person-\u0430@example.org")),
    ("another message", put(f"{ROW} message_id", "m-446")), ("of no message", put(f"{ROW} message_id")),
    ("another message was asked for", put("a1 args message_id", "m-446")),
    ("another recipient was asked for", put("a1 args recipient", "person-b@example.org")),
    ("only what was sent was asked for", put("a1 args status", "sent")),
    ("words were searched for", both(put("a1 args message_id"), put("a1 args query", "m-445"))),
    ("a mailbox was searched", put("a1 args mailbox", "ops@example.org")),
    ("nothing was found", both(put("a1 result messages", []), put("a1 result total", 0))),
    ("two rows of one recipient", more({"delivery_status": "failed"})),
    ("a row of another message", more({"message_id": "m-446"})),
    ("mails of a mailbox", put("a1 result messages", [{"id": "18c", "threadId": "18c"}])),
    ("the bounces were searched for", both(put("a2 tool", "mail_search"), put("a2 args", {"message_id": "m-445"}),
                                           put("a2 result", {"messages": [], "total": 0}))),
]  # fmt: skip


@pytest.mark.parametrize(("title", "edit"), ATTACKS, ids=[row[0] for row in ATTACKS])
def test_anything_else_fails(title: str, edit: Edit) -> None:
    assert isinstance(cases.decide(searched()), Pass), cases.sentences(cases.decide(searched()))
    assert isinstance(cases.decide(edited(searched(), edit)), Fail), title


def test_a_later_search_contradicts_the_row_of_the_table() -> None:
    case = cases.recorded("pending_mail_retried_and_delivered")
    later = cases.entry(edited(searched(), put(f"{ROW} delivery_status", "bounced")), "a1") | {"id": "a9"}
    assert isinstance(cases.decide(edited(case, lambda one: one["audit"].append(later))), Fail)
