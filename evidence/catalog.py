"""Evidence tools and desk tools in one list, for MCP and REST alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from audit.agents import Principal
from evidence import contracts, desk, gateway
from evidence.contracts import INVESTIGATION, Contract
from evidence.desk import DeskTool


@dataclass(frozen=True)
class Offer:
    """A tool as an agent sees it. `output_schema` describes what `result` holds; desk tools promise none."""

    name: str
    purpose: str
    is_read_only: bool
    query_type: str | None
    version: int | None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    limitations: list[str]

    def stated(self) -> dict[str, Any]:
        """The offer as JSON."""
        return asdict(self)


def offered(principal: Principal) -> list[Offer]:
    """What the agent's token is good for, read anew each time. An investigation may still allow fewer."""
    evidence = contracts.all_active() if "tools" in principal.scopes else []
    return [*map(_of_contract, evidence), *map(_of_desk, desk.offered(principal))]


def _of_contract(contract: Contract) -> Offer:
    return Offer(
        contract.name, contract.purpose, True, contract.query_type, contract.version, contract.advertised_input(),
        contract.output_schema, contract.limitations,
    )  # fmt: skip


def _of_desk(tool: DeskTool) -> Offer:
    return Offer(tool.name, tool.purpose, False, None, None, tool.input_schema, None, [])


def call(principal: Principal, name: str, given: dict[str, Any], investigation: int | None) -> dict[str, Any]:
    """Call a tool of either sort and return its answer as JSON. Raises Problem."""
    if name in desk.DESK:
        # A desk tool's schema says itself whether it takes an investigation.
        named = {} if investigation is None else {INVESTIGATION: investigation}
        return desk.call(principal, name, {**given, **named})
    return asdict(gateway.call(principal, name, given, investigation))
