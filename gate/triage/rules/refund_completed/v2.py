"""The refund that the claim is about reached the customer: it succeeded, in full, and the charge is not disputed.

Against version 1 it takes Stripe's own answers beside those of the shop's tools.
"""

from gate.triage.readers.document import Unreadable
from gate.triage.readers.get_charge import GetCharge
from gate.triage.readers.list_refunds import ListRefunds
from gate.triage.readers.shop_payments import ShopCharge, ShopRefund
from gate.triage.readers.stripe_charges import Charge, StripeCharge, StripeCharges
from gate.triage.readers.stripe_refunds import Refund, StripeRefund, StripeRefunds
from gate.triage.rules import claims, stripe_questions
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule, equal
from gate.triage.rules.subjects import the_only

Refunds = ListRefunds | StripeRefund | StripeRefunds
Charges = GetCharge | StripeCharge | StripeCharges
REFUND_ARGS = ("refund", "refund_id", "id")
CHARGE_ARGS = ("charge", "charge_id", "id")


def the_charge_id(case: Case) -> str:
    return claims.text(case, claims.CHARGE)


def refunds_in(answer: Refunds) -> tuple[Refund | ShopRefund, ...]:
    if isinstance(answer, ListRefunds):
        return tuple(ShopRefund(answer, index) for index in range(answer.listed()))
    return answer.refunds()


def asked_for_its_refunds(answer: Refunds, case: Case) -> Judgment:
    """All refunds of the claim's charge, or the one refund that the claim names."""
    scope = claims.is_in_scope(case)
    if scope.holds is not True:
        return scope
    if isinstance(answer, StripeRefund):
        return asked_for_its_refund(answer, case)
    if isinstance(answer, ListRefunds):
        only = claims.asks_only(answer, frozenset(("charge_id",)))
        if only.holds is not True:
            return only
        return equal(answer.asked_charge_id(), the_charge_id(case), "another charge was asked for.")
    wanted = [(name, the_charge_id(case)) for name in claims.CHARGE]
    if claims.is_said(case, claims.PAYMENT_INTENT):
        wanted.append(("payment_intent", claims.text(case, claims.PAYMENT_INTENT)))
    return stripe_questions.asked_for_whole_list(answer, tuple(wanted))


def asked_for_its_refund(answer: StripeRefund, case: Case) -> Judgment:
    """The refund that the claim names; where it names none, one of its charge."""
    if claims.is_said(case, claims.REFUND):
        return stripe_questions.asked_for_object(answer, REFUND_ARGS, claims.text(case, claims.REFUND))
    asked = stripe_questions.asked_for_object(answer, REFUND_ARGS, answer.refunds()[0].id())
    if asked.holds is not True:
        return asked
    return belongs_to_the_charge(answer, case)


def belongs_to_the_charge(answer: Refunds, case: Case) -> Judgment:
    charge_id = the_charge_id(case)
    if isinstance(answer, ListRefunds) and answer.charge_id() != charge_id:
        return Judgment(False, answer.charge_id(), "the answer is about another charge.")
    for refund in refunds_in(answer):
        if refund.charge_id() != charge_id:
            return Judgment(False, refund.charge_id(), "the refund belongs to another charge.")
    return Judgment(True, charge_id, "")


def are_its_refunds(answer: Refunds, case: Case) -> Judgment:
    if isinstance(answer, StripeRefund) and claims.is_said(case, claims.REFUND):
        named = claims.text(case, claims.REFUND)
        if answer.refunds()[0].id() != named:
            return Judgment(False, answer.refunds()[0].id(), f"the answer is about another refund than `{named}`.")
    return belongs_to_the_charge(answer, case)


def holds_every_refund(answer: Refunds, case: Case) -> Judgment:
    """A list holds all refunds of the charge, each once; one refund that was asked for by its id is whole."""
    if isinstance(answer, ListRefunds):
        if answer.total() != answer.listed():
            return Judgment(False, f"{answer.listed()} of {answer.total()}", "the list does not hold every refund.")
    else:
        answer.complete()
    refunds = refunds_in(answer)
    stripe_questions.check_every_id_differs(tuple(refund.id() for refund in refunds))
    return Judgment(len(refunds) > 0, f"{len(refunds)}", "the charge has no refund.")


