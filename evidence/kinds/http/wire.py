"""Connections that lead where they were checked to lead, and that end when the time of the call is over.

The name is resolved when a connection is made, every address that it gives is checked, and the connection goes to one
of those very addresses: a name that says something else a moment later (DNS rebinding) changes nothing. TLS is still
held against the name. Whatever is waited for, the deadline of the call counts, also for a server that sends one byte
a second.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore2

from evidence.kinds.http import addresses
from evidence.kinds.http.addresses import Address, Network

# One call is one thread from its first byte to its last, so its deadline needs no passing through the pool.
_deadline: ContextVar[float] = ContextVar("deadline")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Everything that is sent and read here has to be done within so many seconds."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def left() -> float:
    """The seconds that are left. Raises ReadTimeout when there are none."""
    found = _deadline.get() - time.monotonic()
    if found <= 0:
        raise httpcore2.ReadTimeout("The time of the call is over.")
    return found


class Wire(httpcore2.NetworkBackend):
    """Makes the connections of one source."""

    def __init__(self, named: tuple[Network, ...]) -> None:
        self._named = named
        self._plain = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """A connection to one of the checked addresses of the host. Raises Refused, or what httpcore2 raises."""
        found = addresses.checked(host, port, self._named, left())
        for number, address in enumerate(found, start=1):
            try:
                return Timed(self._to(address, port, number == len(found)))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if number == len(found):
                    raise
        raise httpcore2.ConnectError("The name has no address.")

    def _to(self, address: Address, port: int, is_last: bool) -> httpcore2.NetworkStream:
        # One address that swallows everything must leave time for the next.
        return self._plain.connect_tcp(str(address), port, left() if is_last else left() / 2)


class Timed(httpcore2.NetworkStream):
    """A connection on which nothing is waited for beyond the deadline."""

    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return Timed(self._inner.start_tls(ssl_context, server_hostname, left()))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
