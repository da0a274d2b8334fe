"""Whom keys sign for here."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings

from gate.errors import NotAllowed
from gate.people.key_assertions import Party

NAME = "Counterseal"


def ours() -> Party:
    """The party of COUNTERSEAL_ORIGIN. Raises NotAllowed when browsers give it no passkeys."""
    party = Party.of(settings.ORIGIN)
    if _is_address(party.rp_id):
        raise NotAllowed(f"Browsers keep no passkeys for {party.rp_id}; set COUNTERSEAL_ORIGIN to a name.")
    return party


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
