"""What must be true of a credential that only reads: every fact of a certificate, for a server of some version.

The facts themselves stand in facts_role (what the role is), facts_rights (what it may change), facts_code (what it may
run) and facts_server (what is around it). Each is found in PostgreSQL's catalogs by a query that names the contrary.
"""

from __future__ import annotations

from evidence import facts_code, facts_rights, facts_role, facts_server
from evidence.stating import Fact, Weight

FACTS = (*facts_role.FACTS, *facts_rights.FACTS, *facts_code.FACTS, *facts_server.FACTS)
# What is asked of a superuser: every privilege is true for one, so the other facts would say nothing.
OF_SUPERUSERS = ("role_exists", "superuser", "ownership")
# What an admin may leave to later lines where a server does not let it be mended (managed services): see sources.check.
ACCEPTABLE = frozenset(fact.name for fact in FACTS if fact.weight is Weight.LAYER)


def of_server(version: int) -> list[Fact]:
    """The facts that a server of this version number (180004 for 18.4) knows."""
    return [fact for fact in FACTS if fact.since <= version < fact.until]
