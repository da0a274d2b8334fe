"""An attempt to pay failed and a later one did not: the last one was paid, and the shop counts the order as paid."""

from gate.triage.grammars import tables
from gate.triage.readers.pg_select import PgSelect
from gate.triage.readers.stripe_payment_intents import PaymentIntent, StripePaymentIntents
from gate.triage.rules import claims, sql_questions, stripe_questions
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule

# What stands of an attempt that took nothing and holds nothing.
TOOK_NOTHING = ("requires_payment_method", "requires_confirmation", "requires_action", "canceled")
# How shops write that an order is paid, and how they write that it is not. What is in neither list is unreadable.
PAID = ("PS_OS_PAYMENT", "PS_OS_WS_PAYMENT", "paid")
NOT_PAID = (
    "PS_OS_ERROR", "PS_OS_CANCELED", "PS_OS_REFUND", "PS_OS_BANKWIRE", "PS_OS_CHEQUE", "PS_OS_COD_VALIDATION",
    "PS_OS_OUTOFSTOCK_PAID", "PS_OS_OUTOFSTOCK_UNPAID", "PS_OS_PREPARATION", "PS_OS_SHIPPING", "PS_OS_DELIVERED",
    "pending", "failed", "canceled", "refunded", "error", "unpaid",
)  # fmt: skip
KEYS: sql_questions.Keys = (
    (("order_id", "id_order", "order_code", "code"), claims.ORDER),
    (("cart_id", "id_cart"), claims.CART),
)


def the_note(case: Case) -> tuple[tuple[str, ...], str]:
    """What the shop notes on each attempt: the cart, which is older than the order."""
    names = claims.CART if claims.is_said(case, claims.CART) else claims.ORDER
    return names, claims.text(case, names)


def asked_for_its_attempts(answer: StripePaymentIntents, case: Case) -> Judgment:
    scope = claims.is_in_scope(case)
    if scope.holds is not True:
        return scope
    keys, wanted = the_note(case)
    return stripe_questions.asked_by_note(answer, keys, wanted)


def are_its_attempts(answer: StripePaymentIntents, case: Case) -> Judgment:
    keys, wanted = the_note(case)
    key = stripe_questions.note_key(answer, keys)
    for attempt in answer.attempts():
        if attempt.metadata(key) != wanted:
            return Judgment(False, attempt.metadata(key), "an attempt in the list belongs to something else.")
    return Judgment(True, wanted, "")


def list_is_whole(answer: StripePaymentIntents, case: Case) -> Judgment:
    answer.complete()
    ids = tuple(attempt.id() for attempt in answer.attempts())
    stripe_questions.check_every_id_differs(ids)
    return Judgment(len(ids) > 1, f"{len(ids)} attempts", "there are no two attempts, so that none was superseded.")


def in_time(answer: StripePaymentIntents) -> tuple[PaymentIntent, ...]:
    """The attempts, the oldest first, whatever order the list has."""
    return tuple(sorted(answer.attempts(), key=lambda attempt: (attempt.created_at(), attempt.id())))


def the_last_was_paid(answer: StripePaymentIntents, case: Case) -> Judgment:
    *_, before, last = in_time(answer)
    if before.created_at() == last.created_at():
        return Judgment(False, last.status(), "two attempts are of the same second, so that neither is the last.")
    return Judgment(last.status() == "succeeded", last.status(), f"the last attempt is {last.status()}.")


def the_others_took_nothing(answer: StripePaymentIntents, case: Case) -> Judgment:
    """Two paid attempts are a customer who paid twice; one that is still running may become that."""
    *others, _ = in_time(answer)
    for attempt in others:
        if attempt.status() not in TOOK_NOTHING:
            return Judgment(False, attempt.status(), f"the earlier attempt {attempt.id()} is {attempt.status()}.")
    return Judgment(True, f"{len(others)} took nothing", "")


