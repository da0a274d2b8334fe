"""An order was canceled and nothing of it is kept: every charge was given back in full, by refunds that succeeded."""

from gate.triage.readers.stripe_charges import Charge, StripeCharges
from gate.triage.readers.stripe_lists import CHOOSE_NOTHING
from gate.triage.readers.stripe_refunds import Refund, StripeRefunds
from gate.triage.rules import claims, stripe_questions
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule
from gate.triage.rules.stripe_questions import currency_is_the_claims

# What becomes of a refund that gave nothing back. Anything else that is not `succeeded` is still open.
GAVE_NOTHING = ("failed", "canceled")


def the_order(case: Case) -> str:
    return claims.text(case, claims.ORDER)


def asked_for_its_charges(answer: StripeCharges, case: Case) -> Judgment:
    scope = claims.is_in_scope(case)
    if scope.holds is not True:
        return scope
    return stripe_questions.asked_by_note(answer, claims.ORDER, the_order(case))


def are_its_charges(answer: StripeCharges, case: Case) -> Judgment:
    key, order = stripe_questions.note_key(answer, claims.ORDER), the_order(case)
    for charge in answer.charges():
        if charge.metadata(key) != order:
            return Judgment(False, charge.metadata(key), "a charge in the list belongs to another order.")
    return Judgment(True, order, "")


def list_of_charges_is_whole(answer: StripeCharges, case: Case) -> Judgment:
    answer.complete()
    charges = answer.charges()
    stripe_questions.check_every_id_differs(tuple(charge.id() for charge in charges))
    taken = [charge for charge in charges if has_taken_money(charge)]
    return Judgment(len(taken) > 0, f"{len(taken)} of {len(charges)}", "no charge of the order took any money.")


def has_taken_money(charge: Charge) -> bool:
    return charge.amount_captured() > 0


def nothing_is_kept(answer: StripeCharges, case: Case) -> Judgment:
    for charge in answer.charges():
        kept = is_given_back(charge) if has_taken_money(charge) else is_let_go(charge)
        if kept.holds is not True:
            return kept
    return Judgment(True, f"{len(answer.charges())} given back", "")


def is_given_back(charge: Charge) -> Judgment:
    """Taken whole and given back whole. Where only a part was taken, a person looks at what became of the rest."""
    taken, back = charge.amount_captured(), charge.amount_refunded()
    seen = f"{charge.id()}: {back} of {taken}"
    says = charge.is_paid(), charge.is_captured(), charge.is_refunded_in_full(), charge.is_settled()
    if says != (True, True, True, True):
        return Judgment(False, seen, f"{charge.id()} is not a captured charge that was refunded.")
    return Judgment(charge.amount() == taken == back, seen, f"{charge.id()} is not given back in full.")


def is_let_go(charge: Charge) -> Judgment:
    """Nothing was taken: the attempt failed, or the authorization was released and can take nothing any more."""
    seen = f"{charge.id()}: 0 taken"
    if charge.is_captured():
        return Judgment(False, seen, f"{charge.id()} is captured, and yet nothing was taken.")
    if not charge.is_paid():
        return Judgment(charge.amount_captured() == 0, seen, f"{charge.id()} took less than nothing.")
    return Judgment(charge.is_refunded_in_full(), seen, f"{charge.id()} is authorized and may still be captured.")


def none_is_disputed(answer: StripeCharges, case: Case) -> Judgment:
    disputed = [charge.id() for charge in answer.charges() if charge.is_disputed()]
    return Judgment(len(disputed) == 0, f"{len(disputed)} disputed", "the customer's bank disputes a charge.")


def all_in_its_currency(answer: StripeCharges, case: Case) -> Judgment:
    """And, where the claim says what the order cost, at least so much was taken."""
    charges = answer.charges()
    for charge in charges:
        same = currency_is_the_claims(charge.currency(), case)
        if same.holds is not True:
            return same
    if not claims.is_said(case, claims.AMOUNT):
        return Judgment(True, f"{len(charges)} charges", "")
    amount, taken = claims.integer(case, claims.AMOUNT), added(tuple(charge.amount_captured() for charge in charges))
    return Judgment(taken >= amount > 0, f"{taken} taken", f"the order cost {amount}, so a charge is missing here.")


def added(amounts: tuple[int, ...]) -> int:
    total = 0
    for amount in amounts:
        total += amount
    return total


