"""list_recent_deploys: what was deployed since a moment."""

from datetime import datetime

from gate.triage.readers.document import Answer


class ListRecentDeploys(Answer):
    """An answer of list_recent_deploys. It is complete when `total` says so."""

    tools = ("list_recent_deploys",)

    def asked_keys(self) -> frozenset[str]:
        """What was asked by."""
        return self.args.keys()

    def asked_since(self) -> datetime:
        """From when on deploys were asked for."""
        return self.args.moment("since")

    def total(self) -> int:
        """How many deploys there were."""
        return self.result.integer("total")

    def listed(self) -> int:
        """How many of them are in the answer."""
        return self.result.length("deploys")

    def service(self, index: int) -> str:
        """What was deployed."""
        return self.result.text("deploys", index, "service")

    def deployed_at(self, index: int) -> datetime:
        """When it was deployed."""
        return self.result.moment("deploys", index, "deployed_at")
