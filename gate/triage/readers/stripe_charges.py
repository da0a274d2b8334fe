"""stripe_get_charge and stripe_list_charges: charges of Stripe's API. Amounts are whole numbers of the minor unit."""

from __future__ import annotations

from dataclasses import dataclass

from gate.triage.readers.document import Answer, Step, Unreadable
from gate.triage.readers.stripe_lists import INCOMPLETE, check_is_live, check_is_whole, id_at, places

__all__ = ["INCOMPLETE", "Charge", "StripeCharge", "StripeCharges"]

STATUSES = ("succeeded", "pending", "failed")
# Stripe writes all of these in a charge, or a record has left them all out. One alone was taken away.
WHOLE_OBJECT = ("status", "balance_transaction", "payment_intent")
FLAGS = ("paid", "refunded")


@dataclass(frozen=True)
class Charge:
    """One charge, wherever in the answer it stands."""

    answer: Answer
    at: tuple[Step, ...]

    def id(self) -> str:
        """Its id. Raises Unreadable when the object there is no charge, or one of the test mode."""
        check_is_live(self.answer, *self.at)
        self.answer.result.one_of(("charge",), *self.at, "object")
        return self.answer.result.text(*self.at, "id")

    def payment_intent(self) -> str:
        """The payment that it is an attempt at. Raises Unreadable where the record does not say it."""
        return id_at(self.answer, *self.at, "payment_intent")

    def amount(self) -> int:
        """What was to be taken."""
        return self.answer.result.integer(*self.at, "amount")

    def amount_captured(self) -> int:
        """What was taken."""
        return self.answer.result.integer(*self.at, "amount_captured")

    def amount_refunded(self) -> int:
        """What was given back, or is on its way."""
        return self.answer.result.integer(*self.at, "amount_refunded")

    def currency(self) -> str:
        """In which currency."""
        return self.answer.result.text(*self.at, "currency")

    def is_captured(self) -> bool:
        """Whether the money was taken at all."""
        return self.answer.result.flag(*self.at, "captured")

    def is_paid(self) -> bool:
        """Whether it succeeded, or was authorized. A status that contradicts it is unreadable."""
        paid = self.answer.result.flag(*self.at, "paid")
        if self.has_status() and paid is (self._status() == "failed"):
            raise Unreadable("", f"a charge that is {self._status()} has `paid` {paid}.", self._status())
        return paid

    def is_settled(self) -> bool:
        """Whether its status, where the record has one, is the final good one."""
        return self._status() == "succeeded" if self.has_status() else True

    def is_refunded_in_full(self) -> bool:
        """Whether Stripe calls it refunded, which it does only once nothing is left."""
        return self.answer.result.flag(*self.at, "refunded")

    def says_its_flags(self) -> bool:
        """Whether the record has `paid` or `refunded`. Stripe writes both, so that of one alone one was taken away."""
        return len([key for key in FLAGS if self.answer.result.has(*self.at, key)]) > 0

    def is_disputed(self) -> bool:
        """Whether the customer's bank disputes it."""
        return self.answer.result.flag(*self.at, "disputed")

    def has_notes(self) -> bool:
        """Whether the record has the shop's notes at all."""
        return self.answer.result.has(*self.at, "metadata")

    def notes(self) -> frozenset[str]:
        """The names of the shop's notes."""
        return self.answer.result.keys(*self.at, "metadata")

    def has_metadata(self, key: str) -> bool:
        """Whether it carries a note of that name."""
        return self.answer.result.has(*self.at, "metadata") and self.answer.result.has(*self.at, "metadata", key)

    def metadata(self, key: str) -> str:
        """What the shop noted on it."""
        return self.answer.result.text(*self.at, "metadata", key)

    def has_status(self) -> bool:
        """Whether the record has the object as Stripe writes it, status and all."""
        return len([key for key in WHOLE_OBJECT if self.answer.result.has(*self.at, key)]) > 0

    def _status(self) -> str:
        return self.answer.result.one_of(STATUSES, *self.at, "status")


class StripeCharge(Answer):
    """An answer of stripe_get_charge: one charge."""

    tools = ("stripe_get_charge",)

    def complete(self) -> bool:
        """True: one object is whole."""
        return True

    def charges(self) -> tuple[Charge, ...]:
        """The one charge."""
        return (Charge(self, ()),)


class StripeCharges(Answer):
    """An answer of stripe_list_charges: a list, or the result of a search."""

    tools = ("stripe_list_charges",)

    def complete(self) -> bool:
        """True. Raises Unreadable unless the list proves to be whole."""
        check_is_whole(self)
        return True

    def charges(self) -> tuple[Charge, ...]:
        """Every charge of the list."""
        return tuple(Charge(self, at) for at in places(self))
