"""What a target may say for admission, and what counts where it says nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from gate.admission import freezing
from gate.writes import target_admission, targets
from tests.writes.conftest import BODY

WINDOW = {"from": "2026-12-24T00:00:00Z", "until": "2026-12-27T00:00:00Z", "why": "The holidays"}


@pytest.mark.parametrize(
    ("kind", "said", "why"),
    [
        ("postgresql", [], "some of these keys: freeze, labels, policy"), ("postgresql", {"more": 1}, "these keys"),
        ("postgresql", {"effect": "changes"}, "these keys"), ("http", {"labels": {}}, "these keys"),
        ("postgresql", {"policy": "a b"}, "the name of a policy"), ("postgresql", {"policy": None}, "name of a policy"),
        ("postgresql", {"labels": {"jobs": {}}}, "labels says of each table"),
        ("postgresql", {"labels": {"shop.jobs": {"rows": {}}}}, "labels says"),
        ("postgresql", {"labels": {"shop.jobs": {"columns": {"state": "fine"}}}}, "operational"),
        ("postgresql", {"labels": {"shop.jobs": {"columns": ["state"]}}}, "labels says"),
        ("http", {"effect": "reads"}, "effect is one of creates, changes, removes"),
        ("http", {"moves_money": "no"}, "true or false"), ("http", {"honors_key": None}, "true or false"),
        ("http", {"undone_by": 1}, "the name of a target"),
        ("http", {"freeze": {}}, "list of windows"), ("http", {"freeze": [WINDOW] * 51}, "At most 50"),
        ("http", {"freeze": [{**WINDOW, "why": ""}]}, "a reason"), ("http", {"freeze": ["now"]}, "list of windows"),
        ("http", {"freeze": [{**WINDOW, "until": WINDOW["from"]}]}, "before the second"),
        ("http", {"freeze": [{**WINDOW, "from": "2026-12-24T00:00:00"}]}, "with their zone"),
        ("http", {"freeze": [{**WINDOW, "from": "soon"}]}, "two moments"),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_refused_with_a_sentence(kind: str, said: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        target_admission.check(kind, said)


def test_a_targets_body_may_hold_it() -> None:
    said = {"policy": "restarts", "freeze": [WINDOW], "labels": {"shop.jobs": {"columns": {"state": "operational"}}}}
    targets.check_body("shop", {**BODY, "admission": said})
    with pytest.raises(ValueError, match="labels says"):
        targets.check_body("shop", {**BODY, "admission": {"labels": []}})
    found = target_admission.of({**BODY, "admission": said})
    assert (found.policy, found.label("shop.jobs", "columns", "state")) == ("restarts", "operational")
    assert [found.freeze[0].covers(datetime(2026, 12, day, tzinfo=UTC)) for day in (23, 24, 26, 27)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_what_nobody_said_counts_as_the_worse() -> None:
    found = target_admission.of(BODY)
    assert (found.policy, target_admission.of({**BODY, "kind": "http"}).policy) == ("sql-writes", "http-actions")
    assert {found.label("shop.jobs", what, "state") for what in ("columns", "triggers")} == {"user_data"}
    assert (found.moves_money, found.honors_key, found.effect, found.undone_by) == (True, None, None, None)
    assert freezing.of(()) == []