def the_refund(answer: Refunds, case: Case) -> Refund | ShopRefund:
    """The refund that the claim is about: the one it names, or else the only one. Raises Unreadable."""
    refunds = refunds_in(answer)
    if claims.is_said(case, claims.REFUND):
        named = claims.text(case, claims.REFUND)
        refunds = tuple(refund for refund in refunds if refund.id() == named)
    if len(refunds) != 1:
        why = f"{len(refunds)} refunds may be the one that the claim is about."
        raise Unreadable("", why, f"{len(refunds)} refunds")
    return refunds[0]


def succeeded(answer: Refunds, case: Case) -> Judgment:
    status = the_refund(answer, case).status()
    return equal(status, "succeeded", f"the refund is {status}.")


def has_no_failure(answer: Refunds, case: Case) -> Judgment:
    refund = the_refund(answer, case)
    if isinstance(refund, Refund) and refund.came_back() is True:
        return Judgment(False, "came back", "the money came back from the customer's bank.")
    return equal(refund.failure_reason(), None, "the refund carries a reason why it failed.")


def gives_the_claimed_amount(answer: Refunds, case: Case) -> Judgment:
    amount, currency = claims.integer(case, claims.AMOUNT), claims.currency(case)
    refund = the_refund(answer, case)
    seen = f"{refund.amount()} {refund.currency()}"
    if refund.amount() != amount:
        return Judgment(False, seen, f"the refund is not of the {amount} {currency} that the claim is about.")
    return Judgment(refund.currency() == currency, seen, f"the refund is not in {currency}.")


def the_charge(answer: Charges, case: Case) -> Charge | ShopCharge:
    """The charge that the claim is about. Raises Unreadable unless it is there exactly once."""
    if isinstance(answer, GetCharge):
        return ShopCharge(answer)
    answer.complete()
    named = the_charge_id(case)
    found = tuple(charge for charge in answer.charges() if charge.id() == named)
    if len(found) != 1:
        raise Unreadable("", f"charge `{named}` is not exactly once in the answer.", f"{len(found)} of that id")
    return found[0]


def asked_for_its_charge(answer: Charges, case: Case) -> Judgment:
    """The claim's charge by its id, or all charges of the claim's order."""
    scope = claims.is_in_scope(case)
    if scope.holds is not True:
        return scope
    if isinstance(answer, GetCharge):
        only = claims.asks_only(answer, frozenset(("charge_id",)))
        if only.holds is not True:
            return only
        return equal(answer.asked_charge_id(), the_charge_id(case), "another charge was asked for.")
    if isinstance(answer, StripeCharges):
        return stripe_questions.asked_by_note(answer, claims.ORDER, claims.text(case, claims.ORDER))
    return stripe_questions.asked_for_object(answer, CHARGE_ARGS, the_charge_id(case))


def is_its_charge(answer: Charges, case: Case) -> Judgment:
    charge = the_charge(answer, case)
    if isinstance(answer, StripeCharges) and isinstance(charge, Charge):
        noted = charge.metadata(stripe_questions.note_key(answer, claims.ORDER))
        if noted != claims.text(case, claims.ORDER):
            return Judgment(False, noted, "the charge carries the note of another order.")
    if isinstance(charge, Charge) and claims.is_said(case, claims.ORDER) and charge.has_notes():
        key = the_only(claims.ORDER, charge.notes(), "The order among the charge's notes")
        if charge.metadata(key) != claims.text(case, claims.ORDER):
            return Judgment(False, charge.metadata(key), "the charge carries the note of another order.")
    return equal(charge.id(), the_charge_id(case), "the answer is about another charge.")


def amounts_are_the_claims(answer: Charges, case: Case) -> Judgment:
    """Every refund that was cited gives the claimed amount, and the charge is in the claimed currency."""
    charge, currency = the_charge(answer, case), claims.currency(case)
    fact = "refund_succeeded_for_this_charge"
    cited: list[Refunds] = [
        *case.answers(fact, ListRefunds), *case.answers(fact, StripeRefund), *case.answers(fact, StripeRefunds)
    ]  # fmt: skip
    if len(cited) < 1:
        return Judgment(False, "no refund", "no refund is cited whose amount could be compared.")
    given = [gives_the_claimed_amount(refunds, case) for refunds in cited]
    wrong = [judgment for judgment in given if judgment.holds is not True]
    if len(wrong) > 0:
        return wrong[0]
    return Judgment(charge.currency() == currency, given[0].seen, f"the charge was not in {currency}.")


