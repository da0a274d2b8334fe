"""Loki as a kind of source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from audit.models import Definition
from evidence.bounds import Limits
from evidence.kinds import saying
from evidence.kinds.http import endpoints, proving, reading, site
from evidence.kinds.kind import Found
from evidence.kinds.loki import completeness, role
from evidence.kinds.loki import proving as own
from evidence.kinds.loki.endpoints import API
from evidence.stating import Proven

if TYPE_CHECKING:
    from evidence.contracts import Contract


class Loki:
    """A Loki, or a gateway before it. A result is its own answer, unchanged."""

    name = "loki"
    attacks = own.ATTACKS
    source_example: Mapping[str, Any] = {
        "kind": "loki",
        "url": "https://loki.example.com",
        "environment": "production",
        "reader_env": "LOKI_READER_TOKEN",
        "credential": "bearer",
        "addresses": ["10.0.0.5"],
    }
    tool_example: Mapping[str, Any] = {
        "request": {
            "endpoint": "query",
            "parameters": {
                "query": 'sum(count_over_time({app="worker"} | job_id=$job_id |= "error" [1h])) or vector(0)'
            },
        },
    }

    def check_source(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body describes a Loki."""
        site.check(body, own.ACCEPTABLE, {"query"})
        saying.check_query(body)

    def check_tool(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body holds a request that can be sent."""
        endpoints.check(API, body)

    def credentials(self, source: Definition) -> tuple[str, ...]:
        """The variables that the definition names."""
        return proving.credentials(source)

    def address(self, source: Definition) -> str:
        """Where it is, and as whom it is read. Raises Problem when the credential is unset."""
        return proving.address(source)

    def prove(self, source: Definition) -> Proven:
        """Which doors for writing the reader finds shut."""
        return own.prove(source)

    def read(self, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits) -> Found:
        """One guarded GET. Raises Refused, or Problem for a credential that is not set."""
        return reading.read(API, source, contract, given, limits, completeness.incomplete)

    def strongest_reader(self, source: Definition) -> list[str]:
        """A gateway that passes nothing but what reads."""
        return role.script(source)