def charges_of(case: Case) -> tuple[Charge, ...]:
    """The charges of every list that is cited."""
    lists = case.answers("no_captured_charge_left", StripeCharges)
    return tuple(charge for answer in lists for charge in answer.charges())


def asked_for_its_refunds(answer: StripeRefunds, case: Case) -> Judgment:
    """The refunds of one of the order's charges, or all that carry the order's note."""
    scope = claims.is_in_scope(case)
    if scope.holds is not True:
        return scope
    ids = frozenset(charge.id() for charge in charges_of(case))
    for name, charge_id in asked_charges(answer):
        if charge_id not in frozenset(ids):
            return Judgment(False, charge_id, "it is not a charge of this order.")
        return stripe_questions.asked_for_whole_list(answer, ((name, charge_id),))
    if answer.args.has("payment_intent"):
        return asked_for_its_payment(answer, case)
    if all_were_asked_for(answer) is True:
        return Judgment(True, "all refunds", "")
    return stripe_questions.asked_by_note(answer, claims.ORDER, the_order(case))


def all_were_asked_for(answer: StripeRefunds) -> bool:
    """Whether a page of all refunds there are was asked for, by nothing but its length."""
    return (answer.args.has("limit"), answer.args.keys() <= CHOOSE_NOTHING) == (True, True)


def asked_for_its_payment(answer: StripeRefunds, case: Case) -> Judgment:
    """The refunds of one payment: that of the claim, or where it says none, one that a charge of the order is of."""
    asked = answer.args.text("payment_intent")
    if claims.is_said(case, claims.PAYMENT_INTENT):
        own = [claims.text(case, claims.PAYMENT_INTENT)]
    else:
        own = [charge.payment_intent() for charge in charges_of(case)]
    if asked not in frozenset(own):
        return Judgment(False, asked, "it is not a payment of this order.")
    return stripe_questions.asked_for_whole_list(answer, (("payment_intent", asked),))


def asked_charges(answer: StripeRefunds) -> list[tuple[str, str]]:
    """The charge whose refunds were asked for, under the name that the question gives it."""
    return [(name, answer.args.text(name)) for name in claims.CHARGE if answer.args.has(name)]


def are_its_refunds(answer: StripeRefunds, case: Case) -> Judgment:
    ids, every = frozenset(charge.id() for charge in charges_of(case)), all_were_asked_for(answer)
    for refund in answer.refunds():
        if every is False and refund.charge_id() not in frozenset(ids):
            return Judgment(False, refund.charge_id(), "the refund is of a charge that is not the order's.")
        for _, charge_id in asked_charges(answer):
            if refund.charge_id() != charge_id:
                return Judgment(False, refund.charge_id(), "the refund is of another charge than was asked for.")
    return Judgment(True, f"{len(answer.refunds())} refunds", "")


def list_of_refunds_is_whole(answer: StripeRefunds, case: Case) -> Judgment:
    answer.complete()
    refunds = answer.refunds()
    stripe_questions.check_every_id_differs(tuple(refund.id() for refund in refunds))
    return Judgment(len(refunds) > 0, f"{len(refunds)} refunds", "the list holds no refund.")


def none_is_open(answer: StripeRefunds, case: Case) -> Judgment:
    """Each refund succeeded without a reason why it failed, or gave nothing back."""
    for refund in its_own(answer, case):
        status = refund.status()
        if status in GAVE_NOTHING:
            continue
        if status != "succeeded":
            return Judgment(False, status, f"{refund.id()} is {status}.")
        if refund.failure_reason() is not None:
            return Judgment(False, f"{refund.failure_reason()}", f"{refund.id()} carries a reason why it failed.")
    return Judgment(True, f"{len(its_own(answer, case))} settled", "")


def its_own(answer: StripeRefunds, case: Case) -> tuple[Refund, ...]:
    """The refunds of the order's charges, among all where all were asked for."""
    ids = frozenset(charge.id() for charge in charges_of(case))
    return tuple(refund for refund in answer.refunds() if refund.charge_id() in frozenset(ids))


def says_the_same_of_each(answer: StripeRefunds, case: Case) -> Judgment:
    """Every refund that is counted stands in this answer as it is counted, where it has to stand in it at all."""
    for refund in succeeded_once(case):
        here = [found for found in answer.refunds() if found.id() == refund.id()]
        if len(here) < 1 and has_asked_for(answer, refund):
            return Judgment(False, "not there", f"{refund.id()} is counted, and is not in this list of its charge.")
        for found in here:
            if facts_of(found) != facts_of(refund):
                return Judgment(False, found.status(), f"{refund.id()} is counted, and is {found.status()} here.")
    return Judgment(True, f"{len(answer.refunds())} refunds", "")


