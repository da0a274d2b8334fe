"""What is compared when all is quiet: what the clients were told, both databases, and what the product shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.kills.diary import Diary
from tests.kills.pages import Browser
from tests.kills.product import Product


@dataclass(frozen=True)
class Scene:
    """What is compared: the product, what clients were told, and a browser to see what it shows."""

    product: Product
    diary: Diary
    browser: Browser
    before: dict[int, tuple[int, int]]  # of each job, its attempts and its changes, when the clients began

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.product.rows(statement, values)

    def shop(self, statement: str) -> list[tuple[Any, ...]]:
        return self.product.rows(statement, database="shop")


def jobs(product: Product) -> dict[int, tuple[int, int]]:
    """Of each of the shop's jobs its attempts, and how often it was changed."""
    found = product.rows(
        "select job_id, attempts, (select count(*) from shop.job_events e where e.job_id = j.job_id) from shop.jobs j",
        database="shop",
    )
    return {job: (attempts, changes) for job, attempts, changes in found}
