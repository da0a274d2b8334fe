"""Nobody can tell a tool that is not for them from one that does not exist: not by bytes, nor headers, nor the time."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import Agent
from evidence import gateway
from evidence.errors import Problem
from tests.evidence import bodies
from tests.evidence.serving import running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("gate.config.urls_agents")]
ERA = "2026-07-28"
# As long as each other, so that the length of an answer that repeated them would not differ either.
UNKNOWN, FORBIDDEN = "no_such_tool_", "another_class"
OWN = ("date", "x-request-id")  # headers that differ from answer to answer


@pytest.fixture
def offered(certified: Any, define: Any, asker: Any, scope_of: Any) -> str:
    """An agent's token, for an investigation that offers one tool of two."""
    define("tool", "find_job", bodies.tool())
    define("tool", FORBIDDEN, bodies.tool())
    scope_of(asker[0], "find_job", UNKNOWN, budget=1000)
    Agent.objects.filter(pk=asker[0].agent_id).update(calls_per_hour=10_000)
    token: str = asker[1]
    return token


@pytest.fixture
def http(offered: str, as_role: Any) -> Iterator[httpx2.Client]:
    as_role("agents")
    with running() as url, httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {offered}"}) as client:
        yield client
    as_role("owner")


def over_mcp(http: httpx2.Client, tool: str, **given: Any) -> httpx2.Response:
    meta = {"protocolVersion": ERA, "clientInfo": {"name": "x", "version": "1"}, "clientCapabilities": {}}
    params = {
        "name": tool, "arguments": given, "_meta": {f"io.modelcontextprotocol/{key}": meta[key] for key in meta},
    }  # fmt: skip
    return http.post(
        "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        headers={"MCP-Protocol-Version": ERA, "Mcp-Method": "tools/call", "Mcp-Name": tool,
                 "Accept": "application/json, text/event-stream"},
    )  # fmt: skip


def over_rest(http: httpx2.Client, tool: str, **given: Any) -> httpx2.Response:
    return http.post(f"/api/v1/tools/{tool}", json={"arguments": given})


def told(answer: httpx2.Response, tool: str) -> tuple[int, bytes, list[tuple[str, str]]]:
    headers = [(name, value) for name, value in answer.headers.items() if name not in OWN]
    return answer.status_code, answer.content.replace(tool.encode(), b"TOOL"), headers


def test_answers_are_the_same_to_the_byte_at_both_doors(http: httpx2.Client) -> None:
    for ask in (over_mcp, over_rest):
        for given in ({"job_id": 1}, {"wrong": "x"}, {}, {"job_id": 1, "investigation": 7002}):
            one, other = (told(ask(http, tool, **given), tool) for tool in (UNKNOWN, FORBIDDEN))
            assert one == other, (ask.__name__, given)
    assert over_rest(http, "find_job", job_id=13).status_code == 200
    assert json.loads(over_mcp(http, FORBIDDEN, job_id=1).content)["error"]["code"] == -32602


def test_an_answer_takes_as_long_for_one_as_for_the_other(http: httpx2.Client) -> None:
    times: dict[str, list[float]] = {UNKNOWN: [], FORBIDDEN: []}
    for _ in range(30):
        for tool, taken in times.items():
            start = time.perf_counter()
            over_rest(http, tool, job_id=1)
            taken.append(time.perf_counter() - start)
    medians = [statistics.median(taken) for taken in times.values()]
    # A loose bound, for a busy machine; what they do is compared exactly below.
    assert max(medians) < 2 * min(medians), medians


def test_both_ask_the_database_the_same_questions(offered: str, asker: Any) -> None:
    def asked(tool: str) -> list[str]:
        with CaptureQueriesContext(connection) as queries, pytest.raises(Problem) as caught:
            gateway.call(asker[0], tool, {"job_id": 1}, None)
        assert caught.value.code == "unknown_tool"
        return [query["sql"].replace(tool, "TOOL") for query in queries]

    asked(FORBIDDEN)  # what a version says is read once in a process
    assert asked(UNKNOWN) == asked(FORBIDDEN)
