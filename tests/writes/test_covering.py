"""Which consequences nobody asks about: over every target, tool and policy that is in force, and over no other."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from audit import twohands
from audit.models import Definition
from gate.admission.coverage import FAMILIES
from gate.writes import covering
from tests.admission.test_api import body
from tests.writes.conftest import BODY

pytestmark = pytest.mark.django_db


def line(name: str) -> covering.Line:
    return next(one for one in covering.coverage().lines if one.name == name)


def cells(found: covering.Line) -> dict[str, list[str]]:
    return {family: list(cell.questions) for family, cell in zip(FAMILIES, found.cells, strict=True)}


def test_a_target_is_covered_by_what_its_own_policy_asks(define: Any, make_person: Any) -> None:
    define("target", "shop", BODY)
    assert all(cell.is_empty for cell in line("shop").cells)
    assert (line("shop").policy, line("shop").is_in_force) == ("sql-writes", False)
    define("policy", "sql-writes", body("sql-writes"))
    found = cells(line("shop"))
    assert found["user_data"] == ["user_data"]
    assert found["loss"] == ["keyed", "reversible", "rows_touched"]
    assert (found["money"], found["disclosure"]) == ([], [])
    named = {**BODY, "admission": {"policy": "other"}}
    twohands.activate(
        twohands.draft("target", "shop", named, by=make_person("a1", "admin"), reason="For a test.").pk,
        by=make_person("a2", "admin"),
    )
    assert line("shop").policy == "other"
    assert all(cell.is_empty for cell in line("shop").cells)


def test_a_policy_that_only_observes_is_told_apart(define: Any, make_person: Any) -> None:
    ada = make_person("ada", "admin")
    drafted = twohands.draft("policy", "shell-commands", body("shell-commands"), by=ada, reason="For a test.")
    assert line("Bash").is_observing is False
    twohands.shadow(drafted.pk, by=ada)
    assert (line("Bash").is_observing, line("Bash").is_in_force) == (True, False)
    assert cells(line("Bash"))["loss"] == ["action", "place", "regenerable", "tracked"]


def test_what_only_reads_needs_no_question_about_changes(make_person: Any) -> None:
    Definition.objects.create(
        kind="tool", name="list_jobs", version=1, status="active", body={"source": "shop"}, digest="0" * 64,
        reason="For a test.", drafted_by=make_person("ada", "admin"),
    )  # fmt: skip
    found = line("list_jobs")
    assert found.detail == "reads shop"
    assert {family for family, cell in zip(FAMILIES, found.cells, strict=True) if cell.is_empty} == {
        "disclosure", "secrets",
    }  # fmt: skip


def test_a_policy_that_another_gate_asks_has_its_line(define: Any) -> None:
    define("policy", "restarts", {**body("shell-commands"), "title": "Restarts"})
    assert line("whatever asks over REST").policy == "restarts"


def test_the_page_counts_the_empty_cells_and_shows_them(define: Any, make_person: Any) -> None:
    define("target", "shop", BODY)
    define("policy", "sql-writes", body("sql-writes"))
    client = Client()
    client.force_login(make_person("vi", "viewer"))
    answer = client.get("/coverage/")
    found = answer.context["coverage"]
    page = " ".join(answer.content.decode().split())
    assert page.count("nobody</span>") == found.empty == sum(cell.is_empty for one in found.lines for cell in one.cells)
    assert f"<b>{found.empty} of {found.cells}</b>" in page
    assert "<code>keyed</code>, <code>reversible</code>, <code>rows_touched</code>" in page
