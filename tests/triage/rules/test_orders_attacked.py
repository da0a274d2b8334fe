"""Orders that are not settled, each one field away from one that is."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from gate.triage.outcomes import Fail, Pass
from tests.triage.rules import cases, twins
from tests.triage.rules.cases import DROP, both, put
from tests.triage.rules.twins import Case, charge, refund, stripe_list

OTHER = "a1 result data 1"  # the charge of the order that is not the duplicate


def add(ref: str, item: Case) -> cases.Edit:
    """One object more in a list."""

    def edit(case: Case) -> None:
        cases.entry(case, ref)["result"]["data"].append(item)

    return edit


def uncite(ref: str) -> cases.Edit:
    def edit(case: Case) -> None:
        case["findings"] = [finding for finding in case["findings"] if finding["audit_id"] != ref]

    return edit


def authorized(ref: str) -> Case:
    return charge(ref, amount_captured=0, amount_refunded=0, refunded=False, captured=False)


CANCELED: list[tuple[str, Callable[[], Case], cases.Edit, str]] = [
    ("one charge is not refunded", twins.canceled_order,
     both(put(f"{OTHER} refunded", False), put(f"{OTHER} amount_refunded", 0)), "was refunded"),
    ("one charge is refunded in part", twins.canceled_order,
     both(put(f"{OTHER} refunded", False), put(f"{OTHER} amount_refunded", 4599)), "was refunded"),
    ("refunded, it says, but not all", twins.canceled_order, put(f"{OTHER} amount_refunded", 4599), "not given back"),
    ("captured in part", twins.canceled_order, put(f"{OTHER} amount_captured", 4000), "not given back"),
    ("captured is null", twins.canceled_order, put(f"{OTHER} captured", None), "not true or false"),
    ("captured is missing", twins.canceled_order, put(f"{OTHER} captured", DROP), "not in the result"),
    ("refunded as text", twins.canceled_order, put(f"{OTHER} refunded", "true"), "not true or false"),
    ("an amount as a float", twins.canceled_order, put(f"{OTHER} amount_refunded", Decimal("4600.0")), "whole number"),
    ("disputed", twins.canceled_order, put(f"{OTHER} disputed", True), "disputes"),
    ("dispute not known", twins.canceled_order, put(f"{OTHER} disputed", None), "not true or false"),
    ("another currency", twins.canceled_order, put(f"{OTHER} currency", "usd"), "the claim in eur"),
    ("of another order", twins.canceled_order, put(f"{OTHER} metadata order", "PTX-A2"), "another order"),
    ("of no order", twins.canceled_order, put(f"{OTHER} metadata", {}), "not in the result"),
    ("the list goes on", twins.canceled_order, put("a1 result has_more", True), "goes on"),
    ("a charge more, kept", twins.canceled_order,
     add("a1", charge("ch_third", refunded=False, amount_refunded=0)), "was refunded"),
    ("a charge more, refunded without a refund", twins.canceled_order, add("a1", charge("ch_third")), "0 was given"),
    ("an authorization more", twins.canceled_order, add("a1", authorized("ch_third")), "may still be captured"),
    ("a charge listed twice", twins.canceled_order, add("a1", charge("ch_dup")), "stands in the list twice"),
    ("no charge", twins.canceled_order, put("a1 result data", []), "no charge"),
    ("nothing but an attempt", twins.canceled_order_in_one_list, put("a1 result data 1", charge(
        "ch_dup", amount_captured=0, amount_refunded=0, refunded=False, captured=False, paid=False)), "no charge"),
    ("a paid charge that says it failed", twins.canceled_order_in_one_list, put("a1 result data 0 status", "succeeded"),
     "has `paid` False"),
    ("a charge that is still pending", twins.canceled_order,
     both(put(f"{OTHER} status", "pending"), put("a1 result data 0 status", "succeeded")), "was refunded"),
    ("captured, and yet nothing was taken", twins.canceled_order_in_one_list,
     put("a1 result data 0 captured", True), "captured, and yet"),
    ("less than nothing was taken", twins.canceled_order_in_one_list, put("a1 result data 0 amount_captured", -5),
     "less than nothing"),
    ("an order for nothing", twins.canceled_order, put("incident subject amount", 0), "a charge is missing"),
    ("cheaper than the order", twins.canceled_order, put("incident subject amount", 6901), "a charge is missing"),
    ("of the test mode", twins.canceled_order, put(f"{OTHER} livemode", False), "test mode"),
    # The question for charges
    ("only the refunded ones", twins.canceled_order,
     put("a1 args query", "metadata['order']:'PTX-A1' refunded:'true'"), "narrowed by `.refunded`"),
    ("none with this prefix", twins.canceled_order, put("a1 args query", "metadata['order']~'PTX'"), "more than exact"),
    ("by another note", twins.canceled_order, put("a1 args query", "metadata['cart']:'PTX-A1'"), "narrowed by `cart`"),
    ("another order", twins.canceled_order, put("a1 args query", "metadata['order']:'PTX-A2'"), "another one"),
    ("by a note, and narrowed", twins.canceled_order_in_one_list,
     put("a1 args metadata", {"order": "PTX-A1", "kind": "refund"}), "narrowed by `kind`"),
    ("of a customer", twins.canceled_order, put("a1 args customer", "cus_1"), "also asked by customer"),
    ("since yesterday", twins.canceled_order, put("a1 args created", {"gte": 1480000000}), "also asked by created"),
    ("by nothing", twins.canceled_order, put("a1 args query", DROP), "one note of the shop"),
    # The refunds
    ("one list is not cited", twins.canceled_order, uncite("a4"), "0 was given back"),
    ("a refund is pending", twins.canceled_order, put("a4 result data 0 status", "pending"), "is pending"),
    ("a refund failed", twins.canceled_order, put("a4 result data 0 status", "failed"), "0 was given back"),
    ("a refund was canceled", twins.canceled_order, put("a4 result data 0 status", "canceled"), "0 was given back"),
    ("a refund has a reason why it failed", twins.canceled_order,
     put("a4 result data 0 failure_reason", "unknown"), "reason why"),
    ("a refund of less", twins.canceled_order, put("a4 result data 0 amount", 4599), "4599 was given back"),
    ("a refund of more", twins.canceled_order, put("a4 result data 0 amount", 4601), "4601 was given back"),
    ("a refund in another currency", twins.canceled_order, put("a4 result data 0 currency", "usd"), "another currency"),
    ("a refund of a strange charge", twins.canceled_order, put("a4 result data 0 charge", "ch_x"), "not the order's"),
    ("a refund of the other charge", twins.canceled_order, put("a4 result data 0 charge", "ch_dup"),
     "of another charge than was asked"),
    ("one refund under the id of the other", twins.canceled_order, put("a4 result data 0 id", "re_1"), "is counted"),
    ("no refund", twins.canceled_order, put("a4 result data", []), "holds no refund"),
    ("the list of refunds goes on", twins.canceled_order, put("a4 result has_more", True), "goes on"),
    ("refunds of a strange charge", twins.canceled_order, put("a4 args charge_id", "ch_x"),
     "not a charge of this order"),
    ("only refunds that succeeded", twins.canceled_order, put("a4 args status", "succeeded"), "also asked by status"),
    ("refunds asked for by nothing", twins.canceled_order, put("a4 args charge_id", DROP), "one note of the shop"),
    ("refunds of another intent", twins.canceled_order_by_intents, put("a3 args payment_intent", "pi_2"),
     "not a payment of this order"),
    ("refunds of an intent that the claim does not name", twins.canceled_order_by_intents,
     put("incident subject payment_intent", DROP), "`data[0].payment_intent` is not in the result"),
    ("the same refund twice", twins.canceled_order_in_one_list, add("a3", refund("re_3", "ch_dup", 1000)),
     "stands in the list twice"),
    ("one part short", twins.canceled_order_in_one_list, put("a3 result data 2 status", "failed"), "1300 was given"),
    ("one part too many", twins.canceled_order_in_one_list, put("a3 result data 3 status", "succeeded"), "2350 was"),
    ("no order in the claim", twins.canceled_order, put("incident subject order", DROP), "does not say its `order`"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "make", "edit", "why"), CANCELED, ids=[attack[0] for attack in CANCELED])
def test_an_order_that_still_holds_money_is_not_canceled_correctly(
    title: str, make: Callable[[], Case], edit: cases.Edit, why: str
) -> None:
    verdict = cases.decide(cases.edited(make(), edit))
    assert isinstance(verdict, Fail)
    assert why in cases.sentences(verdict), cases.sentences(verdict)


def test_an_authorization_that_was_released_holds_nothing() -> None:
    released = {**authorized("ch_third"), "refunded": True, "amount_refunded": 2300}
    assert isinstance(cases.decide(cases.edited(twins.canceled_order(), add("a1", released))), Pass)


@pytest.mark.parametrize(
    ("tool", "args", "result"),
    [
        ("stripe_list_refunds", {"charge": "ch_dup"}, stripe_list(refund("re_1", "ch_dup", status="failed"))),
        ("stripe_list_refunds", {"charge": "ch_dup"}, stripe_list(refund("re_9", "ch_dup"))),
        ("stripe_list_charges", {"order": "PTX-A1"}, stripe_list(charge("ch_dup", disputed=True))),
        ("stripe_list_charges", {"order": "PTX-A1"}, stripe_list(charge("ch_new", refunded=False, amount_refunded=0))),
    ],
)
def test_a_later_answer_that_nobody_cites_still_speaks(tool: str, args: Case, result: Any) -> None:
    case = twins.canceled_order()
    twins.call(case, "a9", tool, args, result)
    verdict = cases.decide(case)
    assert isinstance(verdict, Fail)
    assert [reason.code for reason in verdict.reasons] == ["contradicted_later"]


PAID, FAILED = "a1 result data 0", "a1 result data 1"
SQL = "select order_id, cart_id, current_state from orders where "
SUPERSEDED: list[tuple[str, Callable[[], Case], cases.Edit, str]] = [
    ("the last one is still running", twins.superseded, put(f"{PAID} status", "processing"), "is processing"),
    ("the last one waits to be captured", twins.superseded, put(f"{PAID} status", "requires_capture"), "requires_cap"),
    ("the last one was canceled", twins.superseded, put(f"{PAID} status", "canceled"), "is canceled"),
    ("a status that Stripe has not", twins.superseded, put(f"{PAID} status", "paid"), "not one of"),
    ("the failed one came later", twins.superseded, put(f"{FAILED} created", 1627549501), "requires_payment_method"),
    ("both in one second", twins.superseded, put(f"{FAILED} created", 1627549500), "same second"),
    ("in milliseconds", twins.superseded, put(f"{PAID} created", 1627549500000), "created"),
    ("a time as text", twins.superseded, put(f"{PAID} created", "1627549500"), "not a whole number"),
    ("paid twice", twins.superseded, put(f"{FAILED} status", "succeeded"), "pi_1 is succeeded"),
    ("the first may still be paid", twins.superseded, put(f"{FAILED} status", "processing"), "pi_1 is processing"),
    ("one attempt alone", twins.superseded, put(FAILED, DROP), "no two attempts"),
    ("no attempt", twins.superseded, put("a1 result data", []), "no two attempts"),
    ("one attempt twice", twins.superseded, put(f"{FAILED} id", "pi_2"), "stands in the list twice"),
    ("the list goes on", twins.superseded, put("a1 result has_more", True), "goes on"),
    ("another amount", twins.superseded, put(f"{PAID} amount", 4201), "about 4200"),
    ("nothing was paid", twins.superseded_for_some_amount, both(
        put(f"{PAID} amount", 0), put(f"{FAILED} amount", 0)), "about 0"),
    ("less than was tried before", twins.superseded_for_some_amount, put(f"{PAID} amount", 42), "about 4200"),
    ("in another currency than before", twins.superseded_for_some_amount, put(f"{PAID} currency", "jpy"), "in jpy"),
    ("another currency", twins.superseded, put(f"{PAID} currency", "usd"), "the claim in eur"),
    ("another cart's attempt", twins.superseded, put(f"{PAID} metadata cart", "c-78"), "something else"),
    ("an attempt without a note", twins.superseded, put(f"{FAILED} metadata", {}), "not in the result"),
    ("something else than an intent", twins.superseded, put(f"{PAID} object", "charge"), "not one of payment_intent"),
    ("of the test mode", twins.superseded, put(f"{PAID} livemode", False), "test mode"),
    ("only what succeeded", twins.superseded,
     put("a1 args query", "metadata['cart']:'c-79' AND status:'succeeded'"), "narrowed by `.status`"),
    ("another cart", twins.superseded, put("a1 args query", "metadata['cart']:'c-78'"), "another one than `c-79`"),
    ("by the order, which is younger than the cart", twins.superseded,
     put("a1 args query", "metadata['order']:'o-79'"), "narrowed by `order`"),
    # The order
    ("an error", twins.superseded, put("a2 result rows 0 current_state", "PS_OS_ERROR"), "is PS_OS_ERROR"),
    ("a state that nobody listed", twins.superseded, put("a2 result rows 0 current_state", "PAYMENT"), "not one of"),
    ("paid before, now an error", twins.superseded, both(
        put("a2 args sql", "select order_id, cart_id, previous_state, current_state from orders where cart_id='c-79'"),
        put("a2 result rows 0", {"order_id": "o-79", "cart_id": "c-79", "previous_state": "PS_OS_PAYMENT",
                                 "current_state": "PS_OS_ERROR"})), "is PS_OS_ERROR"),
    ("another order", twins.superseded, put("a2 result rows 0 order_id", "o-78"), "another order"),
    ("another cart's row", twins.superseded, put("a2 result rows 0 cart_id", "c-78"), "than was asked for"),
    ("no row", twins.superseded, both(put("a2 result rows", []), put("a2 result row_count", 0)), "exactly one row"),
    ("two rows", twins.superseded, both(put("a2 result row_count", 2), lambda case: cases.entry(case, "a2")["result"][
        "rows"].append({"order_id": "o-80", "cart_id": "c-79", "current_state": "PS_OS_ERROR"})), "exactly one row"),
    ("only the paid ones", twins.superseded, put("a2 args sql", f"{SQL}cart_id='c-79' and current_state='paid'"),
     "narrowed by `current_state`"),
    ("the former state as the present one", twins.superseded, put(
        "a2 args sql", "select order_id, cart_id, previous_state as current_state from orders where cart_id='c-79'"),
     "another name"),
    ("a state that was written down", twins.superseded, put(
        "a2 args sql", "select order_id, cart_id, 'PS_OS_PAYMENT' as current_state from orders where cart_id='c-79'"),
     "where a column belongs"),
    ("an older copy", twins.superseded, put(
        "a2 args sql", "select order_id, cart_id, current_state from archive.orders where cart_id='c-79'"), "schema"),
    ("another table", twins.superseded, put(
        "a2 args sql", "select order_id, cart_id, current_state from carts where cart_id='c-79'"), "`carts`"),
    ("either order", twins.superseded, put("a2 args sql", f"{SQL}cart_id='c-79' or cart_id='c-78'"), "OR or NOT"),
    ("any order", twins.superseded, put("a2 args sql", SQL.removesuffix("where ")), "not asked for by what"),
    ("the first of several", twins.superseded, put("a2 args sql", f"{SQL}cart_id='c-79' limit 1"), "as many as"),
    ("on another machine", twins.superseded, put("a2 args host", "replica-2"), "also asked by host"),
    ("another parameter", twins.superseded_otherwise, put("a2 args params 0", "o-78"), "another one than `o-79`"),
    ("rows without the order", twins.superseded_otherwise, put("a2 result rows 0 order_id", DROP), "has none of"),
    ("no parameter", twins.superseded_otherwise, put("a2 args params", []), "not in the result"),
    ("no cart in the claim", twins.superseded, put("incident subject cart", DROP), "narrowed by `cart`"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "make", "edit", "why"), SUPERSEDED, ids=[attack[0] for attack in SUPERSEDED])
def test_an_attempt_that_was_not_made_good_is_not_superseded(
    title: str, make: Callable[[], Case], edit: cases.Edit, why: str
) -> None:
    verdict = cases.decide(cases.edited(make(), edit))
    assert isinstance(verdict, Fail)
    assert why in cases.sentences(verdict), cases.sentences(verdict)


def test_an_order_that_fell_back_since_is_heard() -> None:
    case = twins.superseded()
    row = {"order_id": "o-79", "cart_id": "c-79", "current_state": "PS_OS_ERROR"}
    sql = "select order_id, cart_id, current_state from orders where order_id='o-79'"
    twins.call(case, "a9", "pg_select", {"sql": sql}, {"rows": [row], "row_count": 1, "limit": 100})
    assert [reason.code for reason in cases.decide(case).reasons] == ["contradicted_later"]  # type: ignore[union-attr]
