"""Where else the content of an entry stands. Upper layers say it; a redaction names every copy before it is confirmed.

A copy that can be cleared is cleared in the transaction of the redaction; one that cannot is named, with what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.urls import reverse

from audit import reading
from audit.kinds import Kind
from audit.models import Entry, Leaf


@dataclass(frozen=True)
class Copy:
    """A place where content of an entry stands, or may: where it is, and what becomes of it."""

    subject: str  # V-2041, A-48212
    url: str
    sentence: str


Finder = Callable[[Entry], Iterable[Copy]]
Clearer = Callable[[int], None]
Forgetter = Callable[[], None]
_finders: list[Finder] = []
_clearers: list[Clearer] = []
_forgetters: list[Forgetter] = []


def register(finder: Finder, clearer: Clearer | None = None, forgetter: Forgetter | None = None) -> None:
    """Have a layer above tell of its copies, clear those that it can, and forget those of months that were dropped.

    Safe to call again.
    """
    if finder not in _finders:
        _finders.append(finder)
    if clearer is not None and clearer not in _clearers:
        _clearers.append(clearer)
    if forgetter is not None and forgetter not in _forgetters:
        _forgetters.append(forgetter)


def clear(redaction: int) -> None:
    """Clear what can be cleared, in the transaction of a redaction that was just done."""
    for clearer in _clearers:
        clearer(redaction)


def forget() -> None:
    """Forget what repeats entries of dropped months, in the transaction of a retention that was just done."""
    for forgetter in _forgetters:
        forgetter()


def of(entry: Entry) -> list[Copy]:
    """Every place that is known."""
    return [*_other_halves(entry), *(copy for finder in _finders for copy in finder(entry)), *_exports(entry)]


def _other_halves(entry: Entry) -> Iterable[Copy]:
    """A call's start and its finish both hold its arguments."""
    if entry.call_id is None:
        return
    for other in Entry.objects.filter(call_id=entry.call_id).exclude(pk=entry.pk).order_by("seq"):
        sentence = "belongs to the same call and holds the same arguments; ask to redact it too."
        yield Copy(other.ref, _page(other), sentence)


def _exports(entry: Entry) -> Iterable[Copy]:
    """Exports that left with it. Nothing takes them back, so they are named."""
    left = list(Entry.objects.filter(kind=Kind.LOG_EXPORTED, parent__isnull=False, seq__gt=entry.seq).order_by("seq"))
    leaf = Leaf.objects.filter(entry_id=entry.pk).values_list("index", flat=True).first()
    contents = reading.contents_of(left)
    for export in left:
        if covers(contents[export.pk], entry, leaf):
            yield Copy(
                export.ref, _page(export), f"left with {export.actor} on {export.at:%d %b %Y}: {export.summary}."
            )


def covers(content: reading.Content, entry: Entry, leaf: int | None) -> bool:
    """Whether an export may have held an entry. One that cannot be read may."""
    asked, left = content.args, content.result
    if not isinstance(asked, dict) or not isinstance(left, dict) or not isinstance(asked.get("filter"), dict):
        return True
    only = asked["filter"].get("entry")
    if only is not None:
        return bool(only == entry.seq)
    first, last = left.get("first_leaf"), left.get("last_leaf")
    if leaf is None or first is None or last is None:
        return bool(left.get("entries"))
    return bool(first <= leaf <= last)


def _page(entry: Entry) -> str:
    return reverse("audit:entry", args=[entry.seq])
