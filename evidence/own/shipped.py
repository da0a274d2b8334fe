"""The definitions that come with the product for its own record: bodies to be drafted and activated as any other."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from evidence.metrics.definition import PEOPLE

HERE = Path(__file__).parent
REVIEW_BY = "2027-11-30"
TIME, COST = "failed_call_time", "failed_call_cost"
# What every one of them says alike. Before anything was recorded nothing is known, whatever installation it is.
COMMON: dict[str, Any] = {
    "parameters": {},
    "valuation": None,
    "null_policy": {"no_rows": "unresolved", "still_open": "partial", "zero_denominator": "unresolved"},
    "supported_counterfactuals": [],
    "visibility_scope": PEOPLE,
    "golden": [
        {
            "fixture": "before anything was recorded",
            "decision_point": "2020-01-01T00:00:00Z",
            "scope": {"since": "2019-01-01T00:00:00Z"},
            "value": None,
            "status": "unresolved",
        }
    ],
    "review_by": REVIEW_BY,
}


@cache
def _stated() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((HERE / "definitions.json").read_text())
    return found


def source() -> tuple[str, dict[str, Any]]:
    """Name and body of the source."""
    said = _stated()["source"]
    return said["name"], dict(said["body"])


def metrics() -> dict[str, dict[str, Any]]:
    """The bodies of the metrics by their names."""
    return {name: _whole(name, said) for name, said in _stated()["metrics"].items()}


def cost(prices: str) -> dict[str, Any]:
    """The body of `failed_call_cost`: the same seconds, with a price for each kind of asker.

    `prices` names the version of a valuation table, like call_prices@1: what a second costs, its owner knows.
    """
    said = {"title": "Cost of calls that did not come to an answer", "unit": "EUR", "valuation": prices}
    return {**metrics()[TIME], **said}


def _whole(name: str, said: dict[str, Any]) -> dict[str, Any]:
    texts = {"formula": _sql(name), "trace_hook": _sql(f"{name}_trace")}
    return {**COMMON, **said, **texts, "source": source()[0]}


def _sql(name: str) -> str:
    return (HERE / f"{name}.sql").read_text()


def logins() -> str:
    """The statements that make the source's roles; they need no table."""
    return _sql("logins")


def views() -> str:
    """The statements that make the source's views, over a log that is there."""
    return _sql("views")
