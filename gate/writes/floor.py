"""The least that the writer itself asks for, whatever a target's policy says.

Targets and their policies are rows that the people's plane writes. Whoever takes that plane over could put a weaker
policy in force, or name a credential under a new target; this is set where the credential is, in the writer's own
environment.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings

from gate.writes.models import Decision
from gate.writes.targets import WriteTarget


class TooLittle(Exception):
    """Fewer people approved, or otherwise, than the writer asks for; the sentence says what it asks for."""


def check(target: WriteTarget, decisions: Sequence[Decision]) -> None:
    """Raises TooLittle when a target's credential asks for more than these approvals."""
    least = settings.WRITE_FLOOR.get(target.credential_env)
    if least is None:
        return
    people = {one.by_id for one in decisions if one.method == "passkey"}
    if len(people) < least or any(one.method != "passkey" for one in decisions):
        raise TooLittle(f"The writer asks for {least} with a passkey wherever {target.credential_env} is used.")
