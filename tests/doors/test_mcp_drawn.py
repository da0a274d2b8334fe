"""MCP under whatever may be sent: arguments drawn from what each tool advertises, and messages that are none.

Nothing is an internal error: what cannot be served is refused with a sentence or with the protocol's own code.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import MCPError
from mcp_types import INTERNAL_ERROR
from schemathesis import GenerationMode

from evidence import recording
from tests.doors.conftest import METRIC, World
from tests.doors.expected import DESK_TOOLS
from tests.evidence.serving import connected
from tests.triage.conftest import JOB_FAILED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("gate.config.urls_agents")]
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
DRAWN = settings(
    max_examples=25, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
MODERN, LEGACY = "2026-07-28", "2025-06-18"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
}


def drawn(input_schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Arguments: some that fit the schema, and some that are spoiled."""
    body = {"required": True, "content": {"application/json": {"schema": input_schema}}}
    paths = {"/call": {"post": {"requestBody": body, "responses": {"200": {"description": ""}}}}}
    stated = {"openapi": "3.1.0", "info": {"title": "", "version": "1"}, "paths": paths}
    operation = schemathesis.openapi.from_dict(stated)["/call"]["POST"]
    modes = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)
    found: list[dict[str, Any]] = []

    @DRAWN
    @given(st.one_of(*modes))
    def note(case: Any) -> None:
        if isinstance(case.body, dict) and case.body not in found:
            found.append(case.body)

    note()
    return found


def aimed(given: list[dict[str, Any]], tool: str, world: World) -> list[dict[str, Any]]:
    """The same, with every second one about what there is, which nothing would draw."""
    write = {"target": "shop", "statement": "delete from shop.jobs where job_id = 7", "title": "x", "reason": "x"}
    findings = {"hypothesis": JOB_FAILED["hypotheses"][0], "findings": [], "answer": "x"}
    known: dict[str, dict[str, Any]] = {
        "find_job": {"investigation": world.running.pk},
        "submit_findings": {**findings, "investigation": world.running.pk},
        "propose_write": {**write, "incident": "", "parameters": []},
        "write_questions": {"target": "shop"},
        "write_status": {"write": world.own_write.ref},
        "list_available_tools": {"investigation": world.running.pk},
        "describe_tool": {"name": "find_job", "investigation": world.running.pk},
        "list_available_metrics": {"investigation": world.running.pk},
        "describe_metric": {"metric_id": METRIC, "investigation": world.running.pk},
    }
    return [{**each, **(known.get(tool, {}) if number % 2 else {})} for number, each in enumerate(given)]


@ERAS
def test_whatever_a_tool_is_called_with_it_answers_or_says_why(served: str, world: World, mode: str) -> None:
    broke, answered = asyncio.run(call_everything(served, world, mode))
    assert not broke, "\n".join(broke)
    assert answered == {"find_job", *DESK_TOOLS}  # else nothing behind the schemas was tried


async def call_everything(url: str, world: World, mode: str) -> tuple[list[str], set[str]]:
    """Call each tool with what is drawn: what broke, and which tools gave answers of their own."""
    broke, answered = [], set()
    async with connected(url, world.agent_token, mode) as client:
        for tool in (await client.list_tools()).tools:
            for arguments in aimed(drawn(tool.input_schema), tool.name, world):
                is_answered, fault = await call(client, tool.name, arguments)
                broke += [f"{tool.name} {arguments!r}: {fault}"] if fault else []
                answered |= {tool.name} if is_answered else set()
    return broke, answered


async def call(client: Any, name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    """Whether the tool gave an answer of its own, and what broke."""
    try:
        answer = await client.call_tool(name, arguments)
    except MCPError as error:
        return False, f"{error.code} {error.message}"
    told = answer.structured_content or {}
    return not answer.is_error, str(told) if answer.is_error and told.get("status", 500) >= 500 else ""


def message(**changes: Any) -> dict[str, Any]:
    whole = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called(name="write_status")}
    return {**whole, **changes}


def called(**parts: Any) -> dict[str, Any]:
    return {"name": "write_status", "arguments": {"write": "W-1"}, "_meta": META, **parts}


