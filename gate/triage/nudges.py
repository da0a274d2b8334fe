"""The stream behind a page's counts. It says that something changed; the page then asks as it does every 15 s."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial

from asgiref.sync import sync_to_async
from django.db import Error, close_old_connections
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_GET

from audit.nudges import HUB
from gate.people import visits
from gate.people.requests import person_of

MOST_OF_ONE = 6  # streams of a person: a browser holds no more connections to one host
MOST = 200  # streams of this process
SECONDS_BETWEEN_LOOKS = 10.0  # at the session
SECONDS_BETWEEN_NUDGES = 1.0  # however much happens
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
open_streams: Counter[int] = Counter()  # by person


@require_GET
async def nudges(request: HttpRequest) -> HttpResponseBase:
    """Server-sent events without content, for as long as the session lasts. 429 over the limits; pages then poll."""
    person = person_of(request)
    if _are_too_many(person.pk, coming=1):
        return HttpResponse("There are too many live pages; this one asks every 15 s.", status=429)
    goes_on = partial(visits.goes_on, request.session.session_key or "", person.pk, person.get_session_auth_hash())
    return StreamingHttpResponse(_events(person.pk, goes_on), content_type="text/event-stream", headers=HEADERS)


def _are_too_many(person: int, coming: int = 0) -> bool:
    return open_streams[person] + coming > MOST_OF_ONE or open_streams.total() + coming > MOST


async def _events(person: int, goes_on: Callable[[], bool]) -> AsyncIterator[bytes]:
    open_streams[person] += 1
    try:
        if _are_too_many(person):  # of several that came at once, each found room before the others were counted
            return
        async with HUB.listener() as nudge:
            for number in itertools.count(1):
                if not await _is_alive(goes_on):
                    return
                yield f"data: {number}\n\n".encode() if nudge.is_set() else b": nothing new\n\n"
                await _until_next(nudge)
    finally:
        open_streams[person] -= 1


async def _until_next(nudge: asyncio.Event) -> None:
    """Wait for a nudge, or until it is time to look at the session."""
    if nudge.is_set():
        nudge.clear()
        await asyncio.sleep(SECONDS_BETWEEN_NUDGES)
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS_BETWEEN_LOOKS):
            await nudge.wait()


async def _is_alive(goes_on: Callable[[], bool]) -> bool:
    """Whether to go on. While the database is away nobody can tell: nothing is sent, and the stream stays open."""
    while not HUB.is_closing:
        try:
            return await sync_to_async(_look)(goes_on)
        except Error:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    return False


def _look(goes_on: Callable[[], bool]) -> bool:
    try:
        return goes_on()
    finally:
        close_old_connections()  # a stream that waits holds no connection of the pool
