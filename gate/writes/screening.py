"""A stored write, screened again by each who is about to run it: the row may not be what was proposed."""

from __future__ import annotations

from gate.writes import parameters
from gate.writes.errors import Unfit
from gate.writes.models import WriteRequest
from gate.writes.parameters import Parameter
from gate.writes.statement import Statement, canonical


def screened(write: WriteRequest) -> tuple[Statement, list[Parameter]]:
    """What the write runs. Raises Unfit when that could not be proposed, or is not exactly what its page shows."""
    given = parameters.read(write.parameters)
    statement = canonical(write.statement, len(given))
    if (statement.text, statement.verb, statement.table) != (write.statement, write.verb, write.table):
        raise Unfit(f"The statement of {write.ref} is not in the form that is shown and run.")
    return statement, given
