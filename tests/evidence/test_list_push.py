"""Changes of the list of tools reach clients that listen, whichever process made them, and only those they concern."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from mcp import MCPError
from mcp.server.subscriptions import ToolsListChanged

from audit import twohands
from audit.nudges import Hub
from evidence import changes, list_push
from evidence.list_push import Changes
from gate.people.models import Person
from tests.evidence import bodies
from tests.evidence.serving import connected, running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("gate.config.urls_agents")]
SECONDS = 10


@pytest.fixture
def plane(source: Any, define: Any, asker: Any, as_role: Any) -> Iterator[str]:
    """The address of the plane, which connects as the agents' role."""
    define("tool", "find_job", bodies.tool())
    as_role("agents")
    with running() as url:
        yield url
    as_role("owner")


@pytest.fixture
def elsewhere(as_role: Callable[[str], None]) -> Callable[..., Any]:
    """Run something as another process would: with other powers and a connection of its own."""

    def run(work: Callable[..., Any], *args: Any, **more: Any) -> Any:
        as_role("owner")
        try:
            return work(*args, **more)
        finally:
            as_role("agents")

    return lambda *args, **more: sync_to_async(run)(*args, **more)


async def names(client: Any) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def next_event(events: Any) -> Any:
    async with asyncio.timeout(SECONDS):
        return await anext(events)


def test_a_client_hears_of_an_activation_and_of_a_retirement_and_lists_anew(
    plane: str, asker: Any, define: Any, elsewhere: Any
) -> None:
    async def listen() -> list[set[str]]:
        async with connected(plane, asker[1]) as client:
            async with client.listen(tools_list_changed=True) as subscription:
                assert subscription.honored.tools_list_changed
                events = aiter(subscription)
                assert isinstance(await next_event(events), ToolsListChanged), "something may have been missed before"
                seen = [await names(client)]
                another = await elsewhere(define, "tool", "count_jobs", bodies.tool())
                assert isinstance(await next_event(events), ToolsListChanged)
                seen.append(await names(client))
                by = await elsewhere(Person.objects.get, username="first-hand")
                await elsewhere(twohands.retire, another.pk, by=by, reason="It was wrong.")
                assert isinstance(await next_event(events), ToolsListChanged)
                return [*seen, await names(client)]

    before, after, again = asyncio.run(listen())
    assert after - before == {"count_jobs"}
    assert again == before


def test_a_client_hears_of_its_own_investigations_and_of_no_other_agents(
    plane: str, asker: Any, elsewhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivered: list[str] = []
    concerns = changes.concerns

    def noted(notice: str, agent_id: int) -> bool:
        delivered.append(notice)
        return concerns(notice, agent_id)

    monkeypatch.setattr(changes, "concerns", noted)

    async def listen() -> int:
        async with connected(plane, asker[1]) as client:
            async with client.listen(tools_list_changed=True) as subscription:
                events = aiter(subscription)
                await next_event(events)
                await elsewhere(changes.announce, asker[0].agent_id + 1)
                await elsewhere(changes.announce, asker[0].agent_id)
                await next_event(events)
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.3):
                        await anext(events)
        return len(delivered)

    assert asyncio.run(listen()) == 3, "the other agent's notice came, and went no further"


def test_streams_end_in_good_order_when_the_process_stops(plane: str, asker: Any) -> None:
    async def listen() -> int:
        async with connected(plane, asker[1]) as client:
            async with client.listen(tools_list_changed=True) as subscription:
                events = aiter(subscription)
                await next_event(events)
                changes.close()
                return len([event async for event in events])

    async def limited() -> int:
        async with asyncio.timeout(SECONDS):
            return await listen()

    assert asyncio.run(limited()) == 0


def test_an_agent_has_only_so_many_streams(plane: str, asker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_push, "MOST_OF_ONE", 1)

    async def listen() -> None:
        async with connected(plane, asker[1]) as client:
            async with client.listen(tools_list_changed=True):
                with pytest.raises(MCPError, match="as many streams as there may be"):
                    async with client.listen(tools_list_changed=True):
                        pass
            async with client.listen(tools_list_changed=True) as again:  # the first one is over
                assert again.honored.tools_list_changed

    asyncio.run(listen())


def test_earlier_eras_are_told_that_nothing_is_pushed(plane: str, asker: Any) -> None:
    async def ask(mode: str) -> Any:
        async with connected(plane, asker[1], mode) as client:
            return client.server_capabilities.tools, await client.list_tools()

    old, listed = asyncio.run(ask("legacy"))
    new, _ = asyncio.run(ask("auto"))
    assert (bool(old.list_changed), bool(new.list_changed)) == (False, True)
    assert listed.ttl_ms in (0, None)
    headers = {"Authorization": f"Bearer {asker[1]}", "Accept": "text/event-stream"}
    assert httpx2.get(f"{plane}/mcp", headers=headers).status_code == 405


def test_a_stranger_listens_to_nothing(plane: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"notifications": {}}}
    headers = {"Accept": "application/json, text/event-stream", "Authorization": "Bearer csa_unknown"}
    assert httpx2.post(f"{plane}/mcp", headers=headers, json=body).status_code == 401


@pytest.mark.parametrize(
    ("notice", "is_own"), [("agent 14", True), ("agent 1", False), ("agent 141", False), ("tool", True), ("", True)]
)
def test_a_notice_is_for_its_agent_or_for_all(notice: str, is_own: bool) -> None:
    assert changes.concerns(notice, 14) is is_own


def test_the_bus_says_it_to_the_database(asker: Any) -> None:
    """What the SDK publishes goes the way of all changes: through the database, to every process."""

    async def publish() -> list[str]:
        hub, heard = Hub(twohands.CHANNEL), asyncio.Queue[str]()
        remove = hub.add(heard.put_nowait)
        async with asyncio.timeout(SECONDS):
            first = await heard.get()
            await Changes(hub, 14).publish(ToolsListChanged())
            second = await heard.get()
        remove()
        return [first, second]

    connection.close()
    assert asyncio.run(publish()) == ["", "agent 14"]
