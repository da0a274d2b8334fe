"""Django's synchronous code, called from coroutines that no Django handler wraps."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import close_old_connections

P = ParamSpec("P")
R = TypeVar("R")


async def in_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run `work` in a thread of this message's own.

    Without a context of its own every call in the process would queue for one thread, and without a request's end
    nobody would give its connection back or notice that it died.
    """

    def with_connections() -> R:
        close_old_connections()
        try:
            return work(*args, **kwargs)
        finally:
            close_old_connections()

    async with ThreadSensitiveContext():
        return await sync_to_async(with_connections)()
