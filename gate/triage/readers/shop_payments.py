"""One charge and one refund of the shop's own tools, read by the names that the payment rules use for any shop."""

from __future__ import annotations

from dataclasses import dataclass

from gate.triage.readers.get_charge import GetCharge
from gate.triage.readers.list_refunds import ListRefunds


@dataclass(frozen=True)
class ShopCharge:
    """The charge of an answer of get_charge. It does not say what was given back; list_refunds does."""

    answer: GetCharge

    def id(self) -> str:
        """Its id."""
        return self.answer.charge_id()

    def amount(self) -> int:
        """What was charged, in the minor unit."""
        return self.answer.amount_cents()

    def currency(self) -> str:
        """In which currency."""
        return self.answer.currency()

    def is_captured(self) -> bool:
        """Whether the money was taken at all."""
        return self.answer.captured()

    def is_disputed(self) -> bool:
        """Whether the customer's bank disputes it."""
        return self.answer.disputed()


@dataclass(frozen=True)
class ShopRefund:
    """One refund of an answer of list_refunds."""

    answer: ListRefunds
    index: int

    def id(self) -> str:
        """Its id."""
        return self.answer.refund_id(self.index)

    def charge_id(self) -> str:
        """The charge that it gives back."""
        return self.answer.refund_charge_id(self.index)

    def amount(self) -> int:
        """How much it gives back, in the minor unit."""
        return self.answer.amount_cents(self.index)

    def currency(self) -> str:
        """In which currency."""
        return self.answer.currency(self.index)

    def status(self) -> str:
        """What became of it, out of the closed list."""
        return self.answer.status(self.index)

    def failure_reason(self) -> str | None:
        """Why it failed: a text, or exactly null."""
        return self.answer.failure_reason(self.index)
