"""What a Prometheus, a Loki and an Alertmanager answer over HTTP is what the readers of the rules read."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import simplejson

from audit.models import Definition
from evidence.bounds import DEFAULT
from evidence.contracts import Contract
from evidence.kinds import KINDS
from evidence.kinds.http import client
from evidence.kinds.kind import Found
from gate.triage.recorded_cases import parse
from gate.triage.replay import newest, replay
from gate.triage.rules import registry
from tests.evidence.kinds import http_server
from tests.evidence.kinds.http_server import Server

INCIDENTS = Path(__file__).parents[1] / "data" / "incidents"
ANYTHING: dict[str, Any] = {}
ALL = {"unpaged": "Alertmanager lists every alert that it holds at once."}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with http_server.running() as running:
        yield running
        client.close()


def request(endpoint: str, **parameters: str) -> dict[str, Any]:
    return {"endpoint": endpoint, "parameters": {name: {"argument": said} for name, said in parameters.items()}}


# How a tool of each name reads, with its arguments in the agent's hands, and where its server answers.
TOOLS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "query_prometheus_range": (
        "prometheus", "/api/v1/query_range",
        request("query_range", query="query", start="start", end="end", step="step"),
    ),
    "prometheus_rules": (
        "prometheus", "/api/v1/rules", request("rules", **{"rule_name[]": "rule_name", "type": "type"}),
    ),
    "loki_query": ("loki", "/loki/api/v1/query", request("query", query="expr", time="time")),
    "alertmanager_alerts": (
        "http", "/api/v2/alerts",
        {"path": "/api/v2/alerts", "query": {"filter": {"argument": "filter"}}, "whole": [ALL]},
    ),
}  # fmt: skip
# What was asked in the record, as our tools take it.
SPELLED = {"rule_name[]": "rule_name"}
UNSAID = "active"  # true where it is left out


def case(name: str) -> dict[str, Any]:
    found = simplejson.loads((INCIDENTS / name).read_text(), use_decimal=True)
    return copy.deepcopy(found[0] if isinstance(found, list) else found)


def at_one_moment(args: dict[str, Any], window: str) -> dict[str, Any]:
    """A count over a window, as it is asked of Loki: at the end, looking back."""
    return {"expr": args["expr"].replace("[window]", f"[{window}]"), "time": args["end"]}


def spelled(args: dict[str, Any]) -> dict[str, Any]:
    return {SPELLED.get(key, key): value for key, value in args.items() if key != UNSAID}


def read(server: Server, call: dict[str, Any], **changes: Any) -> Found:
    """The recorded answer of a call, changed, and read through the kind with the call's own arguments."""
    kind, path, asked = TOOLS[call["tool"]]
    server.answer(path, {**call["result"], **changes} if isinstance(call["result"], dict) else call["result"])
    body = {"kind": kind, "url": server.url, "environment": "test", "addresses": ["127.0.0.1"]}
    body |= {"probe": "/"} if kind == "http" else {"query": True}
    schema = {
        "type": "object",
        "properties": dict.fromkeys(call["args"], ANYTHING),
        "required": sorted(call["args"]),
    }
    KINDS[kind].check_source("monitoring", body)
    KINDS[kind].check_tool(call["tool"], {"request": asked, "input_schema": schema})
    tool = Contract(call["tool"], 1, "", "", "monitoring", "state", schema, {}, "live", [], request=asked)
    source = Definition(name="monitoring", version=1, kind="source", body=body)
    return KINDS[kind].read(source, tool, call["args"], DEFAULT)


def decided(told: dict[str, Any]) -> tuple[str, list[str]]:
    line = replay(parse(told), newest(registry)).as_json()
    return line["verdict"], [reason["code"] for reason in line["reasons"]]


CASES = (
    ("watchdog_always_firing.json", ""),
    ("user_api_no_error_lines.json", "65m"),
    ("other/probe_series_with_its_name.json", ""),
    ("other/histogram_quantile.json", ""),
)


@pytest.mark.parametrize(("name", "window"), CASES)
def test_a_case_passes_by_what_came_over_http(server: Server, name: str, window: str) -> None:
    told = case(name)
    reads = [call for call in told["audit"] if call["tool"] in TOOLS]
    assert reads
    for call in reads:
        call["args"] = spelled(call["args"])
        if call["tool"] == "loki_query":
            call["args"] = at_one_moment(call["args"], window)
        found = read(server, call)
        call["result"], call["meta"]["truncated"] = found.result, found.truncated
    assert decided(told) == ("pass", [])


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("watchdog_always_firing.json", {"warnings": ["no store"]}),
        ("watchdog_always_firing.json", {"newly_invented": True}),
        ("other/probe_series_with_its_name.json", {"isPartial": True}),
        ("other/probe_series_with_its_name.json", {"data": {"resultType": "matrix", "result": []}}),
    ],
)
def test_a_case_fails_by_an_answer_that_says_it_is_not_whole(
    server: Server, name: str, changes: dict[str, Any]
) -> None:
    told = case(name)
    call = next(call for call in told["audit"] if call["tool"] in TOOLS)
    call["args"] = spelled(call["args"])
    found = read(server, call, **changes)
    assert (found.truncated, found.incomplete != ()) == (True, True)
    call["meta"]["truncated"] = found.truncated
    verdict, codes = decided(told)
    assert (verdict, codes != []) == ("fail", True)
