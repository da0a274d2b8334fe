"""get_charge: one charge of a customer."""

from gate.triage.readers.document import Answer


class GetCharge(Answer):
    """An answer of get_charge. `{"charge": null}` says that there is no such charge, and nothing else."""

    tools = ("get_charge",)

    def asked_keys(self) -> frozenset[str]:
        """What was asked by."""
        return self.args.keys()

    def asked_charge_id(self) -> str:
        """The charge that was asked for."""
        return self.args.text("charge_id")

    def charge_id(self) -> str:
        """The charge that the answer is about."""
        return self.result.text("charge", "charge_id")

    def amount_cents(self) -> int:
        """What was charged, in the minor unit."""
        return self.result.integer("charge", "amount_cents")

    def currency(self) -> str:
        """In which currency."""
        return self.result.text("charge", "currency")

    def captured(self) -> bool:
        """Whether the money was taken at all."""
        return self.result.flag("charge", "captured")

    def disputed(self) -> bool:
        """Whether the customer's bank disputes it."""
        return self.result.flag("charge", "disputed")
