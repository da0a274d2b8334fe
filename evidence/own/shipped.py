"""The definitions that come with the product for its own record: bodies to be drafted and activated as any other."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from evidence.metrics.definition import PEOPLE

HERE = Path(__file__).parent
REVIEW_BY = "2027-11-30"
TIME, COST = "failed_call_time", "failed_call_cost"
# The worked example of the views, and what is known of it on any installation.
FIXTURE, SCOPE = "the worked example of 1 January 2000", {"since": "2000-01-01T00:00:00Z"}
STILL_OPEN, OVER = "2000-01-01T00:20:00Z", "2000-01-02T00:00:00Z"
CALL_SECONDS = Decimal("1.5")  # of an agent's call that failed
# What every one of them says alike. Before anything was recorded nothing is known, whatever installation it is.
COMMON: dict[str, Any] = {
    "parameters": {},
    "valuation": None,
    "null_policy": {"no_rows": "unresolved", "still_open": "partial", "zero_denominator": "unresolved"},
    "supported_counterfactuals": [],
    "visibility_scope": PEOPLE,
    "review_by": REVIEW_BY,
}
BEFORE = {
    "fixture": "before anything was recorded",
    "decision_point": "2020-01-01T00:00:00Z",
    "scope": {"since": "2019-01-01T00:00:00Z"},
    "value": None,
    "status": "unresolved",
}


def _worked(at: str, value: str, status: str) -> dict[str, Any]:
    return {"fixture": FIXTURE, "decision_point": at, "scope": SCOPE, "value": value, "status": status}


GOLDEN = {
    "time_to_decision": [BEFORE, _worked(STILL_OPEN, "1502", "partial"), _worked(OVER, "3902", "resolved")],
    TIME: [BEFORE, _worked(OVER, str(CALL_SECONDS), "resolved")],
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


def cost(prices: str, agent_second: Decimal) -> dict[str, Any]:
    """The body of `failed_call_cost`: the same seconds, with a price for each kind of asker.

    `prices` names the version of a valuation table, like call_prices@1, which its owner knows: it has to say for a
    second of an agent's call what is said here, or the golden value does not hold.
    """
    worth = f"{CALL_SECONDS * agent_second:f}"
    return {
        **metrics()[TIME],
        "title": "Cost of calls that did not come to an answer",
        "unit": "EUR",
        "valuation": prices,
        "golden": [BEFORE, _worked(OVER, worth, "resolved")],
    }


def _whole(name: str, said: dict[str, Any]) -> dict[str, Any]:
    texts = {"formula": _sql(name), "trace_hook": _sql(f"{name}_trace")}
    return {**COMMON, **said, **texts, "source": source()[0], "golden": GOLDEN[name]}


def _sql(name: str) -> str:
    return (HERE / f"{name}.sql").read_text()


def logins() -> str:
    """The statements that make the source's roles; they need no table."""
    return _sql("logins")


def views() -> str:
    """The statements that make the source's views, over a log that is there."""
    return _sql("views")
