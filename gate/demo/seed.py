"""Makes the demo, in the order in which a new installation comes to life, through the doors that everyone uses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from gate.demo import admins, agent, keeping, monitor, people
from gate.triage.models import Draft, Investigation

DRAFT_WAIT = 30.0  # seconds for the verdict worker, once everything is handed in
KEPT_FOR_GOOD = ("urls", "people", "agent_token")
Say = Callable[[str], Any]


class CannotSeed(Exception):
    """The demo cannot be made here; the sentence says what to do."""


def seed(people_url: str, agents_url: str, say: Say) -> None:
    """Make what is not there yet, and keep addresses and passwords in var/demo.json, which appears last.

    Raises CannotSeed, and what the doors raise when they do not open.
    """
    kept = {**_kept_here(), "urls": {"people": people_url, "agents": agents_url}}
    if not keeping.is_complete() or "people" not in kept:
        _make(kept, say)
    keeping.finish({key: kept[key] for key in KEPT_FOR_GOOD})


def _kept_here() -> dict[str, Any]:
    """What an earlier start kept, if it was for this database; the files may be left over from one that is gone."""
    kept = keeping.load()
    is_for_this_database = people.are_all_there(kept.get("people", {}))
    if is_for_this_database or set(kept) <= {"urls", "people", "shop_as_of"}:
        return kept
    return {}


def _make(kept: dict[str, Any], say: Say) -> None:
    _add_people(kept)
    say("Two admins put the shop's source, tools, rules, classes and target in force.")
    admins.define_everything(kept["urls"]["people"], kept["people"])
    if "agent_token" not in kept:
        kept |= {"agent_token": people.issue_agent_token(), "intake_token": people.issue_intake_token()}
        keeping.keep(kept)
    if "incidents" not in kept:
        kept["incidents"] = _report(kept)
        keeping.keep(kept)
    say(f"The shop's agent investigates {len(kept['incidents'])} incidents.")
    asyncio.run(agent.investigate_all(kept["urls"]["agents"], kept["agent_token"], _open_work(kept["incidents"])))
    if not _wait_for_drafts(kept["incidents"]):
        say("Not every draft is there yet; they appear in the inbox as the verdict worker renders them.")


def _report(kept: dict[str, Any]) -> list[int]:
    as_of = datetime.fromisoformat(kept["shop_as_of"])
    return monitor.report_all(kept["urls"]["agents"], kept["intake_token"], as_of)


def _add_people(kept: dict[str, Any]) -> None:
    if "people" not in kept:
        if people.are_some_there():
            raise CannotSeed(
                f"The demo's people exist, but {keeping.path()} with their passwords is gone. Put it back, or start "
                "without the demo: manage.py up --no-demo."
            )
        kept |= {"people": people.draw_passwords(), "shop_as_of": datetime.now(UTC).isoformat()}
        keeping.keep(kept)
    people.add_missing(kept["people"])


def _open_work(incidents: list[int]) -> list[int | agent.Begun]:
    """What is not handed in yet: incidents to start on, and investigations that an earlier start had begun."""
    begun = {one.incident_id: one for one in Investigation.objects.filter(incident__in=incidents).order_by("pk")}
    return [
        agent.Begun(begun[incident].pk, begun[incident].briefing["offered"]) if incident in begun else incident
        for incident in incidents
        if incident not in begun or begun[incident].status == Investigation.Status.RUNNING
    ]


def _wait_for_drafts(incidents: list[int]) -> bool:
    deadline = time.monotonic() + DRAFT_WAIT
    while Draft.objects.filter(investigation__incident__in=incidents).count() < len(incidents):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.25)
    return True
