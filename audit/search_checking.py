"""Hits of the search held against their entries before somebody reads them: the search's rows are only derived.

A row that no longer agrees with its entry, because somebody changed either, is a hit for words that are not there. What
the entry holds is not shown here: who reads production data is in the log, and a list is not.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from uuid import UUID

from audit import payloads, search_text
from audit.models import Entry, Payload

LARGEST = 64 * 1024  # compressed bytes of what is looked through for a list; larger ones are checked on their pages


def disagreeing(entries: Iterable[Entry], typed: str) -> set[UUID]:
    """The keys of those entries that do not hold the words that they were found by. One query."""
    keys = [entry.pk for entry in entries]
    wanted = search_text.phrases(typed)
    stored = Payload.objects.filter(entry_id__in=keys) if keys and wanted else Payload.objects.none()
    found = {one.entry_id: one for one in stored}
    return {key for key in keys if wanted and not _holds(found.get(key), wanted)}


def _holds(payload: Payload | None, wanted: list[search_text.Phrase]) -> bool:
    if payload is None:
        return False
    parts = [bytes(part) for part in (payload.args, payload.result) if part is not None]
    if sum(map(len, parts)) > LARGEST:
        return True
    try:
        texts = [payloads.decompress(part) for part in parts]
    except zlib.error:
        return False
    return search_text.holds(wanted, _words(texts))


def _words(texts: list[bytes]) -> list[str]:
    """The words as the search's follower takes them: of values, or of what is no whole JSON."""
    try:
        values = [payloads.unpack(text) for text in texts]
    except (ValueError, RecursionError):
        return search_text.words(" ".join(text.decode("ascii", "replace") for text in texts))
    return search_text.words_of(*values)
