from __future__ import annotations

from typing import Any

import pytest

from gate.writes import targets
from tests.writes.conftest import BODY


def test_a_whole_body_is_taken() -> None:
    targets.check_body("shop", BODY)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "mysql"), ("credential_env", "postgresql://u:p@h/db"), ("credential_env", 1), ("environment", ""),
        ("ledger", "gate_ledger"), ("ledger", "shop.jobs"), ("ledger", 'shop"; drop.gate_ledger'), ("policy", None),
    ],
)  # fmt: skip
def test_a_body_that_cannot_be_used_is_refused(key: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        targets.check_body("shop", {**BODY, key: value})


@pytest.mark.parametrize("body", [{}, {**BODY, "more": 1}, {key: BODY[key] for key in list(BODY)[1:]}])
def test_a_body_has_exactly_its_keys(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="exactly these keys"):
        targets.check_body("shop", body)
