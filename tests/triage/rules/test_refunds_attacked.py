"""Refunds that did not reach the customer, each one field away from one that did."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from gate.triage.outcomes import Fail, Pass
from tests.triage.rules import cases, twins
from tests.triage.rules.cases import DROP, both, put
from tests.triage.rules.twins import Case, refund, stripe_list

FIRST = "a1 result data 0"
ATTACKS: list[tuple[str, Callable[[], Case], cases.Edit, str]] = [
    # The refund
    ("pending", twins.duplicate, put(f"{FIRST} status", "pending"), "is pending"),
    ("waiting for the customer", twins.duplicate, put(f"{FIRST} status", "requires_action"), "is requires_action"),
    ("failed", twins.duplicate, put(f"{FIRST} status", "failed"), "is failed"),
    ("canceled", twins.duplicate, put(f"{FIRST} status", "canceled"), "is canceled"),
    ("a status that Stripe has not", twins.duplicate, put(f"{FIRST} status", "SUCCEEDED"), "not one of"),
    ("a reason why it failed", twins.duplicate, put(f"{FIRST} failure_reason", "lost_or_stolen_card"), "reason why"),
    ("no word about failure", twins.duplicate, put(f"{FIRST} failure_reason", DROP), "not in the result"),
    ("an empty reason", twins.duplicate, put(f"{FIRST} failure_reason", ""), "reason why"),
    ("less", twins.duplicate, put(f"{FIRST} amount", 2299), "not of the 2300"),
    ("in major units", twins.duplicate, put(f"{FIRST} amount", 23), "not of the 2300"),
    ("a float", twins.duplicate, put(f"{FIRST} amount", Decimal("2300.0")), "not a whole number"),
    ("a text", twins.duplicate, put(f"{FIRST} amount", "2300"), "not a whole number"),
    ("another currency", twins.duplicate, put(f"{FIRST} currency", "usd"), "not in eur"),
    ("of another charge", twins.duplicate, put(f"{FIRST} charge", "ch_orig"), "another charge"),
    ("no refund at all", twins.duplicate, put("a1 result data", []), "no refund"),
    ("two refunds, none named", twins.duplicate,
     put("a1 result data", [refund("re_1", "ch_dup"), refund("re_2", "ch_dup")]), "2 refunds may be"),
    ("one refund, listed twice", twins.named_refund_in_a_list,
     lambda case: cases.entry(case, "a1")["result"]["data"].append(cases.entry(case, "a1")["result"]["data"][1]),
     "stands in the list twice"),
    ("a dispute in its place", twins.duplicate, put(f"{FIRST} object", "dispute"), "not one of refund"),
    ("the other refund, answered", twins.named_refund, put("a1 result id", "re_second"), "another refund"),
    ("the other refund, asked", twins.named_refund, put("a1 args refund", "re_second"), "another one than `re_first`"),
    ("the named one failed beside a good one", twins.named_refund_in_a_list,
     put("a1 result data 1 status", "failed"), "is failed"),
    ("the named one is gone from the list", twins.named_refund_in_a_list, put("a1 result data 1 id", "re_third"),
     "0 refunds may be"),
    ("an error body", twins.named_refund, put("a1 result", {"error": {"type": "invalid_request_error"}}), "not in"),
    ("deleted", twins.named_refund, put("a1 result", {"id": "re_first", "object": "refund"}), "not in the result"),
    # The charge
    ("disputed", twins.duplicate, put("a2 result disputed", True), "disputes"),
    ("disputed is not known", twins.duplicate, put("a2 result disputed", None), "not true or false"),
    ("never captured", twins.duplicate, put("a2 result captured", False), "never taken"),
    ("captured is not known", twins.duplicate, put("a2 result captured", None), "not true or false"),
    ("captured as a number", twins.duplicate, put("a2 result captured", 1), "not true or false"),
    ("nothing given back", twins.duplicate, put("a2 result amount_refunded", 0), "does not carry"),
    ("a part given back", twins.duplicate, put("a2 result amount_refunded", 2299), "does not carry"),
    ("more given back than taken", twins.named_refund, put("a2 result amount_refunded", 3001), "does not carry"),
    ("more given back than this", twins.unnamed_refund_by_its_id, both(
        put("a2 result amount", 4600), put("a2 result amount_captured", 4600), put("a2 result amount_refunded", 4600)),
     "4600 went back"),
    ("a charge in another currency", twins.duplicate, put("a2 result currency", "usd"), "not in eur"),
    ("another charge, answered", twins.duplicate, put("a2 result id", "ch_orig"), "not exactly once"),
    ("another charge, asked", twins.duplicate, put("a2 args charge", "ch_orig"), "another one than `ch_dup`"),
    ("a charge that failed", twins.as_stripe_writes_it, put("a2 result status", "failed"), "did not succeed"),
    ("a charge that is not settled", twins.as_stripe_writes_it, put("a2 result status", "pending"), "did not succeed"),
    ("a status that was taken away", twins.as_stripe_writes_it, put("a2 result status", DROP), "not in the result"),
    ("a charge of the test mode", twins.duplicate, put("a2 result livemode", False), "test mode"),
    ("twice in the list", twins.charge_in_a_search, put("a2 result data 0 id", "ch_dup"), "not exactly once"),
    ("with another order's note", twins.charge_in_a_search, put("a2 result data 1 metadata order", "PTX-A2"),
     "another order"),
    # The question
    ("only what succeeded", twins.duplicate, put("a1 args status", "succeeded"), "also asked by status"),
    ("from a later one on", twins.duplicate, put("a1 args starting_after", "re_0"), "also asked by starting_after"),
    ("all refunds there are", twins.duplicate, put("a1 args charge", DROP), "not asked for by the thing"),
    ("refunds of another charge", twins.duplicate, put("a1 args charge", "ch_orig"), "another one than `ch_dup`"),
    ("a charge under two names", twins.duplicate, put("a2 args id", "ch_orig"), "exactly once"),
    ("a charge, narrowed", twins.duplicate, put("a2 args status", "captured"), "also asked by status"),
    ("no list of Stripe's", twins.duplicate, put("a1 result object", "page"), "not one of list"),
    ("something else than a charge", twins.duplicate, put("a2 result object", "payment_intent"), "not one of charge"),
    ("a narrower search", twins.charge_in_a_search,
     put("a2 args query", "metadata['order']:'PTX-A1' AND disputed:'false'"), "narrowed by `.disputed`"),
    ("another order's search", twins.charge_in_a_search, put("a2 args query", "metadata['order']:'PTX-A2'"), "another"),
    ("a search for either", twins.charge_in_a_search,
     put("a2 args query", "metadata['order']:'PTX-A1' OR metadata['order']:'PTX-A2'"), "more than exact matches"),
    ("another intent", twins.refunds_of_an_intent, put("a1 args payment_intent", "pi_2"), "another one than `pi_1`"),
    ("one refund asked, another answered", twins.unnamed_refund_by_its_id, put("a1 args id", "re_9"),
     "another one than `re_1`"),
    # What the claim says
    ("no amount claimed", twins.duplicate, put("incident subject amount", DROP), "does not say its `amount`"),
    ("no currency claimed", twins.duplicate, put("incident subject currency", DROP), "does not say its `currency`"),
    ("no charge claimed", twins.duplicate, put("incident subject charge", DROP), "does not say its `charge`"),
    ("an amount in words", twins.duplicate, put("incident subject amount", "2300"), "not a whole number"),
    ("two charges claimed", twins.duplicate, put("incident subject charge_id", "ch_orig"), "two different things"),
    ("nothing claimed", twins.duplicate, put("incident subject amount", 0), "not of the 0"),
    # The shop's own tools
    ("a shorter list", twins.shop_tools, put("a1 result total", 2), "does not hold every refund"),
    ("the shop's refund failed", twins.shop_tools, put("a1 result refunds 0 status", "failed"), "is failed"),
    ("the shop's answer of another charge", twins.shop_tools, put("a1 result charge_id", "ch_orig"), "another charge"),
    ("the shop's charge is disputed", twins.shop_tools, put("a2 result charge disputed", True), "disputes"),
    ("the shop charged less", twins.shop_tools, put("a2 result charge amount_cents", 2299), "more was given back"),
    ("the shop's refunds of another charge", twins.shop_tools, put("a1 args charge_id", "ch_orig"),
     "another charge was asked"),
    ("the shop's other charge, asked", twins.shop_tools, put("a2 args charge_id", "ch_orig"),
     "another charge was asked"),
    ("the shop's other charge, answered", twins.shop_tools, put("a2 result charge charge_id", "ch_orig"),
     "the answer is about another charge"),
    ("the shop's charge, narrowed", twins.shop_tools, put("a2 args status", "captured"), "also asked by status"),
    ("the shop's refund, narrowed", twins.shop_tools, put("a1 args status", "succeeded"), "also asked by status"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "make", "edit", "why"), ATTACKS, ids=[attack[0] for attack in ATTACKS])
def test_what_did_not_reach_the_customer_fails(
    title: str, make: Callable[[], Case], edit: cases.Edit, why: str
) -> None:
    verdict = cases.decide(cases.edited(make(), edit))
    assert isinstance(verdict, Fail)
    assert why in cases.sentences(verdict), cases.sentences(verdict)


def test_a_whole_object_of_stripe_needs_no_reason_of_failure_and_a_shortened_one_does() -> None:
    for key in ("balance_transaction", "metadata", "reason", "receipt_number"):
        shortened = cases.edited(twins.as_stripe_writes_it(), put(f"a1 result {key}", DROP))
        assert "failure_reason" in cases.sentences(cases.decide(shortened))
    failed = cases.edited(twins.as_stripe_writes_it(), put("a1 result failure_reason", "declined"))
    assert "reason why" in cases.sentences(cases.decide(failed))


LATER: list[tuple[str, Callable[[], Case], str, Case, object]] = [
    ("it failed since", twins.named_refund, "stripe_get_refund", {"refund": "re_first"},
     refund("re_first", "ch_wc", 1500, currency="usd", status="failed", failure_reason="declined")),
    ("it failed since, in a list", twins.named_refund, "stripe_list_refunds", {"charge": "ch_wc"},
     stripe_list(refund("re_first", "ch_wc", 1500, currency="usd", status="failed"))),
    ("it is disputed since", twins.named_refund, "stripe_get_charge", {"charge": "ch_wc"},
     {**cases.entry(twins.named_refund(), "a2")["result"], "disputed": True}),
    ("another one of the charge failed", twins.unnamed_refund_by_its_id, "stripe_get_refund", {"refund": "re_2"},
     refund("re_2", "ch_dup", status="failed")),
    ("a later list goes on", twins.duplicate, "stripe_list_refunds", {"charge": "ch_dup", "limit": 1},
     {**stripe_list(refund("re_1", "ch_dup")), "has_more": True}),
]  # fmt: skip


@pytest.mark.parametrize(("title", "make", "tool", "args", "result"), LATER, ids=[later[0] for later in LATER])
def test_a_later_answer_that_nobody_cites_still_speaks(
    title: str, make: Callable[[], Case], tool: str, args: Case, result: object
) -> None:
    case = make()
    twins.call(case, "a9", tool, args, result)
    verdict = cases.decide(case)
    assert isinstance(verdict, Fail)
    assert [reason.code for reason in verdict.reasons] == ["contradicted_later"]


def test_a_later_answer_about_another_refund_does_not() -> None:
    case = twins.named_refund()
    second = refund("re_second", "ch_wc", 1500, currency="usd", status="failed")
    twins.call(case, "a9", "stripe_get_refund", {"refund": "re_second"}, second)
    assert isinstance(cases.decide(case), Pass)
