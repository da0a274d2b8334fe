"""Evidence tools and desk tools in one list, for MCP and REST alike.

Two properties stand on every tool, wherever it is listed: `read_only`, and `returns_action_recommendations`, which is
false on all of them. The first is true where a call changes nothing; on what reads a source it is a promise that the
credential keeps and its certificate proves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import starmap
from typing import Any

from audit.agents import Principal
from evidence import contracts, desk, gateway, scope
from evidence.contracts import INVESTIGATION, Contract
from evidence.desk import DeskTool
from evidence.metrics import calls
from evidence.scope import Scope


@dataclass(frozen=True)
class Offer:
    """A tool as an agent sees it. `output_schema` describes what `result` holds; desk tools promise none.

    `version` and `contract_hash` are those of the contract, as each entry of a call carries them; desk tools have none.
    """

    name: str
    purpose: str
    read_only: bool
    returns_action_recommendations: bool
    query_type: str | None
    version: int | None
    contract_hash: str | None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    limitations: list[str]

    def stated(self) -> dict[str, Any]:
        """The offer as JSON."""
        return asdict(self)


def offered(principal: Principal, within: Sequence[Scope] | None = None) -> list[Offer]:
    """What the agent may call now, read anew each time.

    With investigations running (or given as `within`), these are the tools of their classes; without one, what its
    token is good for.
    """
    within = scope.running(principal) if within is None else within
    evidence = _evidence(within) if "tools" in principal.scopes else []
    metric_tools = calls.offered(principal, calls.available(principal, within))
    return [
        *map(of_contract, evidence),
        *starmap(_of_metrics, metric_tools.items()),
        *map(_of_desk, desk.offered(principal)),
    ]


def _evidence(within: Sequence[Scope]) -> list[Contract]:
    active = contracts.all_active()
    if not within:
        return active
    return [one for one in active if any(scope.is_offered(one.name, one.visibility_scope, each) for each in within)]


def of_contract(contract: Contract) -> Offer:
    """An evidence tool as agents see it."""
    return Offer(
        contract.name, contract.purpose, True, False, contract.query_type, contract.version, contract.digest,
        contract.advertised_input(), contract.output_schema, contract.limitations,
    )  # fmt: skip


def _of_metrics(name: str, tool: calls.Tool) -> Offer:
    """A tool of the product's own; the version and hash that its calls carry are those of the metric."""
    return Offer(
        name, tool.purpose, True, False, tool.query_type, None, None, calls.advertised(tool), tool.output_schema,
        list(tool.limitations),
    )  # fmt: skip


def _of_desk(tool: DeskTool) -> Offer:
    return Offer(tool.name, tool.purpose, tool.is_read_only, False, None, None, None, tool.input_schema, None, [])


def call(principal: Principal, name: str, given: dict[str, Any], investigation: int | None) -> dict[str, Any]:
    """Call a tool of either sort and return its answer as JSON. Raises Problem."""
    if name in desk.DESK:
        # A desk tool's schema says itself whether it takes an investigation.
        named = {} if investigation is None else {INVESTIGATION: investigation}
        return desk.call(principal, name, {**given, **named})
    return asdict(gateway.call(principal, name, given, investigation))
