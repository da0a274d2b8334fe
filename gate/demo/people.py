"""Who works at the shop, and the tokens of its agent and its monitor: made as the operator's commands make them."""

from __future__ import annotations

from collections.abc import Mapping

from audit import agents
from gate.people import actions
from gate.people.models import Person
from gate.people.operator import actor
from gate.triage import intake
from gate.triage.models import IntakeToken

AGENT, MONITOR = "triage-agent", "shop-monitor"
OWNER = "jonas"
Role = Person.Role
# The first is on-call and owns no agent, so she may approve what the agent proposes.
STAFF = {
    "ada": ("Ada Okafor", Role.ON_CALL),
    "mia": ("Mia Lindqvist", Role.ADMIN),
    "jonas": ("Jonas Weber", Role.ADMIN),
    "vera": ("Vera Sato", Role.VIEWER),
}


def draw_passwords() -> dict[str, str]:
    """A password for each of the staff. They are kept before they are used, so an interrupted start can go on."""
    return {name: actions.draw_password() for name in STAFF}


def are_all_there(names: Mapping[str, str]) -> bool:
    """Whether each of these people can sign in here."""
    return Person.objects.filter(username__in=names).count() == len(names)


def are_some_there() -> bool:
    """Whether any of the staff was added before."""
    return Person.objects.filter(username__in=STAFF).exists()


def add_missing(passwords: Mapping[str, str]) -> None:
    """Add whoever is not there yet."""
    known = set(Person.objects.filter(username__in=passwords).values_list("username", flat=True))
    for name, password in passwords.items():
        if name not in known:
            full_name, role = STAFF[name]
            actions.add_person(name, role=role, full_name=full_name, password=password, by=actor())


def issue_agent_token() -> str:
    """A token for the shop's agent; Jonas answers for it."""
    owner = Person.objects.get(username=OWNER)
    return agents.issue_token(AGENT, owner=owner, scopes=list(agents.SCOPES), label="demo", by=actor())


def issue_intake_token() -> str:
    """A token for the shop's monitor."""
    # A start that was interrupted may have issued one that nobody kept.
    lost = IntakeToken.objects.filter(name__startswith=MONITOR).count()
    return intake.issue_token(f"{MONITOR}-{lost + 1}" if lost else MONITOR, actor())
