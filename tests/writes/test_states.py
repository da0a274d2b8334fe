from __future__ import annotations

from typing import Any

import pytest

from gate.writes import presenting, queue, states
from gate.writes.models import WriteRequest

Status = WriteRequest.Status


def test_every_status_is_in_the_table_and_can_be_reached() -> None:
    assert set(states.MOVES) == set(Status) == set(presenting.STATES)
    reached = set().union(*states.MOVES.values())
    assert reached | {Status.PROPOSED} == set(Status)


def test_what_is_over_has_no_way_out() -> None:
    over = {status for status in Status if not states.MOVES[status]}
    assert over == set(Status) - {*queue.NOT_OVER}


def test_nothing_goes_to_executed_but_through_a_claim() -> None:
    assert {status for status in Status if Status.EXECUTED in states.MOVES[status]} == {Status.EXECUTING}
    assert {status for status in Status if Status.APPROVED in states.MOVES[status]} == {Status.WAITING}


@pytest.mark.django_db
def test_a_move_that_is_not_in_the_table_is_refused(propose: Any) -> None:
    write = propose()
    with pytest.raises(ValueError, match="cannot go from waiting to executed"):
        states.move(write, Status.EXECUTED)
    states.move(write, Status.APPROVED)
    write.refresh_from_db()
    assert (write.status, write.version) == ("approved", 2)
