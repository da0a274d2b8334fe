"""The connection to the answering model: one try, no redirect, no proxy but a named one, a cap on time and on size."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import cast

import httpx2

from gate.admission.answering.endpoint import Endpoint

MOST_BYTES = 1_000_000  # of one answer: a whole one has some hundreds
USER_AGENT = "counterseal"


class TooLarge(httpx2.TransportError):
    """The answer is longer than any answer to a question is."""


class _Capped(httpx2.SyncByteStream):
    """A body that is read no further than its cap, and no longer than until its deadline."""

    def __init__(self, body: httpx2.SyncByteStream, deadline: float) -> None:
        self._body, self._deadline = body, deadline

    def __iter__(self) -> Iterator[bytes]:
        left = MOST_BYTES
        for part in self._body:
            left -= len(part)
            if left < 0:
                raise TooLarge(f"The answer is longer than {MOST_BYTES:,} bytes.")
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("The answer took too long.")
            yield part

    def close(self) -> None:
        self._body.close()


class _Transport(httpx2.HTTPTransport):
    """One try per request, its answer capped over the whole of it, whatever the server does."""

    def __init__(self, proxy: str, deadline: float) -> None:
        super().__init__(proxy=proxy or None, trust_env=False, retries=0)
        self._deadline = deadline

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = super().handle_request(request)
        response.stream = _Capped(cast("httpx2.SyncByteStream", response.stream), self._deadline)
        return response


def client(endpoint: Endpoint, *, seconds: float) -> httpx2.Client:
    """A client for what is asked within so many seconds from now; whoever gives up sooner closes it."""
    return httpx2.Client(
        transport=_Transport(endpoint.proxy, time.monotonic() + seconds), timeout=seconds, trust_env=False,
        follow_redirects=False, headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"},
    )  # fmt: skip
