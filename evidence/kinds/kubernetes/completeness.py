"""Whether an answer of the Kubernetes API is the whole answer, by every mark that it puts on one.

Sources: Kubernetes API Concepts (lists in chunks, Table, resource versions), the Status and ListMeta types of
meta/v1, PodLogOptions of core/v1, and the kubelet's log reader (k8s.io/cri-client/pkg/logs). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

GET, LIST, LOGS = "get", "list", "logs"
# How long an API server keeps events unless it is told otherwise (--event-ttl).
EVENTS_KEPT_FOR = timedelta(hours=1)
CODES: Mapping[str, str] = {
    "status_object": "The answer is a Status, which tells of a fault and shows no object.",
    "table": "The answer is a table made for people, which leaves fields out.",
    "another_kind": "The answer is of another kind than what was asked for.",
    "no_items": "The list has no items, not even none.",
    "no_version": "The answer bears no version, so it does not come fresh from the API server's store.",
    "goes_on": "The list goes on on a further page.",
    "limit_reached": "The list is as long as it may be.",
    "events_expired": "Events from the start of the asked time are no longer kept.",
    "tail_reached": "The log is as many lines long as it may be, so older ones may be left out.",
    "bytes_reached": "The log is as many bytes long as it may be, so it is cut.",
    "no_lines": "The log is empty: nothing was written, or it was not kept.",
    "log_error": "A line without a time is the kubelet's own: the log, or the rest of it, could not be read.",
}
# Why it could not read, or not read on, a kubelet writes into the log with HTTP 200: a container or a file that is
# gone, a disk that fails, a runtime that does not answer. There is no closed list of its sentences.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) ", re.ASCII)


def incomplete(request: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Why the answer is not the whole one: codes of CODES; none when it proves to be whole.

    `request` is what was asked: `act` (GET, LIST or LOGS); for an object or a list its `kind`; for a list `limit`,
    and for one of events the moment `asked_at`, `kept_for` and, where a start was asked for, `begins`; for a log, which
    is asked for with the time of each line, `tail_lines` and `limit_bytes`.
    """
    checks = {GET: _of_object, LIST: _of_list, LOGS: _of_log}
    return tuple(dict.fromkeys(checks[request["act"]](request, answer)))


def _of_object(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    yield from _kind(request["kind"], answer)
    yield from _version(answer)


def _of_list(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    yield from _kind(request["kind"] + "List", answer)
    yield from _version(answer)
    items, told = answer.get("items"), _metadata(answer)
    if not isinstance(items, list):
        yield "no_items"
    elif len(items) >= request["limit"]:
        yield "limit_reached"
    if told.get("continue", "") != "" or told.get("remainingItemCount", 0) != 0:
        yield "goes_on"
    if request.get("begins") is not None and _is_expired(request["begins"], request["asked_at"], request["kept_for"]):
        yield "events_expired"


def _kind(wanted: str, answer: Mapping[str, Any]) -> Iterator[str]:
    found = answer.get("kind")
    if found == wanted:
        return
    yield {"Status": "status_object", "Table": "table"}.get(str(found), "another_kind")


def _version(answer: Mapping[str, Any]) -> Iterator[str]:
    version = _metadata(answer).get("resourceVersion")
    if not isinstance(version, str) or version in ("", "0"):
        yield "no_version"


def _metadata(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    found = answer.get("metadata")
    return found if isinstance(found, dict) else {}


def _is_expired(begins: datetime, asked_at: datetime, kept_for: timedelta) -> bool:
    return asked_at - begins > kept_for


def _of_log(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    text = answer.get("data")
    if not isinstance(text, str) or text == "":
        yield "no_lines"
        return
    lines, is_cut = text.removesuffix("\n").split("\n"), len(text.encode()) >= request["limit_bytes"]
    if is_cut:
        yield "bytes_reached"
    if len(lines) >= request["tail_lines"]:
        yield "tail_reached"
    # The last line of what was cut may have been cut within its time.
    if not all(map(_TIME.match, lines[:-1] if is_cut else lines)):
        yield "log_error"
