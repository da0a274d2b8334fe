"""Filters of the list that people gave names: their own, and what others share."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from audit.browse import Filters
from audit.models import SavedView
from audit.refusing import NotAllowed

MOST_OWN = 30
MOST_SHOWN = 60
LONGEST_NAME = 60


def query_of(filters: Filters) -> str:
    """What of an address a view keeps: all but the jump to a time, which is a place and no filter."""
    return filters.link(time="")


def seen_by(person: Any) -> list[SavedView]:
    """A person's own views, and those that others share."""
    mine = SavedView.objects.filter(Q(owner=person) | Q(is_shared=True))
    return list(mine.select_related("owner").order_by("name", "pk")[:MOST_SHOWN])


@transaction.atomic
def save(filters: Filters, *, name: str, is_shared: bool, by: Any) -> SavedView:
    """Keep a filter under a name. Raises NotAllowed."""
    name = " ".join(name.replace("\0", "").split())
    check_can_save(filters, name, by)
    try:
        with transaction.atomic():
            return SavedView.objects.create(name=name, query=query_of(filters), is_shared=is_shared, owner=by)
    except IntegrityError as taken:
        raise NotAllowed(f"You have a view named {name} already; choose another name.") from taken


def check_can_save(filters: Filters, name: str, by: Any) -> None:
    """Raises NotAllowed with the sentence that says why nothing is saved."""
    if not name or len(name) > LONGEST_NAME:
        raise NotAllowed(f"Give the view a name of at most {LONGEST_NAME} letters.")
    if not query_of(filters):
        raise NotAllowed("Nothing is filtered, so there is nothing to save; Everything shows it.")
    if SavedView.objects.filter(owner=by).count() >= MOST_OWN:
        raise NotAllowed(f"You have {MOST_OWN} views already; remove one first.")


def remove(pk: int, *, by: Any) -> None:
    """Remove a view of one's own. Raises SavedView.DoesNotExist for everything else."""
    deleted, _ = SavedView.objects.filter(pk=pk, owner=by).delete()
    if not deleted:
        raise SavedView.DoesNotExist(f"You have no view {pk}.")
