"""Django's synchronous code, called from coroutines that no Django handler wraps."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections

P = ParamSpec("P")
R = TypeVar("R")
# Threads that wait for a source hold nothing but themselves. Who is at the door is looked at by others, so that slow
# calls, however many, let nobody wait there.
CALLS = ThreadPoolExecutor(128, thread_name_prefix="calls")
DOOR = ThreadPoolExecutor(16, thread_name_prefix="door")


async def in_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run `work` in one of the threads for calls, beside whatever else runs."""
    return await _run(CALLS, work, *args, **kwargs)


async def at_the_door(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The same, in one of the threads for what is short and comes before everything else."""
    return await _run(DOOR, work, *args, **kwargs)


async def _run(threads: ThreadPoolExecutor, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Without a request's end nobody would give the thread's connection back or notice that it died."""

    def with_connections() -> R:
        close_old_connections()
        try:
            return work(*args, **kwargs)
        finally:
            close_old_connections()

    return await sync_to_async(with_connections, thread_sensitive=False, executor=threads)()
