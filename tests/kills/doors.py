"""The agents' plane as real clients use it: plain HTTP, and the official MCP client."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
from mcp import MCPError
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

PATIENCE = 12.0  # seconds for one answer


class Unknown(Exception):
    """No answer, or one that does not say whether anything was done."""


class Refused(Exception):
    """A clear no: its status, its slug and, for a call that ran and failed, its entry."""

    def __init__(self, status: int, code: str, audit_id: str = "") -> None:
        super().__init__(f"{status} {code}")
        self.status, self.code, self.audit_id = status, code, audit_id


class Rest:
    """The REST door with one bearer token."""

    name = "REST"

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx2.Client(
            base_url=f"{url}/api/v1/", headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE
        )

    def report(self, body: dict[str, Any]) -> int:
        """Report an incident; its number. Raises Unknown or Refused."""
        return int(self._send("POST", "incidents", body)["id"])

    def start(self, incident: int) -> int:
        """Start an investigation; its number. Raises Unknown or Refused."""
        return int(self._send("POST", "investigations", {"incident": incident})["investigation"])

    def ask(self, tool: str, arguments: dict[str, Any], investigation: int) -> dict[str, Any]:
        """Call an evidence tool. Raises Unknown or Refused."""
        return self._send("POST", f"tools/{tool}", {"arguments": arguments, "investigation": investigation})

    def submit(self, investigation: int, body: dict[str, Any]) -> None:
        """Hand in. Raises Unknown or Refused."""
        self._send("POST", f"investigations/{investigation}/findings", body)

    def propose(self, body: dict[str, Any]) -> int:
        """Propose a write; its number. Raises Unknown or Refused."""
        return int(self._send("POST", "writes", body)["id"])

    def status(self, write: int) -> str:
        """Where an own write stands. Raises Unknown or Refused."""
        return str(self._send("GET", f"writes/{write}", None)["status"])

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        try:
            answer = self._http.request(method, path, json=body)
            told = answer.json()
        except (httpx2.HTTPError, ValueError) as error:
            raise Unknown(f"{path}: {error!r}") from error
        if answer.is_success:
            return dict(told)
        return _no(answer.status_code, told)


class Mcp:
    """The same acts through an MCP client, a connection for each."""

    name = "MCP"

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = f"{url}/mcp", token

    def start(self, incident: int) -> int:
        """Start an investigation; its number. Raises Unknown or Refused."""
        return int(self._call("start_investigation", {"incident": incident})["investigation"])

    def ask(self, tool: str, arguments: dict[str, Any], investigation: int) -> dict[str, Any]:
        """Call an evidence tool. Raises Unknown or Refused."""
        return self._call(tool, {**arguments, "investigation": investigation})

    def submit(self, investigation: int, body: dict[str, Any]) -> None:
        """Hand in. Raises Unknown or Refused."""
        self._call("submit_findings", {**body, "investigation": investigation})

    def propose(self, body: dict[str, Any]) -> int:
        """Propose a write; its number. Raises Unknown or Refused."""
        return int(self._call("propose_write", body)["id"])

    def status(self, write: int) -> str:
        """Where an own write stands. Raises Unknown or Refused."""
        return str(self._call("write_status", {"write": f"W-{write}"})["status"])

    def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            result = asyncio.run(self._answer(tool, arguments))
        # The client's task group wraps what went wrong with the connection.
        except (httpx2.HTTPError, MCPError, OSError, TimeoutError, ExceptionGroup) as error:
            raise Unknown(f"{tool}: {error!r}") from error
        told = dict(result.structured_content or {})
        if not result.is_error:
            return told
        return _no(int(told.get("status", 500)), told)

    async def _answer(self, tool: str, arguments: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self._token}"}
        async with asyncio.timeout(2 * PATIENCE), httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
            async with Client(streamable_http_client(self._url, http_client=http)) as client:
                return await client.call_tool(tool, arguments)


def _no(status: int, told: dict[str, Any]) -> dict[str, Any]:
    """Raises Refused for a clear no or a call that failed, and Unknown for a fault on the other side."""
    audit_id = str(told.get("audit_id", ""))
    if status >= 500 and not audit_id:
        raise Unknown(f"{status} {told.get('code')}")
    raise Refused(status, str(told.get("code", "")), audit_id)


Door = Rest | Mcp
