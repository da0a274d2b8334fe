"""Who may change people, and when. Each rule raises its sentence."""

from __future__ import annotations

from django.db.models import QuerySet

from audit import seconding
from gate.errors import NotAllowed
from gate.people import permissions
from gate.people.models import Change, Person

Act = Change.Act
CHANGE = "people.change"
CHANGING = seconding.Act(
    CHANGE,
    no_role="Your role changes no people; ask an admin.",
    alone="You drafted this change, so another admin must confirm it.",
    lapsed="{}, who drafted this, is no admin any more; withdraw it and draft it anew.",
    noun="change",
)


def admins() -> QuerySet[Person]:
    """Everyone who may change people now."""
    return Person.objects.filter(is_active=True, role__in=permissions.MATRIX[CHANGE])


def check_may_change(by: Person) -> None:
    """Raises NotAllowed when the role of `by` changes no people, or they left."""
    seconding.check_may(CHANGING, by)


def check_fits(person: Person, act: str, role: str) -> None:
    """Raises NotAllowed when the change would change nothing, or would leave nobody to make changes."""
    if act == Act.ROLE and person.role == role:
        raise NotAllowed(f"{person} is {person.get_role_display()} already.")
    if act == Act.DEACTIVATE and not person.is_active:
        raise NotAllowed(f"{person} is deactivated already.")
    if act == Act.REACTIVATE and person.is_active:
        raise NotAllowed(f"{person} is active already.")
    if act in (Act.ROLE, Act.RESET) and not person.is_active:
        raise NotAllowed(f"{person} is deactivated; reactivate them first.")
    if act == Act.DEACTIVATE or (act == Act.ROLE and not permissions.allows(role, CHANGE)):
        _check_not_last(person)


def _check_not_last(person: Person) -> None:
    if list(admins()[:2]) == [person]:
        raise NotAllowed(f"{person} is the last admin; make somebody else an admin first.")


def check_none_waits(person: Person) -> None:
    """Raises NotAllowed when another change of the person waits: two at once would be confirmed blindly."""
    if person.changes.filter(status=Change.Status.WAITING).exists():
        raise NotAllowed(f"A change of {person} waits already; confirm or withdraw it first.")


def check_can_confirm(change: Change, by: Person) -> bool:
    """True when confirming would be solo. Raises NotAllowed with the sentence that says why it cannot be."""
    seconding.check_may_decide(CHANGING, change, by)
    check_fits(change.person, change.act, change.role)
    return seconding.check_second(CHANGING, change.drafted_by, by)
