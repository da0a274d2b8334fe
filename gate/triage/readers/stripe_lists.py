"""What every list of Stripe's API has in common: a page of objects, and whether there is another page."""

from __future__ import annotations

from gate.triage.grammars import stripe_search
from gate.triage.grammars.stripe_search import Clause
from gate.triage.readers.document import Answer, Step, Unreadable

LISTS = ("list", "search_result")
LARGEST_PAGE = 100  # that Stripe gives
# Arguments that choose nothing: how long a page is, and what is written out in it.
CHOOSE_NOTHING = frozenset(("limit", "expand"))
# What a list says when there is more of it than it holds, or could say so.
INCOMPLETE = ("has_more", "next_page", "total_count", "limit")


def check_is_whole(answer: Answer) -> None:
    """Raises Unreadable unless the answer is a list of Stripe's API that proves to be the whole of it."""
    result = answer.result
    result.one_of(LISTS, "object")
    listed = result.length("data")
    if result.flag("has_more") is not False:
        raise Unreadable("/has_more", "`has_more` says that the list goes on.", "true")
    if result.has("next_page") and not result.is_null("next_page"):
        raise Unreadable("/next_page", "`next_page` says that the list goes on.", "a next page")
    if result.has("total_count") and result.integer("total_count") != listed:
        raise Unreadable("/total_count", f"`total_count` is not the {listed} in the list.", f"{listed} listed")
    _check_page(answer, listed)


def _check_page(answer: Answer, listed: int) -> None:
    if not answer.args.has("limit"):
        return
    limit = answer.args.integer("limit")
    if limit > LARGEST_PAGE:
        raise Unreadable("/limit", f"Stripe gives no page of {limit}.", f"{limit}")
    if listed >= limit:
        raise Unreadable("/data", f"the page is full with {listed}, so there may be more.", f"{listed} of {limit}")


def check_is_live(answer: Answer, *at: Step) -> None:
    """Raises Unreadable for an object of Stripe's test mode, which is no money. A record may leave the mode out."""
    if answer.result.has(*at, "livemode") and answer.result.flag(*at, "livemode") is not True:
        raise Unreadable("", "`livemode` says that it is an object of the test mode.", "test mode")


def places(answer: Answer) -> tuple[tuple[Step, ...], ...]:
    """Where the objects of a list stand."""
    return tuple(("data", index) for index in range(answer.result.length("data")))


def asked_query(answer: Answer) -> tuple[Clause, ...]:
    """What a search asked for. Raises Unreadable for more than exact matches that must all hold."""
    return stripe_search.parse(answer.args.text("query"))


def id_at(answer: Answer, *path: Step) -> str:
    """The id that stands there, or that of the object which `expand` put in its place."""
    if answer.result.is_text(*path):
        return answer.result.text(*path)
    return answer.result.text(*path, "id")
