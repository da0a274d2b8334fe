"""tools/list changes, pushed to MCP clients that listen for them (2026-07-28, `subscriptions/listen`).

Each process listens at the database while somebody listens to it, so a version that is activated through any process
reaches the clients of all. A client hears of what concerns its agent, and is told nothing but to read the list anew,
with a token that is good then. It may hear once too often: whenever the process began to listen at the database, for
something may have been missed before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ListenHandler, ServerEvent, ToolsListChanged

from audit.nudges import Hub
from audit.twohands import CHANNEL
from evidence import changes
from evidence.threads import in_thread

MOST = 512  # streams of one process
MOST_OF_ONE = 8  # streams of one agent
Listener = Callable[[ServerEvent], None]


class Changes:
    """The SDK's bus, fed by the database, for the streams of one agent."""

    def __init__(self, hub: Hub, agent_id: int) -> None:
        self.hub = hub
        self.agent_id = agent_id

    async def publish(self, event: ServerEvent) -> None:
        """Let the streams of the agent know, in every process."""
        await in_thread(changes.announce, self.agent_id)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear of changes until the returned function is called."""

        def heard(notice: str) -> None:
            if changes.concerns(notice, self.agent_id):
                listener(ToolsListChanged())

        return self.hub.add(heard)


class Pushing:
    """Serves `subscriptions/listen`: one call is one stream."""

    def __init__(self, agent_of: Callable[[], int]) -> None:
        self.agent_of = agent_of
        self.hub = Hub(CHANNEL)
        self.handlers: set[ListenHandler] = set()
        self.streams: Counter[int] = Counter()

    async def __call__(
        self, context: ServerRequestContext[Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Push until the client goes or the process stops. Raises MCPError for one stream too many."""
        agent_id = self.agent_of()
        if self.streams[agent_id] >= MOST_OF_ONE or len(self.handlers) >= MOST:
            raise MCPError(types.INVALID_REQUEST, "You listen on as many streams as there may be; end one first.")
        handler = ListenHandler(Changes(self.hub, agent_id))
        self.handlers.add(handler)
        self.streams[agent_id] += 1
        try:
            return await handler(context, params)
        finally:
            self.handlers.discard(handler)
            self.streams[agent_id] -= 1

    def close(self) -> None:
        """End all streams in good order, so that clients know to come back."""
        for handler in list(self.handlers):
            handler.close()
