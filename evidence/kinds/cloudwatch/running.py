"""A query of Logs Insights from its start to its result. One that is not waited for any longer is stopped.

StopQuery changes nothing that is kept, and is sent for the very number that our own StartQuery came back with: no tool
can name it, and no policy of the strongest reader tells the numbers of other people's queries.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from typing import Any

from evidence.errors import Refused
from evidence.kinds.cloudwatch import amazon

UNFINISHED = ("Scheduled", "Running")
PAUSES = (0.2, 0.3, 0.5, 1.0)  # seconds between looks at a query; the last again and again
NOT_STOPPED = "not_stopped"


def result(client: Any, started: Mapping[str, Any], seconds: float) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """What a query came to, or how far it is when the time is over, and the code of one that goes on running.

    Raises Refused, or what boto3 raises; the query is stopped then, too.
    """
    number = started.get("queryId")
    if not isinstance(number, str):
        raise Refused("broken_off", "The service started no query.")
    found: Mapping[str, Any] = {}
    is_stopped = True
    try:
        found = _awaited(client, number, seconds)
    finally:
        # Also where a look at it failed: it may go on, and it is paid for by what it reads.
        if not found or found.get("status") in UNFINISHED:
            is_stopped = amazon.is_stopped(client, number)
    return found, () if is_stopped else (NOT_STOPPED,)


def _awaited(client: Any, number: str, seconds: float) -> Mapping[str, Any]:
    """The state of the query when it is done, or when the time is over.

    That is no retry. The question was sent once; what is looked at again is the state of that very query, as the
    service means it to be asked, and a query that failed is not started anew.
    """
    until = time.monotonic() + seconds
    found: Mapping[str, Any] = {}
    for pause in itertools.chain(PAUSES, itertools.repeat(PAUSES[-1])):
        time.sleep(min(pause, max(until - time.monotonic(), 0.0)))
        found = client.get_query_results(queryId=number)
        if found.get("status") not in UNFINISHED or time.monotonic() >= until:
            break
    return found
