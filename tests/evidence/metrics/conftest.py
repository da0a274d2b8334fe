"""The source that the examples read, as a definition, with their prices, and the two who put it in force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from audit.models import Definition
from tests.evidence import bodies
from tests.evidence.metrics import examples

Make = Callable[..., Any]


@pytest.fixture
def shop(db: None, define: Make) -> Definition:
    """The source that the examples read, and their prices."""
    define("valuation", "prices", examples.PRICES)
    return define("source", "shop", bodies.source(schema="shop_read"))  # type: ignore[no-any-return]


@pytest.fixture
def ada(shop: Definition) -> Any:
    """An admin who drafts."""
    return shop.drafted_by


@pytest.fixture
def mia(shop: Definition) -> Any:
    """The other admin."""
    return shop.activated_by
