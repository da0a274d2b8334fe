"""list_refunds: every refund of one charge."""

from gate.triage.readers.document import Answer

STATUSES = ("pending", "succeeded", "failed")


class ListRefunds(Answer):
    """An answer of list_refunds. It is complete when `total` says so."""

    tools = ("list_refunds",)

    def asked_keys(self) -> frozenset[str]:
        """What was asked by."""
        return self.args.keys()

    def asked_charge_id(self) -> str:
        """The charge that was asked for."""
        return self.args.text("charge_id")

    def charge_id(self) -> str:
        """The charge that the answer is about."""
        return self.result.text("charge_id")

    def total(self) -> int:
        """How many refunds the charge has."""
        return self.result.integer("total")

    def listed(self) -> int:
        """How many of them are in the answer."""
        return self.result.length("refunds")

    def refund_id(self, index: int) -> str:
        """The id of a refund."""
        return self.result.text("refunds", index, "refund_id")

    def refund_charge_id(self, index: int) -> str:
        """The charge that a refund belongs to."""
        return self.result.text("refunds", index, "charge_id")

    def amount_cents(self, index: int) -> int:
        """What it gives back, in the minor unit."""
        return self.result.integer("refunds", index, "amount_cents")

    def currency(self, index: int) -> str:
        """In which currency."""
        return self.result.text("refunds", index, "currency")

    def status(self, index: int) -> str:
        """What became of it, out of the closed list."""
        return self.result.one_of(STATUSES, "refunds", index, "status")

    def failure_reason(self, index: int) -> str | None:
        """Why it failed: a text, or exactly null."""
        return self.result.text_or_null("refunds", index, "failure_reason")