def it_paid_the_claim(answer: StripePaymentIntents, case: Case) -> Judgment:
    """Amount and currency of the claim, or of the attempt before where the claim does not say them."""
    *_, before, last = in_time(answer)
    amount = claims.integer(case, claims.AMOUNT) if claims.is_said(case, claims.AMOUNT) else before.amount()
    currency = claims.currency(case) if claims.is_said(case, claims.CURRENCY) else before.currency()
    seen = f"{last.amount()} {last.currency()}"
    if last.currency() != currency:
        return Judgment(False, seen, f"it is in {last.currency()}, and the claim in {currency}.")
    if last.received_all() is not True:
        return Judgment(False, seen, "only a part of it was taken.")
    return Judgment(last.amount() == amount > 0, seen, f"the claim is about {amount}.")


def asked_for_its_order(rows: PgSelect, case: Case) -> Judgment:
    table = sql_questions.asked_of(rows, tables.holds_orders)
    if table.holds is not True:
        return table
    return sql_questions.narrowed_by(rows, case, KEYS, frozenset())


def is_its_order(rows: PgSelect, case: Case) -> Judgment:
    """One row, and it is the order's. Two orders of one cart are two things, of which one may be unpaid."""
    rows.complete()
    sql_questions.check_rows_are_as_asked(rows)
    if rows.listed() != 1:
        return Judgment(False, f"{rows.listed()} rows", "the order is not in exactly one row.")
    is_it = sql_questions.is_named(rows, 0, case, names_to_show(rows, case))
    return Judgment(is_it, "1 row", "the row is that of another order.")


def names_to_show(rows: PgSelect, case: Case) -> sql_questions.Keys:
    """An order is named by its own id. Its cart must be right where it stands, and need not be asked for besides."""
    order, (columns, _) = KEYS
    needs_no_cart = claims.is_said(case, claims.ORDER), rows.asked().columns != ("*",)
    if needs_no_cart != (True, True):
        return KEYS
    return KEYS if sql_questions.tells(rows, columns) is True else (order,)


def order_is_paid(rows: PgSelect, case: Case) -> Judgment:
    state = rows.one_of(PAID + NOT_PAID, 0, "current_state")
    return Judgment(state in PAID, state, f"the order's current state is {state}.")


ATTEMPTS = Need(
    readers=(StripePaymentIntents,),
    asked=asked_for_its_attempts,
    answered=are_its_attempts,
    checks=(
        Check(
            title="Every attempt is in the list, and there are at least two",
            test=list_is_whole,
            earn="A search for everything that carries the note of {subject}, with `has_more` false and room to spare",
            unreadable="A list that may be cut is not a list of all",
        ),
        Check(
            title="The last attempt by its time succeeded",
            test=the_last_was_paid,
            earn="The attempt that was created last with the status `succeeded` in the same answer",
            unreadable="A status that cannot be read is not success",
        ),
        Check(
            title="No earlier attempt took money or may still take it",
            test=the_others_took_nothing,
            earn="Earlier attempts that need a new payment method or were canceled",
            unreadable="A status that cannot be read may be a second payment",
        ),
        Check(
            title="It paid what the claim is about",
            test=it_paid_the_claim,
            earn="The claimed amount and currency in the attempt that succeeded, or those of the attempt before",
            unreadable="An amount that cannot be read equals nothing",
        ),
    ),
    again=(list_is_whole, the_last_was_paid, the_others_took_nothing),
)
ORDER = Need(
    readers=(PgSelect,),
    asked=asked_for_its_order,
    answered=is_its_order,
    checks=(
        Check(
            title="The order's current state is the paid state",
            test=order_is_paid,
            earn="`current_state` of the order's one row, selected by {subject} alone",
            unreadable="A state that cannot be read is not paid",
        ),
    ),
    again=(order_is_paid,),
)

RULE = Rule(
    hypothesis="superseded_payment_attempt",
    version=1,
    kinds=("claim",),
    facts=(
        Fact(name="later_attempt_paid", needs=(ATTEMPTS,)),
        Fact(name="order_in_paid_state", needs=(ORDER,)),
    ),
)