def charge_carries_it(answer: Charges, case: Case) -> Judgment:
    """The charge took at least as much, and says itself that it was given back."""
    amount, charge = claims.integer(case, claims.AMOUNT), the_charge(answer, case)
    if not isinstance(charge, Charge):
        return Judgment(0 < amount <= charge.amount(), f"{charge.amount()}", "more was given back than was charged.")
    back, taken = charge.amount_refunded(), charge.amount_captured()
    seen = f"{back} of {taken}"
    if not 0 < amount <= back <= taken <= charge.amount():
        return Judgment(False, seen, f"the charge does not carry a refund of {amount}.")
    if charge.says_its_flags() is True and charge.is_refunded_in_full() is not (back == charge.amount()):
        return Judgment(False, seen, "the charge says itself otherwise whether all of it went back.")
    if claims.is_said(case, claims.REFUND):
        return Judgment(True, seen, "")
    # Which of several refunds is meant is not said, so that there must have been one alone.
    return Judgment(back == amount, seen, f"{back} went back, and the claim is about {amount}.")


def was_captured(answer: Charges, case: Case) -> Judgment:
    charge = the_charge(answer, case)
    if isinstance(charge, Charge) and charge.is_settled() is not True:
        return Judgment(False, "not succeeded", "the charge itself did not succeed.")
    if isinstance(charge, Charge) and has_been_paid(charge) is not True:
        return Judgment(False, "not succeeded", "the charge itself did not succeed.")
    return equal(charge.is_captured(), True, "the money was never taken, so there is nothing to give back.")


def has_been_paid(charge: Charge) -> bool:
    """Where the record has the flag at all."""
    return charge.is_paid() if charge.says_its_flags() is True else True


def is_not_disputed(answer: Charges, case: Case) -> Judgment:
    return equal(the_charge(answer, case).is_disputed(), False, "the customer's bank disputes the charge.")


REFUNDS = Need(
    readers=(ListRefunds, StripeRefund, StripeRefunds),
    asked=asked_for_its_refunds,
    answered=are_its_refunds,
    checks=(
        Check(
            title="Every refund of this charge is in the answer, or the one that the claim names",
            test=holds_every_refund,
            earn="A list of the refunds of {subject} that is whole, or the named refund by its id",
            unreadable="A list that may be cut is not a list of all",
        ),
        Check(
            title="The refund of this claim has the status `succeeded`",
            test=succeeded,
            earn="The refund with the status `succeeded` in the same answer",
            unreadable="A status that cannot be read is not success",
        ),
        Check(
            title="It carries no failure reason",
            test=has_no_failure,
            earn="`failure_reason` null in the same answer",
            unreadable="A missing field is not an empty one",
        ),
    ),
    again=(holds_every_refund, succeeded, has_no_failure, gives_the_claimed_amount),
)
CHARGE = Need(
    readers=(GetCharge, StripeCharge, StripeCharges),
    asked=asked_for_its_charge,
    answered=is_its_charge,
    checks=(
        Check(
            title="Amount and currency of the refund equal the claim",
            test=amounts_are_the_claims,
            earn="A refund of exactly the claimed amount, and a charge in the claimed currency",
            unreadable="An amount that cannot be read equals nothing",
        ),
        Check(
            title="The charge took at least that much, and what it says was given back agrees",
            test=charge_carries_it,
            earn="The amounts of the charge in the same answer, captured and refunded",
            unreadable="An amount that cannot be read equals nothing",
        ),
        Check(
            title="The charge was captured",
            test=was_captured,
            earn="`captured` true in the same answer",
            unreadable="A missing field is not true",
        ),
        Check(
            title="The charge is not disputed",
            test=is_not_disputed,
            earn="`disputed` false in the same answer",
            unreadable="A missing field is not false",
        ),
    ),
    again=(charge_carries_it, was_captured, is_not_disputed),
)

RULE = Rule(
    hypothesis="refund_completed",
    version=2,
    kinds=("claim",),
    facts=(
        Fact(name="refund_succeeded_for_this_charge", needs=(REFUNDS,)),
        Fact(name="refund_amount_matches", needs=(CHARGE,)),
    ),
)
