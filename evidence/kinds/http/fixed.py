"""A kind of source whose servers have a fixed set of reading endpoints: what such kinds do alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit.models import Definition
from evidence.bounds import Limits
from evidence.kinds import saying
from evidence.kinds.fields import QUERY, SITE, Field, accepts
from evidence.kinds.http import endpoints, proving, reading, site
from evidence.kinds.http.endpoints import Api
from evidence.kinds.http.reading import Incomplete
from evidence.kinds.kind import Found
from evidence.layers import Attack
from evidence.stating import Proven

if TYPE_CHECKING:
    from evidence.contracts import Contract


@dataclass(frozen=True)
class FixedEndpoints:
    """One such kind. A result is the server's own answer, unchanged."""

    name: str
    title: str
    attacks: tuple[Attack, ...]
    source_example: Mapping[str, Any]
    tool_example: Mapping[str, Any]
    api: Api
    acceptable: Set[str]  # the facts that a source may leave to later lines
    incomplete: Incomplete
    codes: Mapping[str, str]  # that it gives
    prove: Callable[[Definition], Proven]
    strongest_reader: Callable[[Definition], list[str]]

    @property
    def fields(self) -> tuple[Field, ...]:
        """A server, and whether agents write queries of their own."""
        return (*SITE, QUERY, accepts(self.acceptable))

    def check_source(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body describes such a server."""
        site.check(body, self.acceptable, {"query"})
        saying.check_query(body)

    def check_tool(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body holds a request that can be sent."""
        endpoints.check(self.api, body)

    def credentials(self, source: Definition) -> tuple[str, ...]:
        """The variables that the definition names."""
        return proving.credentials(source)

    def address(self, source: Definition) -> str:
        """Where it is, and as whom it is read. Raises Problem when the credential is unset."""
        return proving.address(source)

    def read(self, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits) -> Found:
        """One guarded GET. Raises Refused, or Problem for a credential that is not set."""
        return reading.read(self.api, source, contract, given, limits, self.incomplete)
