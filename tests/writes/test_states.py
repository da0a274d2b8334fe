from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from gate.writes import queue, state_words, states
from gate.writes.models import WriteRequest
from tests.writes.conftest import body

Status = WriteRequest.Status


def test_every_status_is_in_the_table_and_can_be_reached() -> None:
    assert set(states.MOVES) == set(Status) == set(state_words.STATES)
    reached = set().union(*states.MOVES.values())
    assert reached | {Status.PROPOSED} == set(Status)


def test_what_is_over_has_no_way_out() -> None:
    over = {status for status in Status if not states.MOVES[status]}
    assert over == set(Status) - {*queue.NOT_OVER}


def test_nothing_goes_to_executed_but_through_a_claim() -> None:
    assert {status for status in Status if Status.EXECUTED in states.MOVES[status]} == {Status.EXECUTING}
    assert {status for status in Status if Status.APPROVED in states.MOVES[status]} == {Status.WAITING}


@pytest.mark.parametrize(
    ("given", "needed", "words"),
    [
        (0, 1, "◌ Waits for an approval"), (0, 2, "◌ Waits for 2 approvals"), (1, 2, "◐ 1 of 2 approved"),
        (2, 3, "◐ 2 of 3 approved"),
    ],
)  # fmt: skip
def test_how_far_it_came_reads_well(given: int, needed: int, words: str) -> None:
    state = state_words.of_quorum(given, needed)
    assert f"{state.glyph} {state.words}" == words


@pytest.mark.django_db
def test_the_inbox_says_the_same_as_the_list(
    client: Client, define: Any, previewed: Any, approve: Any, mia: Any
) -> None:
    client.force_login(mia)
    previewed()
    define("target", "shop", body(approvers={"on_call": 2}))
    approve(previewed("update shop.jobs set state = $1 where job_id = 8", [{"t": "text", "v": "queued"}]))
    for path in ("/inbox/", "/writes/"):
        page = " ".join(client.get(path).content.decode().split())
        said = (page.count("Waits for an approval"), page.count("1 of 2 approved"), page.count("expires in 3 h"))
        assert (path, said, "0 of" in page) == (path, (1, 1, 2), False)


@pytest.mark.django_db
def test_a_move_that_is_not_in_the_table_is_refused(propose: Any) -> None:
    write = propose()
    with pytest.raises(ValueError, match="cannot go from waiting to executed"):
        states.move(write, Status.EXECUTED)
    states.move(write, Status.APPROVED)
    write.refresh_from_db()
    assert (write.status, write.version) == ("approved", 3)
