"""What the pages of tools show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from audit import definition_pages, marked_json, twohands
from audit.definition_pages import Row, Version
from audit.models import Definition
from audit.twohands import Standing
from evidence import catalog, contracts, declared, kinds, offering, schema_rows, sources, tool_calls
from evidence.contracts import Contract
from evidence.offering import Offering
from evidence.tool_calls import Lately


@dataclass(frozen=True)
class Line:
    """One tool in the list."""

    row: Row
    lately: Lately
    classes: Sequence[Offering]


def lines() -> list[Line]:
    """Every tool, with three queries however many there are."""
    rows, classes = definition_pages.rows("tool"), offering.by_tool()
    lately = tool_calls.lately([row.name for row in rows])
    return [Line(row, lately[row.name], classes.get(row.name, ())) for row in rows]


class ToolPage:
    """One tool: the version that is shown, how agents see it, and its versions."""

    def __init__(self, row: Row, versions: Sequence[Version]) -> None:
        self.row = row
        self.versions = versions
        self.contract = Contract.of(row.shown)
        self.offer = catalog.of_contract(self.contract)

    @cached_property
    def source(self) -> Definition | None:
        return sources.known(self.contract.source)

    @property
    def source_kind(self) -> str:
        return kinds.of(self.source).name if self.source is not None else ""

    @cached_property
    def standing(self) -> Standing | None:
        """How the source's credential fares: a tool of a source that is dark is not served."""
        if self.source is None or self.source.status != Definition.Status.ACTIVE:
            return None
        return twohands.KINDS["source"].standings([self.source]).get(self.source.name)

    @cached_property
    def lately(self) -> Lately:
        return tool_calls.lately([self.row.name])[self.row.name]

    @cached_property
    def classes(self) -> Sequence[Offering]:
        return offering.by_tool().get(self.row.name, ())

    @property
    def schemas(self) -> list[tuple[str, str, Any, bool, Any]]:
        """Title, note, rows, whether nothing else may be there, and the JSON, of what it takes and of what it gives."""
        contract = self.contract
        return [
            _schema("Takes", "arguments of a call", contract.input_schema, is_closed=True),
            _schema("Gives back", "below result in the answer", contract.output_schema),
        ]

    @property
    def statement(self) -> str:
        return "\n".join(map(marked_json.undisguised, self.contract.sql.splitlines()))

    @property
    def request(self) -> Any:
        return _json(self.contract.request) if self.contract.request is not None else None

    @property
    def wire(self) -> list[tuple[str, Any]]:
        """How the declared properties appear to agents, by where they read them."""
        plain = ("read_only", "returns_action_recommendations", "query_type", "version", "contract_hash")
        stated = self.offer.stated()
        return [
            ("MCP, annotations", _json(declared.hints(self.offer))),
            ("MCP, _meta", _json(declared.meta(self.offer))),
            ("REST, GET /api/v1/tools", _json({key: stated[key] for key in plain})),
        ]

    @property
    def can_speak_of(self) -> str:
        return contracts.VISIBILITY_SCOPES[self.contract.visibility_scope]


def _schema(title: str, note: str, schema: Any, *, is_closed: bool = False) -> tuple[str, str, Any, bool, Any]:
    return title, note, schema_rows.rows(schema), is_closed or schema_rows.is_closed(schema), _json(schema)


def _json(value: Any) -> Any:
    return list(marked_json.lines(json.loads(json.dumps(value))))
