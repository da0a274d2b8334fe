"""Everything that the audit list shows."""

from __future__ import annotations

from typing import Any

from audit import browse, choices, saved_views, search, search_checking
from audit.browse import Filters, Page


def context_of(
    person: Any, filters: Filters, *, before: int | None = None, after: int | None = None, is_following: bool = False
) -> dict[str, Any]:
    """What the page at these filters shows; a filter that cannot be understood is `problem`."""
    progress = search.progress()
    context: dict[str, Any] = {"filters": filters, "views": browse.VIEWS, "problem": None, "progress": progress}
    try:
        page = browse.page(filters, before=before, after=after)
    except browse.BadFilter as problem:
        page, context["problem"] = Page(), problem
    context["disagreeing"] = search_checking.disagreeing(page.entries, filters.q) if filters.q else set()
    context["page"], context["saved_views"] = page, saved_views.seen_by(person)
    query = context["saved_query"] = saved_views.query_of(filters)
    shown = context["saved_views"]
    context["own_views"] = [view for view in shown if view.query == query and view.owner_id == person.pk]
    context["is_following"] = is_following and not context["problem"]
    # What came while the page was read is on it already, or is told of as new.
    context["newest_shown"] = page.entries[0].seq if page.entries else progress.newest
    if not page.entries and not context["problem"]:
        context["ways_out"] = browse.ways_out(filters)
    return context


def with_form(context: dict[str, Any]) -> dict[str, Any]:
    """What the whole page has beside the rows: what the filters can be set to."""
    return {**context, "choices": choices.of(context["filters"])}
