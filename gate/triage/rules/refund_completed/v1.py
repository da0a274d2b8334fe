"""The refund that the claim is about reached the customer: it succeeded, in full, and the charge is not disputed."""

from gate.triage.readers import incident as said
from gate.triage.readers.document import Unreadable
from gate.triage.readers.get_charge import GetCharge
from gate.triage.readers.list_refunds import ListRefunds
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule, equal

ASKED_BY = frozenset(("charge_id",))


def asked_for_this_charge(answer: ListRefunds | GetCharge, case: Case) -> Judgment:
    if answer.asked_keys() != ASKED_BY:
        return Judgment(False, ", ".join(sorted(answer.asked_keys())), "it was not asked by exactly charge_id.")
    return equal(
        answer.asked_charge_id(), said.subject_text(case.incident, "charge_id"), "another charge was asked for."
    )


def is_this_charge(answer: ListRefunds | GetCharge, case: Case) -> Judgment:
    return equal(
        answer.charge_id(), said.subject_text(case.incident, "charge_id"), "the answer is about another charge."
    )


def lists_every_refund(refunds: ListRefunds, case: Case) -> Judgment:
    total, listed = refunds.total(), refunds.listed()
    if total != listed:
        return Judgment(False, f"{listed} of {total}", "the list does not hold every refund of the charge.")
    return Judgment(listed > 0, f"{listed} of {total}", "the charge has no refund.")


def refund_of_the_claim(refunds: ListRefunds, case: Case) -> int:
    """Where the refund stands that the claim is about: the one it names, or else the only one. Raises Unreadable."""
    listed = refunds.listed()
    if said.subject_has(case.incident, "refund_id"):
        named = said.subject_text(case.incident, "refund_id")
        places = [place for place in range(listed) if refunds.refund_id(place) == named]
        if len(places) == 1:
            return places[0]
        raise Unreadable("/refunds", f"refund `{named}` is not exactly once in the list.", "not in the result")
    if listed == 1:
        return 0
    raise Unreadable(
        "/refunds", f"the charge has {listed} refunds and the claim does not say which.", f"{listed} refunds"
    )


def refund_succeeded(refunds: ListRefunds, case: Case) -> Judgment:
    place = refund_of_the_claim(refunds, case)
    charge_id = said.subject_text(case.incident, "charge_id")
    if refunds.refund_charge_id(place) != charge_id:
        return Judgment(False, refunds.refund_charge_id(place), "the refund belongs to another charge.")
    return equal(refunds.status(place), "succeeded", f"the refund is {refunds.status(place)}.")


def refund_has_no_failure(refunds: ListRefunds, case: Case) -> Judgment:
    place = refund_of_the_claim(refunds, case)
    return equal(refunds.failure_reason(place), None, "the refund carries a reason why it failed.")


def gives_the_claimed_amount(refunds: ListRefunds, case: Case) -> Judgment:
    amount = said.fact_integer(case.incident, "amount_cents")
    currency = said.fact_text(case.incident, "currency")
    place = refund_of_the_claim(refunds, case)
    seen = f"{refunds.amount_cents(place)} {refunds.currency(place)}"
    if refunds.amount_cents(place) != amount:
        return Judgment(False, seen, f"the refund is not of the {amount} {currency} that the claim is about.")
    return Judgment(refunds.currency(place) == currency, seen, f"the refund is not in {currency}.")


def amount_is_the_claims(charge: GetCharge, case: Case) -> Judgment:
    """Every cited list says the claimed amount and currency, and the charge was in it and for as much."""
    amount = said.fact_integer(case.incident, "amount_cents")
    currency = said.fact_text(case.incident, "currency")
    seen = f"{charge.amount_cents()} {charge.currency()}"
    lists = case.answers("refund_succeeded_for_this_charge", ListRefunds)
    if len(lists) < 1:
        return Judgment(False, seen, "no list of refunds is cited whose amount could be compared.")
    for refunds in lists:
        given = gives_the_claimed_amount(refunds, case)
        if given.holds is not True:
            return given
    if charge.currency() != currency:
        return Judgment(False, seen, f"the charge was not in {currency}.")
    return Judgment(0 < amount <= charge.amount_cents(), seen, "more was given back than was ever charged.")


def was_captured(charge: GetCharge, case: Case) -> Judgment:
    return equal(charge.captured(), True, "the money was never taken, so there is nothing to give back.")


def is_not_disputed(charge: GetCharge, case: Case) -> Judgment:
    return equal(charge.disputed(), False, "the customer's bank disputes the charge.")


REFUNDS = Need(
    readers=(ListRefunds,),
    asked=asked_for_this_charge,
    answered=is_this_charge,
    checks=(
        Check(
            title="Every refund of this charge is in the list",
            test=lists_every_refund,
            earn="An answer of `list_refunds` for {subject} that lists its `total`, at least one",
            unreadable="A list that may be cut is not a list of all",
        ),
        Check(
            title="The refund of this charge has the status `succeeded`",
            test=refund_succeeded,
            earn="The refund with the status `succeeded` in the same answer",
            unreadable="A status that cannot be read is not success",
        ),
        Check(
            title="It carries no failure reason",
            test=refund_has_no_failure,
            earn="`failure_reason` null in the same answer",
            unreadable="A missing field is not an empty one",
        ),
    ),
    again=(lists_every_refund, refund_succeeded, refund_has_no_failure, gives_the_claimed_amount),
)
CHARGE = Need(
    readers=(GetCharge,),
    asked=asked_for_this_charge,
    answered=is_this_charge,
    checks=(
        Check(
            title="Amount and currency of the refund equal the claim",
            test=amount_is_the_claims,
            earn="A refund of {amount_cents} {currency}, and a charge of {subject} of at least as much",
            unreadable="An amount that cannot be read equals nothing",
        ),
        Check(
            title="The charge was captured",
            test=was_captured,
            earn="`captured` true in the answer of `get_charge`",
            unreadable="A missing field is not true",
        ),
        Check(
            title="The charge is not disputed",
            test=is_not_disputed,
            earn="`disputed` false in the answer of `get_charge`",
            unreadable="A missing field is not false",
        ),
    ),
    again=(was_captured, is_not_disputed),
)

RULE = Rule(
    hypothesis="refund_completed",
    version=1,
    facts=(
        Fact(name="refund_succeeded_for_this_charge", needs=(REFUNDS,)),
        Fact(name="refund_amount_matches", needs=(CHARGE,)),
    ),
)
