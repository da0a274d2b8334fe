"""The audit list: filters, keyset pages, capped counts. It reads headers alone, never a payload."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Q, QuerySet

from audit import search, search_text
from audit.kinds import Kind
from audit.models import Entry
from audit.search import Hits

PAGE = 50
MOST_COUNTED = 10_000
MOST_WALKED = 1_000  # of what one filter finds, looked at for the others; further ones are on the pages after it
MOST_PROMISED = 1_000
MOST_NEW = 1_000
SHOWN = ("id", "seq", "at", "kind", "actor_kind", "actor", "subject", "summary", "tool", "status", "truncated", "error")
TIME_FORMS = (
    ("%Y-%m-%d %H:%M:%S", timedelta(seconds=1)),
    ("%Y-%m-%d %H:%M", timedelta(minutes=1)),
    ("%Y-%m-%d", timedelta(days=1)),
    ("%d %b %Y %H:%M:%S", timedelta(seconds=1)),
    ("%d %b %Y %H:%M", timedelta(minutes=1)),
    ("%d %b %Y", timedelta(days=1)),
)


@dataclass(frozen=True)
class View:
    """A filter worth a name."""

    slug: str
    title: str
    kinds: tuple[Kind, ...]


def _kinds(*starts: str) -> tuple[Kind, ...]:
    return tuple(kind for kind in Kind if str(kind.value).startswith(starts))


VIEWS = (
    View("writes-and-refusals", "Writes and refusals", _kinds("write.", "call.refused")),
    View("agents-refused", "What agents were refused", _kinds("call.refused")),
    View("rules-and-policies", "Changes of rules and policies", _kinds("definition.")),
)
FILTERS = ("q", "view", "agent", "kind", "tool", "incident", "subject", "status", "time")


class BadFilter(ValueError):
    """A sentence about what was typed, with the field that it was typed into."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name = name


@dataclass(frozen=True)
class Filters:
    """What the address asks for, as it was typed; empty text asks for nothing."""

    q: str = ""  # words of arguments and results
    view: str = ""
    agent: str = ""  # whoever acted: an agent, a person or a process
    kind: str = ""
    tool: str = ""
    incident: str = ""
    subject: str = ""
    status: str = ""
    time: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filters:
        """The filters of an address. Text that no entry can hold is taken out, so that it cannot fail a query."""
        return cls(**{name: query.get(name, "").replace("\0", "").strip()[:500] for name in FILTERS})

    @property
    def is_empty(self) -> bool:
        return self == Filters()

    def link(self, **changes: str) -> str:
        """The query of an address with these filters and some changed."""
        values = {name: changes.get(name, getattr(self, name)) for name in FILTERS}
        rest = {name: value for name, value in changes.items() if name not in FILTERS}
        return urlencode({name: value for name, value in {**values, **rest}.items() if value})


@dataclass(frozen=True)
class Page:
    """One page of entries, newest first, with the ways on."""

    entries: list[Entry] = field(default_factory=list)
    older: int | None = None  # the page before this number
    newer: int | None = None  # the page after this number
    counted: str = ""

    @property
    def days(self) -> Iterator[tuple[date, list[Entry]]]:
        """The entries by day, in UTC: the log knows no other zone."""
        for day, entries in groupby(self.entries, key=lambda entry: entry.at.astimezone(UTC).date()):
            yield day, list(entries)


def matching(filters: Filters) -> QuerySet[Entry]:
    """The entries that match, wherever the page stands. Raises BadFilter."""
    found = _by_header(filters)
    return found.filter(search.holds(filters.q)) if filters.q else found


def _by_header(filters: Filters) -> QuerySet[Entry]:
    """The entries that match in all but their words. Raises BadFilter, also for words."""
    if filters.q and not search_text.question(filters.q):
        raise BadFilter("q", "Type a word, a number or an id to look for.")
    found = Entry.objects.all()
    if filters.view:
        found = found.filter(kind__in=_view(filters.view).kinds)
    named = {"actor": filters.agent, "kind": filters.kind, "tool": filters.tool, "subject": filters.subject}
    found = found.filter(**{name: value for name, value in named.items() if value})
    if filters.incident:
        found = found.filter(incident_id=_number("incident", filters.incident))
    return found.filter(_status(filters.status))


def _view(slug: str) -> View:
    for view in VIEWS:
        if view.slug == slug:
            return view
    raise BadFilter("view", "There is no such view.")


def _number(name: str, typed: str) -> int:
    digits = typed.removeprefix("I-")
    if not digits.isdecimal() or len(digits) > 18:
        raise BadFilter(name, "An incident is a number, like 318 or I-318.")
    return int(digits)


def _status(status: str) -> Q:
    if not status:
        return Q()
    not_ok = ~Q(status="ok")  # named also beside an exact status: the index of what went wrong is partial
    if status == "not-ok":
        return not_ok
    return Q(status=status) if status == "ok" else Q(status=status) & not_ok


def page(filters: Filters, *, before: int | None = None, after: int | None = None) -> Page:
    """A page below `before` or above `after`; else from the filters' time, or the newest. Raises BadFilter."""
    if before is None and after is None and filters.time:
        before = position_of(_moment(filters.time))
    hits = _hits(filters, before, after)
    headers = _among(filters, hits).only(*SHOWN)
    shown = _above(headers, after) if after is not None else _below(headers, before)
    if hits and hits.is_more:
        shown = _with_way_on(shown, hits, is_up=after is not None)
    # Further down, it was looked from there on only: a count of that would say little.
    is_partial = hits is not None and (before is not None or after is not None)
    return shown if is_partial else replace(shown, counted=_count(filters, hits))