WRONG: list[Any] = [
    None, True, 0, -1, 1.5, 2**63, 2**200, 1e400, "", "\0", "\ud800", "x" * 70_000, [], [[]], {}, {"a": None},
    {"\0": {"\ud800": [float("nan")]}}, float("nan"), float("-inf"),
]  # fmt: skip
NAMES = ("\0", "\ud800", "", "x" * 70_000)
DEEP = "[" * 5_000 + "]" * 5_000
PLAIN = json.dumps(message())
HOSTILE: list[str | bytes] = [
    *(json.dumps(message(**{part: wrong})) for part in ("jsonrpc", "id", "method", "params") for wrong in WRONG),
    *(json.dumps(message(params=called(**{of: wrong}))) for of in ("name", "arguments", "_meta") for wrong in WRONG),
    *(json.dumps(message(params=called(_meta={**META, key: wrong}))) for key in META for wrong in WRONG),
    *(json.dumps(message(params=called(arguments={"write": wrong}))) for wrong in WRONG),
    *(json.dumps(message(params=called(arguments={"write": "W-1", more: 1}))) for more in NAMES),
    *(json.dumps(wrong) for wrong in WRONG),
    *(json.dumps(message(method=name)) for name in ("tools/list", "tools/nothing", "initialize", "ping", "__init__")),
    *(json.dumps(message(method=name)) for name in ("resources/list", "notifications/cancelled", "rpc.discover")),
    PLAIN.replace('"W-1"', DEEP), PLAIN.replace('"W-1"', "9" * 5_000), PLAIN.replace('"W-1"', "1e99999"),
    PLAIN.replace('"W-1"', "NaN"), PLAIN.replace('"id": 1', '"id": 1, "id": 2, "method": "ping"'),
    PLAIN.replace('{"write"', '{"write": "W-2", "write"'), f"[{PLAIN}, {PLAIN}]", f"{PLAIN}{PLAIN}", PLAIN[:-1],
    PLAIN + "\n\n", "﻿" + PLAIN, PLAIN.encode("utf-16"), PLAIN.encode("utf-32"), b"\xff\xfe\xfd", b"\0", b"", b"{",
    json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}), json.dumps({"jsonrpc": "2.0", "method": "tools/call"}),
    json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}),
]  # fmt: skip


@pytest.mark.parametrize("version", [MODERN, LEGACY])
def test_a_hostile_message_is_refused_by_the_protocol(served: str, world: World, version: str) -> None:
    with client(world, version) as http:
        faults = []
        for sent in HOSTILE:
            recording.counting.counts.clear()  # past so many refusals a minute, they would not be recorded
            faults += faults_of(post(http, served, sent), sent)
        assert not faults, "\n".join(faults)
        # Else everything would be refused for its headers, and nothing read.
        assert "result" in post(http, served, PLAIN).json()


def client(world: World, version: str, **headers: str) -> httpx2.Client:
    """The agent, with no library between it and the wire."""
    own = {"Authorization": f"Bearer {world.agent_token}", "Accept": "application/json, text/event-stream"}
    return httpx2.Client(headers={**own, "MCP-Protocol-Version": version, **headers}, timeout=20)


def post(http: httpx2.Client, served: str, sent: str | bytes) -> httpx2.Response:
    """Send a body as JSON, with the headers that say again what is in it."""
    named = {"Mcp-Method": "tools/call", "Mcp-Name": "write_status", "Content-Type": "application/json"}
    return http.post(f"{served}/mcp", content=sent, headers=named)


def faults_of(answer: httpx2.Response, sent: str | bytes) -> list[str]:
    """A sentence when it broke."""
    code = 0
    if answer.content and answer.headers["content-type"].startswith("application/json"):
        told = answer.json()
        code = told.get("error", {}).get("code", 0) if isinstance(told, dict) else 0
    is_fault = answer.status_code >= 500 or code == INTERNAL_ERROR
    return [f"{sent[:150]!r} got {answer.status_code} {answer.text[:200]}"] if is_fault else []


def test_another_method_is_none_and_no_stream_stays_open(served: str, world: World) -> None:
    for version in (MODERN, LEGACY):
        with client(world, version, Accept="text/event-stream") as http:
            for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"):
                answer = http.request(method, f"{served}/mcp")
                assert (answer.status_code, answer.headers["allow"]) == (405, "POST"), answer.text


def test_another_version_is_none(served: str, world: World) -> None:
    for version in ("", "1999-01-01", "9" * 5_000):
        with client(world, version) as http:
            assert post(http, served, PLAIN).status_code == 400


def test_another_content_type_is_no_fault_of_ours(served: str, world: World) -> None:
    kinds = ("", "text/plain", "application/xml", "application/json; charset=utf-16", "a" * 9_000)
    accepted = ("application/json, text/event-stream", "text/html", "", "*/*", "\\xff;q=x")
    for version, kind, accept in itertools.product((MODERN, LEGACY), kinds, accepted):
        with client(world, version, Accept=accept) as http:
            answer = http.post(f"{served}/mcp", content=PLAIN, headers={"Content-Type": kind})
            assert answer.status_code < 500, answer.text
