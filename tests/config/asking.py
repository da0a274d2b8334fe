"""Asking a running plane as a browser and as an agent would, without either."""

from __future__ import annotations

import http.client
import json
import re
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode


def ask(port: int, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str, Any]:
    """The status, the text and the headers of an answer."""
    connection = http.client.HTTPConnection("localhost", port, timeout=20)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        connection.close()


def sign_in(port: int, username: str, password: str) -> tuple[int, str]:
    """302 and nothing when they are signed in; else the status and the page."""
    _, page, headers = ask(port, "GET", "/sign-in/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token
    cookies: SimpleCookie = SimpleCookie(headers["Set-Cookie"])
    form = urlencode({"csrfmiddlewaretoken": token[1], "username": username, "password": password})
    status, body, _ = ask(
        port, "POST", "/sign-in/", form, Cookie=f"counterseal_csrf={cookies['counterseal_csrf'].value}",
        Origin=f"http://localhost:{port}", Content_Type="application/x-www-form-urlencoded",
    )  # fmt: skip
    return status, body


def post(port: int, path: str, token: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """What the agents' plane answers to a bearer token."""
    headers = {"Authorization": f"Bearer {token}", "Content_Type": "application/json"}
    if path == "/mcp":
        headers |= {"Accept": "application/json, text/event-stream", "MCP_Protocol_Version": "2025-06-18"}
    status, said, answer = ask(port, "POST", path, json.dumps(body), **headers)
    assert "json" in answer["Content-Type"]
    return status, json.loads(said)
