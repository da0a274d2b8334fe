"""stripe_list_payment_intents: attempts to be paid, as Stripe's API lists them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gate.triage.readers.document import Answer, Step
from gate.triage.readers.stripe_lists import INCOMPLETE, check_is_live, check_is_whole, places

__all__ = ["INCOMPLETE", "PaymentIntent", "StripePaymentIntents"]

STATUSES = (
    "requires_payment_method", "requires_confirmation", "requires_action", "processing", "requires_capture",
    "canceled", "succeeded",
)  # fmt: skip
# Stripe writes all of these in a payment intent; a record may have left out all of them, but not one.
AS_WRITTEN = ("amount_received", "capture_method", "confirmation_method")


@dataclass(frozen=True)
class PaymentIntent:
    """One attempt, wherever in the answer it stands."""

    answer: Answer
    at: tuple[Step, ...]

    def id(self) -> str:
        """Its id. Raises Unreadable when the object there is no payment intent, or one of the test mode."""
        check_is_live(self.answer, *self.at)
        self.answer.result.one_of(("payment_intent",), *self.at, "object")
        return self.answer.result.text(*self.at, "id")

    def amount(self) -> int:
        """What was to be paid, in the minor unit."""
        return self.answer.result.integer(*self.at, "amount")

    def received_all(self) -> bool:
        """Whether all of it was taken, where the record says how much was."""
        told = [key for key in AS_WRITTEN if self.answer.result.has(*self.at, key)]
        if len(told) == 0:
            return True
        return self.answer.result.integer(*self.at, "amount_received") == self.amount()

    def currency(self) -> str:
        """In which currency."""
        return self.answer.result.text(*self.at, "currency")

    def status(self) -> str:
        """How far it got, out of the closed list."""
        return self.answer.result.one_of(STATUSES, *self.at, "status")

    def created_at(self) -> datetime:
        """When it was begun. Stripe counts whole seconds."""
        self.answer.result.integer(*self.at, "created")
        return self.answer.result.unix_seconds(*self.at, "created")

    def metadata(self, key: str) -> str:
        """What the shop noted on it."""
        return self.answer.result.text(*self.at, "metadata", key)


class StripePaymentIntents(Answer):
    """An answer of stripe_list_payment_intents: a list, or the result of a search."""

    tools = ("stripe_list_payment_intents",)

    def complete(self) -> bool:
        """True. Raises Unreadable unless the list proves to be whole."""
        check_is_whole(self)
        return True

    def attempts(self) -> tuple[PaymentIntent, ...]:
        """Every attempt of the list."""
        return tuple(PaymentIntent(self, at) for at in places(self))
