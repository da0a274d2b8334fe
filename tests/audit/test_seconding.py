"""The frame of what takes two people, for each of its acts: the second hand is another one, and it decides once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from audit import overriding, redacting, seconding, twohands
from audit.refusing import NotAllowed
from audit.seconding import Act
from gate.people import guards

pytestmark = pytest.mark.django_db
ACTS = {
    "redaction": redacting.ACT,
    "override": overriding.ACT,
    "change of a person": guards.CHANGING,
    "definition": twohands.KINDS["tool"].act,
}
each_act = pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)


@pytest.fixture
def ada(make_person: Callable[..., Any]) -> Any:
    return make_person("ada", "admin")


@each_act
def test_another_is_the_second_hand(act: Act, ada: Any, make_person: Callable[..., Any]) -> None:
    assert seconding.check_second(act, ada, make_person("mia", "admin")) is False


@each_act
@pytest.mark.parametrize(("role", "is_active"), [("on_call", True), ("auditor", True), ("admin", False)])
def test_who_is_alone_is_solo_where_that_is_allowed(
    act: Act, ada: Any, make_person: Callable[..., Any], role: str, is_active: bool
) -> None:
    other = make_person("mia", role)
    other.is_active = is_active
    other.save(update_fields=["is_active"])
    if act.allows_solo:
        assert seconding.check_second(act, ada, ada) is True
        return
    with pytest.raises(NotAllowed, match="another admin must confirm"):
        seconding.check_second(act, ada, ada)


@each_act
def test_nobody_is_their_own_second_hand_while_there_is_another(
    act: Act, ada: Any, make_person: Callable[..., Any]
) -> None:
    make_person("mia", "admin")
    with pytest.raises(NotAllowed) as refusal:
        seconding.check_second(act, ada, ada)
    assert str(refusal.value) == act.alone


@each_act
def test_what_somebody_asked_who_may_not_any_more_is_void_unless_it_is_a_draft(
    act: Act, ada: Any, make_person: Callable[..., Any]
) -> None:
    former = make_person("mia", "viewer")
    if not act.lapsed:
        assert seconding.check_second(act, former, ada) is False
        return
    with pytest.raises(NotAllowed, match=r"^Mia, who "):
        seconding.check_second(act, former, ada)


@each_act
@pytest.mark.parametrize("role", ["viewer", "on_call", "auditor"])
def test_other_roles_neither_ask_nor_decide(act: Act, make_person: Callable[..., Any], role: str) -> None:
    somebody = make_person("noa", role)
    with pytest.raises(NotAllowed) as refusal:
        seconding.check_may(act, somebody)
    assert str(refusal.value) == act.no_role
    with pytest.raises(NotAllowed):
        seconding.check_may_decide(act, SimpleNamespace(status="waiting"), somebody)


@each_act
@pytest.mark.parametrize("status", ["confirmed", "withdrawn"])
def test_it_is_decided_once(act: Act, ada: Any, status: str) -> None:
    seconding.check_may_decide(act, SimpleNamespace(status="waiting"), ada)
    with pytest.raises(NotAllowed, match=f"^This {act.noun} was {status} already"):
        seconding.check_may_decide(act, SimpleNamespace(status=status), ada)


@pytest.mark.django_db(transaction=True)
def test_a_turn_is_one_persons_at_a_time(cluster_socket: Path) -> None:
    free = "select pg_try_advisory_xact_lock(hashtextextended('a turn', 0))"
    name = connection.settings_dict["NAME"]
    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname=name, autocommit=True) as other:
        with transaction.atomic():
            seconding.lock("a turn")
            assert other.execute(free).fetchone() == (False,)
        assert other.execute(free).fetchone() == (True,)
