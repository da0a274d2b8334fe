"""Who may do what to an incident, and when. Each rule raises its sentence."""

from __future__ import annotations

from gate.errors import NotAllowed, Stale
from gate.people.models import Person
from gate.triage import guards
from gate.triage.models import Draft, Incident, Investigation

RUNNING, SUBMITTED = Investigation.Status.RUNNING, Investigation.Status.SUBMITTED


def check_is_seen(incident: Incident, seen_version: int) -> None:
    """Raises Stale when someone decided about the incident since the person saw it."""
    if incident.version != seen_version:
        raise Stale(
            f"{incident.ref} was changed while you were reading. Nothing of yours was recorded; look again.",
            seen=seen_version, current=incident.version,
        )  # fmt: skip


def check_can_close(person: Person, incident: Incident) -> None:
    """Raises NotAllowed while anything about the incident is undecided."""
    if not person.has_perm("gate.close_incident"):
        raise NotAllowed("Your role closes no incidents; someone on call does.")
    if incident.status == Incident.Status.CLOSED:
        raise NotAllowed(f"{incident.ref} is closed already; reopen it if it came back.")
    looks = incident.investigations
    if looks.filter(status=RUNNING).exists():
        raise NotAllowed(f"{incident.ref} is being investigated; stop the investigation first, or wait for its draft.")
    if looks.filter(status=SUBMITTED).exists():
        raise NotAllowed(f"The verdict of {incident.ref} is being rendered; review its draft in a moment.")
    draft = Draft.objects.filter(investigation__incident=incident, status__in=guards.OPEN).first()
    if draft is not None:
        raise NotAllowed(f"{draft.ref} waits for review; decide about it, and that decides about {incident.ref}.")


def check_can_reopen(person: Person, incident: Incident) -> None:
    """Raises NotAllowed unless the incident is closed and the person may."""
    if not person.has_perm("gate.close_incident"):
        raise NotAllowed("Your role reopens no incidents; someone on call does.")
    if incident.status != Incident.Status.CLOSED:
        raise NotAllowed(f"{incident.ref} is not closed, so there is nothing to reopen.")


def check_can_discuss(person: Person) -> None:
    """Raises NotAllowed when the person's role only reads."""
    if not person.has_perm("gate.discuss_incident"):
        raise NotAllowed("Your role reads incidents; someone on call or an admin comments on and assigns them.")


def check_can_assign(person: Person, incident: Incident, to: Person | None) -> None:
    """Raises NotAllowed when the incident is over, or nobody is there who could hold it."""
    check_can_discuss(person)
    if incident.status == Incident.Status.CLOSED:
        raise NotAllowed(f"{incident.ref} is closed; reopen it before you assign it.")
    if to is not None and not (to.is_active and to.has_perm("gate.discuss_incident")):
        raise NotAllowed(f"{to} cannot work on incidents; assign it to someone on call or an admin.")


def check_can_stop(person: Person, investigation: Investigation) -> None:
    """Raises NotAllowed unless the investigation runs and the person may."""
    if not person.has_perm("gate.stop_investigation"):
        raise NotAllowed("Your role stops no investigations; someone on call or an admin does.")
    if investigation.status != RUNNING:
        raise NotAllowed("This investigation is over already, so there is nothing to stop.")
