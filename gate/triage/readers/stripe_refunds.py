"""stripe_get_refund and stripe_list_refunds: refunds of Stripe's API. Amounts are whole numbers of the minor unit."""

from __future__ import annotations

from dataclasses import dataclass

from gate.triage.readers.document import Answer, Step
from gate.triage.readers.stripe_lists import INCOMPLETE, check_is_whole, id_at, places

__all__ = ["INCOMPLETE", "Refund", "StripeRefund", "StripeRefunds"]

STATUSES = ("pending", "requires_action", "succeeded", "failed", "canceled")
# What Stripe books when the money of a refund came back.
RETURNED = "failure_balance_transaction"
# Stripe writes `failure_reason` only in a refund that failed. An object that has all of these is as Stripe wrote it,
# and may lack the reason; one that somebody has shortened must say null.
AS_WRITTEN = ("balance_transaction", "metadata", "reason", "receipt_number")


@dataclass(frozen=True)
class Refund:
    """One refund, wherever in the answer it stands."""

    answer: Answer
    at: tuple[Step, ...]

    def id(self) -> str:
        """Its id. Raises Unreadable when the object there is no refund."""
        self.answer.result.one_of(("refund",), *self.at, "object")
        return self.answer.result.text(*self.at, "id")

    def charge_id(self) -> str:
        """The charge that it gives back."""
        return id_at(self.answer, *self.at, "charge")

    def amount(self) -> int:
        """How much it gives back."""
        return self.answer.result.integer(*self.at, "amount")

    def currency(self) -> str:
        """In which currency."""
        return self.answer.result.text(*self.at, "currency")

    def status(self) -> str:
        """What became of it, out of the closed list."""
        return self.answer.result.one_of(STATUSES, *self.at, "status")

    def failure_reason(self) -> str | None:
        """Why it failed: a text, or exactly null, or left out by Stripe itself."""
        result = self.answer.result
        left_out = [key for key in AS_WRITTEN if not result.has(*self.at, key)]
        if not result.has(*self.at, "failure_reason") and len(left_out) == 0:
            return None
        return result.text_or_null(*self.at, "failure_reason")

    def came_back(self) -> bool:
        """Whether the money came back from the bank: Stripe books that once a refund failed, whenever that is."""
        if not self.answer.result.has(*self.at, RETURNED):
            return False
        return not self.answer.result.is_null(*self.at, RETURNED)

    def has_metadata(self, key: str) -> bool:
        """Whether it carries a note of that name."""
        return self.answer.result.has(*self.at, "metadata") and self.answer.result.has(*self.at, "metadata", key)

    def metadata(self, key: str) -> str:
        """What the shop noted on it."""
        return self.answer.result.text(*self.at, "metadata", key)


class StripeRefund(Answer):
    """An answer of stripe_get_refund: one refund."""

    tools = ("stripe_get_refund",)

    def complete(self) -> bool:
        """True: one object is whole."""
        return True

    def refunds(self) -> tuple[Refund, ...]:
        """The one refund."""
        return (Refund(self, ()),)


class StripeRefunds(Answer):
    """An answer of stripe_list_refunds."""

    tools = ("stripe_list_refunds",)

    def complete(self) -> bool:
        """True. Raises Unreadable unless the list proves to be whole."""
        check_is_whole(self)
        return True

    def refunds(self) -> tuple[Refund, ...]:
        """Every refund of the list."""
        return tuple(Refund(self, at) for at in places(self))
