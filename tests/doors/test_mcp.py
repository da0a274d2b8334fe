"""Every tool over MCP: by an agent, by an intake token, by a person's cookie, by nobody."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from mcp import MCPError

from evidence import desk
from tests.doors import sealed, walking
from tests.doors.conftest import World, session_of
from tests.doors.expected import DESK_TOOLS
from tests.doors.test_urls import OUTCOMES, about_outcomes, said
from tests.evidence.serving import connected, running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("gate.config.urls_agents")]
# What the protocol knows besides tools. This server offers none of it.
OTHER_METHODS = ("resources/list", "prompts/list", "resources/read", "prompts/get", "completion/complete")


def test_every_desk_tool_has_an_owner() -> None:
    assert set(desk.DESK) == DESK_TOOLS, "Say in tests/doors/expected.py that agents may hand this in."


@pytest.fixture
def plane(world: World, as_role: Callable[[str], None]) -> Iterator[str]:
    """The address of the plane, which connects as the agents' role."""
    as_role("agents")
    with running() as url:
        yield url
    as_role("owner")


def test_no_tool_decides_or_tells_of_another_agent(
    world: World, plane: str, as_role: Callable[[str], None], settings: Any
) -> None:
    as_role("owner")
    given = [body for body in walking.objects(world) if "arguments" not in body]
    secrets = world.secrets
    before = sealed.everything()
    as_role("agents")
    told, answered = asyncio.run(ask_everything(plane, world.agent_token, given))
    as_role("owner")
    assert sealed.everything() == before
    assert answered == DESK_TOOLS, "The walk has no arguments that fit the others; teach tests/doors/walking.py."
    for text in told:
        assert not [secret for secret in secrets if secret in text], text
        words, keys = said(json.loads(text)) if text.startswith("{") else (set(), set())
        assert not words & OUTCOMES, text
        assert not about_outcomes(keys), text


async def ask_everything(url: str, token: str, given: list[dict[str, Any]]) -> tuple[list[str], set[str]]:
    """Call each offered tool with each of the arguments: what was told, and which tools answered."""
    told, answered = [], set()
    async with connected(url, token) as client:
        for tool in (await client.list_tools()).tools:
            told.append(tool.model_dump_json())
            for arguments in given:
                answer = await client.call_tool(tool.name, arguments)
                told += [block.text for block in answer.content]
                if not answer.is_error:
                    answered.add(tool.name)
        for name in ("approve_write", "review_draft", "gate.writes.tasks.execute_write", "add_person"):
            with pytest.raises(MCPError, match="no such tool"):
                await client.call_tool(name, {})
    return told, answered


@pytest.mark.parametrize("who", ["intake", "person", "nobody", "query"])
def test_without_an_agents_token_nothing_answers(world: World, as_role: Callable[[str], None], who: str) -> None:
    cookie = session_of(world.people["on_call"]).cookies.output(header="", sep=";")
    headers = {
        "intake": {"Authorization": f"Bearer {world.intake_token}"},
        "person": {"Cookie": cookie.split(";")[0].strip()},
        "query": {},
        "nobody": {},
    }[who]
    query = f"?access_token={world.agent_token}" if who == "query" else ""
    before = sealed.everything()
    as_role("agents")
    with running() as url, httpx2.Client(headers={**headers, "Accept": "application/json"}, timeout=20) as http:
        for method in ("tools/list", "tools/call", *OTHER_METHODS):
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "write_status", "arguments": {}}}
            answer = http.post(f"{url}/mcp{query}", json=message)
            assert answer.status_code == 401, (method, answer.text)
            assert not [secret for secret in world.secrets if secret in answer.text]
    as_role("owner")
    assert sealed.everything() == before
