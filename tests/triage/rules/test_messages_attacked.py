"""Messages that were not delivered, each one field away from one that was."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from gate.triage.outcomes import Fail, Pass
from tests.triage.rules import cases, twins
from tests.triage.rules.cases import DROP, both, put
from tests.triage.rules.twins import Case

ROW, WHO = "a1 result rows 0", "select message_id, recipient, delivery_status, delivered_at from recipients where "
COUNT = "select count(*) as count from bounces where message_id='m-445'"


def second_row(case: Case) -> None:
    rows = cases.entry(case, "a1")["result"]
    rows["rows"].append({**rows["rows"][0], "delivery_status": "failed"})
    rows["row_count"] = 2


ATTACKS: list[tuple[str, Callable[[], Case], cases.Edit, str]] = [
    *[(f"{state}", twins.message, put(f"{ROW} delivery_status", state), f"is {state}")
      for state in ("pending", "queued", "retry", "failed", "bounced", "cancelled", "internal", "delivered")],
    ("a status that nobody listed", twins.message, put(f"{ROW} delivery_status", "SENT"), "not one of"),
    ("no status", twins.message, put(f"{ROW} delivery_status", None), "not a text"),
    ("sent, but never delivered", twins.message, put(f"{ROW} delivered_at", None), "not a text"),
    ("delivered at no time", twins.message, put(f"{ROW} delivered_at", ""), "not a time with its zone"),
    ("delivered at some hour somewhere", twins.message, put(f"{ROW} delivered_at", "2026-01-14T09:06:00"), "zone"),
    ("delivered before it was waiting", twins.message, put(f"{ROW} delivered_at", "2026-01-14T08:59:59Z"),
     "before the"),
    ("delivered tomorrow", twins.message, put(f"{ROW} delivered_at", "2026-01-15T09:06:00Z"), "in the future"),
    ("to somebody else", twins.message, put(f"{ROW} recipient", "person-b@example.org"), "exactly one row"),
    ("to nearly the same", twins.message, put(f"{ROW} recipient", "person-a@example.com"), "exactly one row"),
    ("another message", twins.message, put(f"{ROW} message_id", "m-446"), "than was asked for"),
    ("twice, once failed", twins.message, second_row, "exactly one row"),
    ("no row", twins.message, both(put("a1 result rows", []), put("a1 result row_count", 0)), "exactly one row"),
    ("the failed one of several", twins.message_to_several,
     put("incident subject recipient", "person-b@example.org"), "is failed"),
    # The question for the row
    ("only what was sent", twins.message, put("a1 args sql", f"{WHO}message_id='m-445' and delivery_status='sent'"),
     "narrowed by `delivery_status`"),
    ("only what was delivered", twins.message,
     put("a1 args sql", f"{WHO}message_id='m-445' and delivered_at >= '2026-01-14T09:00:00Z'"), "narrowed by `deli"),
    ("another message, asked", twins.message, put("a1 args sql", f"{WHO}message_id='m-446'"),
     "another one than `m-445`"),
    ("the status of another table", twins.message,
     put("a1 args sql", f"{WHO.replace('from recipients', 'from drafts')}message_id='m-445'"), "`drafts`"),
    ("a status put into words", twins.message,
     put("a1 args sql", WHO.replace("delivery_status", "'sent' as delivery_status") + "message_id='m-445'"),
     "where a column belongs"),
    ("another column as the status", twins.message,
     put("a1 args sql", WHO.replace("delivery_status", "wanted as delivery_status") + "message_id='m-445'"),
     "another name"),
    ("a joined table", twins.message, put("a1 args sql", f"{WHO.replace('where', ', drafts where')}message_id='m-445'"),
     "exactly one relation"),
    ("two questions", twins.message, put("a1 args query", "select 1"), "not exactly one statement"),
    ("two statements", twins.message, put("a1 args sql", f"{WHO}message_id='m-445'; select 1"), "exactly one SELECT"),
    ("no SQL", twins.message, put("a1 args sql", "everything about m-445"), "not PostgreSQL's SQL"),
    ("nobody says to whom", twins.message, both(
        put("a1 args sql", "select delivery_status, delivered_at from recipients where message_id='m-445'"),
        put(f"{ROW} recipient", DROP), put(f"{ROW} message_id", DROP)), "no row says which recipient"),
    # The bounces
    ("one bounced", twins.message, put("a2 result rows 0 count", 1), "is 1, not 0"),
    ("a count as text", twins.message, put("a2 result rows 0 count", "0"), "not a whole number"),
    ("a count that is false", twins.message, put("a2 result rows 0 count", False), "not a whole number"),
    ("a count as a float", twins.message, put("a2 result rows 0 count", Decimal("0.0")), "not a whole number"),
    ("no count", twins.message, put("a2 result rows 0 count", None), "not a whole number"),
    ("a count under another name", twins.message, put("a2 result rows 0", {"n": 0}), "not in the result"),
    ("no row of counts", twins.message, both(put("a2 result rows", []), put("a2 result row_count", 0)),
     "one row, not 0"),
    ("bounces of another message", twins.message, put("a2 args sql", COUNT.replace("445", "446")), "another one than"),
    ("all bounces", twins.message, put("a2 args sql", "select count(*) as count from bounces"),
     "not asked for by what"),
    ("hard bounces", twins.message, put("a2 args sql", f"{COUNT} and kind='hard'"), "narrowed by `kind`"),
    ("bounces since noon", twins.message, put("a2 args sql", f"{COUNT} and created_at >= '2026-01-14T12:00:00Z'"),
     "bounces from before that"),
    ("bounces since some hour somewhere", twins.message,
     put("a2 args sql", f"{COUNT} and created_at >= '2026-01-14T09:00:00'"), "not a time with its zone"),
    ("bounces since some number", twins.message, put("a2 args sql", f"{COUNT} and created_at >= 1768381200"),
     "compared with a number"),
    ("bounces until ten", twins.message, put("a2 args sql", f"{COUNT} and created_at < '2026-01-14T10:00:00Z'"),
     "compares with <"),
    ("a part of the count", twins.message,
     put("a2 args sql", "select count(*) filter (where kind='hard') as count from bounces where message_id='m-445'"),
     "a part of the rows"),
    ("different ones counted", twins.message,
     put("a2 args sql", "select count(distinct kind) as count from bounces where message_id='m-445'"), "a part of the"),
    ("what is not null counted", twins.message,
     put("a2 args sql", "select count(kind) as count from bounces where message_id='m-445'"), "calls count()"),
    ("nothing can be counted", twins.message, put("a2 args sql", f"{COUNT} and false"),
     "something else than comparisons"),
    ("another table", twins.message, put("a2 args sql", COUNT.replace("bounces", "drafts")), "`drafts`"),
    ("an empty list in place of a count", twins.message, both(
        put("a2 args sql", "select id from bounces where message_id='m-445'"),
        put("a2 result", {"rows": [], "row_count": 0, "limit": 100})), "were not counted"),
    ("counted before the delivery", twins.message, both(
        put(f"{ROW} delivered_at", "2026-01-14T09:54:00Z"), put("a2 meta called_at", "2026-01-14T09:50:00Z")),
     "before the message was delivered"),
    ("counted before one had time", twins.message, put("incident recurrence_period_s", 3600), "time to come back"),
    ("on another machine", twins.message, put("a2 args host", "replica-2"), "also asked by host"),
    ("no message in the claim", twins.message, both(
        put("incident subject message_id", DROP), put("a1 args sql", f"{WHO}recipient='person-a@example.org'"),
        put("a2 args sql", "select count(*) as count from bounces where recipient='person-a@example.org'")),
     "does not say its `message_id`"),
    ("no recipient in the claim", twins.message, put("incident subject recipient", DROP),
     "does not say its `recipient`"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "make", "edit", "why"), ATTACKS, ids=[attack[0] for attack in ATTACKS])
def test_a_message_that_may_not_have_arrived_is_not_delivered(
    title: str, make: Callable[[], Case], edit: cases.Edit, why: str
) -> None:
    verdict = cases.decide(cases.edited(make(), edit))
    assert isinstance(verdict, Fail)
    assert why in cases.sentences(verdict), cases.sentences(verdict)


@pytest.mark.parametrize(
    "sql",
    [
        COUNT,
        f"{COUNT} and recipient = 'person-a@example.org'",
        f"{COUNT} and created_at >= timestamptz '2026-01-14T10:00:00+01'",
        f"{COUNT} AND Created_At >= '2026-01-13 00:00:00+00'::timestamptz;",
        "SELECT COUNT(*) AS count FROM public.bounces AS b WHERE (b.message_id = 'm-445')",
    ],
)
def test_every_way_to_ask_for_the_same_is_good(sql: str) -> None:
    assert isinstance(cases.decide(cases.edited(twins.message(), put("a2 args sql", sql))), Pass)


def test_a_bounce_that_came_since_is_heard() -> None:
    case = twins.message()
    twins.call(case, "a9", "pg_select", {"sql": COUNT}, {"rows": [{"count": 1}], "row_count": 1, "limit": 100})
    assert [reason.code for reason in cases.decide(case).reasons] == ["contradicted_later"]  # type: ignore[union-attr]
