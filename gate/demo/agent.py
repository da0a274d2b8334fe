"""The scripted agent: a stock MCP client with a token, an investigation after the other, and decisions of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from gate.demo import decisions, definitions
from gate.demo.decisions import Answer, Case, HandIn, Memory

SOURCE_WAIT = 45.0  # seconds: the source is served once the reads worker has proven its credential


class Refused(Exception):
    """A tool said no: its slug and its sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True)
class Begun:
    """A running investigation: its number, and the briefing it began with."""

    investigation: int
    briefing: dict[str, Any]


class Desk:
    """The agent's end of the connection."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._begun = Begun(0, {})

    async def start(self, incident: int) -> Case:
        """Begin an investigation and read its briefing."""
        begun = await self._call("start_investigation", {"incident": incident})
        return self.resume(Begun(begun["investigation"], begun["briefing"]))

    def resume(self, begun: Begun) -> Case:
        """Go on with an investigation whose briefing was read before."""
        self._begun = begun
        return case_of(begun.briefing)

    async def ask(self, tool: str, arguments: dict[str, Any]) -> Answer:
        """Call an evidence tool, waiting while its source has not been proven yet."""
        deadline = time.monotonic() + SOURCE_WAIT
        while True:
            try:
                answer = await self._call(tool, {**arguments, "investigation": self._begun.investigation})
            except Refused as refusal:
                if refusal.code != "source_dark" or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.5)
            else:
                return Answer(answer["audit_id"], answer["result"])

    async def hand_in(self, work: HandIn) -> None:
        """Submit the findings, and propose the writes when there are some."""
        findings = [{"fact": one.fact, "audit_id": one.audit_id, "note": one.note} for one in work.findings]
        await self._call(
            "submit_findings",
            {
                "investigation": self._begun.investigation,
                "hypothesis": work.hypothesis,
                "findings": findings,
                "answer": work.answer,
            },
        )
        for proposal in work.proposals:
            await self._propose(proposal)

    async def _propose(self, proposal: decisions.Proposal) -> None:
        await self._call(
            "propose_write",
            {
                "target": definitions.TARGET,
                "title": proposal.title,
                "statement": proposal.statement,
                "parameters": proposal.parameters,
                "reason": proposal.reason,
                "incident": self._begun.briefing["incident"],
            },
        )

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await self._client.call_tool(tool, arguments)
        told: dict[str, Any] = result.structured_content or {}
        if result.is_error:
            raise Refused(told.get("code", "unknown"), told.get("detail", str(result.content)))
        return told


def case_of(briefing: dict[str, Any]) -> Case:
    """The case that a briefing describes."""
    return Case(
        subject=briefing["subject"],
        facts=briefing["facts"],
        tools=frozenset(tool["name"] for tool in briefing["tools"]),
        watch_from=decisions.moment(briefing["watch_from"]),
        recurrence=timedelta(seconds=briefing["recurrence_seconds"]),
        lag=timedelta(seconds=briefing["ingestion_lag_seconds"]),
        metrics={one["metric_id"]: one["scope"] for one in briefing["metrics"]["selected"]},
    )


@asynccontextmanager
async def connected(url: str, token: str) -> AsyncIterator[Desk]:
    """A connection to the agents' plane at `url`, as any MCP client makes it."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:
        async with Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client:
            await client.list_tools()
            yield Desk(client)


async def investigate_all(url: str, token: str, incidents: Iterable[int | Begun]) -> None:
    """Look into one incident after the other, remembering what was counted on the way. Raises Refused."""
    memory = Memory()
    async with connected(url, token) as desk:
        for one in incidents:
            case = desk.resume(one) if isinstance(one, Begun) else await desk.start(one)
            await desk.hand_in(await decisions.investigate(case, desk.ask, memory, datetime.now(UTC)))
