"""The component page: all parts, and only for whoever develops."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from gate.config.environment import BASE_DIR

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(client: Client, make_person: Any) -> Client:
    client.force_login(make_person("ada"))
    return client


def test_it_is_not_there_without_debug(ada: Client) -> None:
    assert ada.get("/ui/").status_code == 404


def test_it_draws_every_part_in_both_themes(ada: Client, settings: Any) -> None:
    settings.DEBUG = True
    answer = ada.get("/ui/")
    drawn = {template.name for template in answer.templates}
    parts = {f"ui/{part.name}" for part in (BASE_DIR / "templates/ui").glob("_*.html")}
    around = {"ui/_counts.html", "ui/_seal_strip.html"}  # the rail's answers: what they draw is drawn
    assert parts - around <= drawn, f"templates/ui/components.html does not show {sorted(parts - drawn)}."
    text = answer.content.decode()
    assert [text.count(f'data-theme="{theme}"') for theme in ("light", "dark")] == [1, 1]
    for part in parts:
        assert part.removeprefix("ui/") in text, f"templates/ui/components.html does not name {part}."