def facts_of(refund: Refund) -> tuple[str, str, int, str]:
    return refund.status(), refund.charge_id(), refund.amount(), refund.currency()


def has_asked_for(answer: StripeRefunds, refund: Refund) -> bool:
    """Whether a list of one charge would have to hold this refund."""
    return [charge_id for _, charge_id in asked_charges(answer)] == [refund.charge_id()]


def every_charge_is_covered(answer: StripeRefunds, case: Case) -> Judgment:
    """The succeeded refunds of all cited lists, each counted once, add up to each charge of the order."""
    same = says_the_same_of_each(answer, case)
    if same.holds is not True:
        return same
    refunds = succeeded_once(case)
    for charge in charges_of(case):
        of_it = [refund for refund in refunds if refund.charge_id() == charge.id()]
        back, taken = added(tuple(refund.amount() for refund in of_it)), charge.amount_captured()
        seen = f"{charge.id()}: {back} of {taken}"
        if [refund for refund in of_it if refund.currency() != charge.currency()] != []:
            return Judgment(False, seen, f"{charge.id()} was given back in another currency.")
        if back != taken:
            return Judgment(False, seen, f"{taken} was taken by {charge.id()}, and {back} was given back.")
    return Judgment(len(refunds) > 0, f"{len(refunds)} refunds", "nothing was given back.")


def succeeded_once(case: Case) -> tuple[Refund, ...]:
    """Every refund that succeeded, also where two lists hold it."""
    lists = case.answers("order_refunded_in_full", StripeRefunds)
    found = {refund.id(): refund for answer in lists for refund in answer.refunds() if refund.status() == "succeeded"}
    return tuple(found[key] for key in sorted(found))


CHARGES = Need(
    readers=(StripeCharges,),
    asked=asked_for_its_charges,
    answered=are_its_charges,
    checks=(
        Check(
            title="Every charge of the order is in the list, and one of them took money",
            test=list_of_charges_is_whole,
            earn="A search for everything that carries the note of {subject}, with `has_more` false and room to spare",
            unreadable="A list that may be cut is not a list of all",
        ),
        Check(
            title="Each charge was refunded in full, or never took anything",
            test=nothing_is_kept,
            earn="`refunded` true and equal amounts for each charge in the same answer",
            unreadable="A charge that cannot be read may be kept",
        ),
        Check(
            title="None of them is disputed",
            test=none_is_disputed,
            earn="`disputed` false for each charge in the same answer",
            unreadable="A missing field is not false",
        ),
        Check(
            title="They are in the order's currency and come to its price",
            test=all_in_its_currency,
            earn="Charges in the claimed currency that come to the claimed amount, where the claim names one",
            unreadable="An amount that cannot be read equals nothing",
        ),
    ),
    again=(list_of_charges_is_whole, nothing_is_kept, none_is_disputed),
)
REFUNDS = Need(
    readers=(StripeRefunds,),
    asked=asked_for_its_refunds,
    answered=are_its_refunds,
    checks=(
        Check(
            title="Every refund is in the list",
            test=list_of_refunds_is_whole,
            earn="Lists of the refunds of each charge of {subject}, with `has_more` false and room to spare",
            unreadable="A list that may be cut is not a list of all",
        ),
        Check(
            title="No refund is still open",
            test=none_is_open,
            earn="Only refunds with the status `succeeded`, and ones that failed and were made again",
            unreadable="A status that cannot be read is not success",
        ),
        Check(
            title="The refunds that succeeded add up to each charge",
            test=every_charge_is_covered,
            earn="Refunds with the status `succeeded` that come to what each charge took",
            unreadable="An amount that cannot be read adds up to nothing",
        ),
    ),
    again=(list_of_refunds_is_whole, none_is_open, says_the_same_of_each),
)

RULE = Rule(
    hypothesis="order_cancelled_correctly",
    version=1,
    kinds=("claim",),
    facts=(
        Fact(name="no_captured_charge_left", needs=(CHARGES,)),
        Fact(name="order_refunded_in_full", needs=(REFUNDS,)),
    ),
)
