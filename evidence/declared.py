"""How a tool's declared properties appear on the wire. MCP, the page of a tool and the tests say it from here.

`hints` are MCP's annotations, which are no more than that by its specification. What they cannot say stands in `_meta`
under names with a prefix of ours, as the specification asks (2025-06-18 and later, "General fields", `_meta`): a client
that knows them reads the contract's version and hash, which every entry of a call carries as well.
"""

from __future__ import annotations

from typing import Any, Protocol

PREFIX = "counterseal/"


class Declared(Protocol):
    """What a tool declares."""

    @property
    def read_only(self) -> bool: ...
    @property
    def returns_action_recommendations(self) -> bool: ...
    @property
    def query_type(self) -> str | None: ...
    @property
    def version(self) -> int | None: ...
    @property
    def contract_hash(self) -> str | None: ...


def hints(tool: Declared) -> dict[str, bool]:
    """MCP's annotations. Nothing is destructive: what hands something in adds, and what reads changes nothing."""
    return {
        "readOnlyHint": tool.read_only,
        "destructiveHint": False,
        "idempotentHint": tool.read_only,
        "openWorldHint": False,
    }


def meta(tool: Declared) -> dict[str, Any]:
    """Our keys of `_meta`, without those that have no value."""
    said = {
        "read_only": tool.read_only,
        "returns_action_recommendations": tool.returns_action_recommendations,
        "query_type": tool.query_type,
        "contract_version": tool.version,
        "contract_hash": tool.contract_hash,
    }
    return {f"{PREFIX}{key}": value for key, value in said.items() if value is not None}