def _hits(filters: Filters, before: int | None, after: int | None) -> Hits | None:
    """The numbers of entries to look at, near where the page stands; None when an index answers all of the filters."""
    if filters.q:
        return search.above(filters.q, after) if after is not None else search.below(filters.q, before)
    lead = _lead(filters)
    return None if lead == replace(filters, time="") else _walked(lead, before, after)


# The filters that an index finds in the order of the page, the choosier ones first.
_LEADS = (("incident",), ("subject",), ("agent", "tool"), ("tool",), ("status",), ("agent",), ("kind",), ("view",))


def _lead(filters: Filters) -> Filters:
    """The part of the filters that one index answers alone."""
    # Whatever went wrong has an index, each way to go wrong has none. Most of it went well.
    status = "" if filters.status in ("", "ok") else "not-ok"
    known = replace(filters, status=status)
    names = next((names for names in _LEADS if all(getattr(known, name) for name in names)), ())
    return Filters(**{name: getattr(known, name) for name in names})


def _walked(lead: Filters, before: int | None, after: int | None) -> Hits:
    """The nearest entries that one filter finds.

    Two filters that each find many may find none together, or none for long: whatever the planner did, it would read
    all of one of them. So the others are given a part that is small enough.
    """
    found = _by_header(lead).values_list("seq", flat=True)
    if after is not None:
        walk = found.filter(seq__gt=after).order_by("seq")
    else:
        walk = (found if before is None else found.filter(seq__lt=before)).order_by("-seq")
    seqs = list(walk[:MOST_WALKED])
    return Hits(seqs, is_more=len(seqs) == MOST_WALKED)


def _among(filters: Filters, hits: Hits | None) -> QuerySet[Entry]:
    found = _by_header(filters)
    return found if hits is None else found.filter(search.among(hits.seqs))


def _above(headers: QuerySet[Entry], after: int) -> Page:
    rows = list(headers.filter(seq__gt=after).order_by("seq")[: PAGE + 1])
    entries, is_more = list(reversed(rows[:PAGE])), len(rows) > PAGE
    return Page(entries, _last(entries), _first(entries) if is_more else None)


def _below(headers: QuerySet[Entry], before: int | None) -> Page:
    below = headers.filter(seq__lt=before) if before is not None else headers
    rows = list(below.order_by("-seq")[: PAGE + 1])
    entries, is_more = rows[:PAGE], len(rows) > PAGE
    newer = _first(entries, before - 1 if before else None) if before is not None else None
    return Page(entries, _last(entries) if is_more else None, newer)


def _with_way_on(shown: Page, hits: Hits, *, is_up: bool) -> Page:
    """There are more entries than were looked at: the page goes on behind the last of those."""
    if is_up:
        return shown if shown.newer else replace(shown, newer=max(hits.seqs))
    return shown if shown.older else replace(shown, older=min(hits.seqs))


def _first(entries: list[Entry], otherwise: int | None = None) -> int | None:
    return entries[0].seq if entries else otherwise


def _last(entries: list[Entry]) -> int | None:
    return entries[-1].seq if entries else None


def _count(filters: Filters, hits: Hits | None) -> str:
    """How many match, in words; counting stops early, for an exact count of a large log takes longer than the page."""
    if hits and replace(filters, q="", time="").is_empty:
        number = len(hits.seqs)
    else:
        number = _among(filters, hits).order_by()[: MOST_COUNTED + 1].count()
    if number > MOST_COUNTED:
        return f"{MOST_COUNTED:,}+ match"
    if hits and hits.is_more:
        return f"{number:,}+ match"
    return f"{number:,} match{'es' if number == 1 else ''}"


def new_since(filters: Filters, number: int) -> str:
    """How many entries that match came after a number, in words; empty when none did. Raises BadFilter."""
    count = matching(filters).filter(seq__gt=number).order_by()[: MOST_NEW + 1].count()
    return f"{MOST_NEW:,}+" if count > MOST_NEW else f"{count:,}" if count else ""


WITHOUT = {
    "kind": "Any event", "agent": "Anyone", "tool": "Any tool", "incident": "Any incident", "subject": "Any subject",
    "status": "Any status", "view": "Every view", "q": "Any words",
}  # fmt: skip


def ways_out(filters: Filters) -> Iterator[tuple[str, str, str]]:
    """The filters that hide something: its words, the address's query without it, and how much that would show."""
    hits = _hits(filters, None, None)
    for name, words in WITHOUT.items():
        if getattr(filters, name):
            wider = replace(filters, **{name: ""})
            near = hits if wider.q else _hits(wider, None, None)
            number = _among(wider, near).order_by()[: MOST_PROMISED + 1].count()
            if number:
                yield words, wider.link(), f"{number:,}" if number <= MOST_PROMISED else f"more than {MOST_PROMISED:,}"


def _moment(typed: str) -> datetime:
    """The first moment after the second, minute or day that was typed, in UTC. Raises BadFilter."""
    plain = re.sub(r"(?<=\d)T(?=\d)", " ", typed.removesuffix("UTC").removesuffix("Z").strip())
    for form, length in TIME_FORMS:
        try:
            return datetime.strptime(plain, form).replace(tzinfo=UTC) + length
        except (ValueError, OverflowError):
            continue
    raise BadFilter("time", "Write the time in UTC like 2026-11-29 10:48, or 29 Nov 2026; a day is needed.")


def position_of(moment: datetime) -> int:
    """A number above all entries before `moment`: their keys begin with their time, so the primary key finds it."""
    milliseconds = max(0, int(moment.timestamp() * 1000))
    key = UUID(int=milliseconds << 80)
    newest = Entry.objects.filter(id__lt=key).order_by("-id").values_list("seq", flat=True).first()
    return 0 if newest is None else newest + 1
