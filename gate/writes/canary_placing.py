"""How canaries come in: planned by an operator or by beat, placed beside the next proposal that an agent makes.

Two roles have a part, and neither can do it alone. The worker plans: it proposes nothing. The agents' plane proposes
what is planned, as it does everything else, so that the log says the same of it: through a function of the database
that takes what was planned and nothing else. It can call no write a canary, and no canary a write.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from audit import log
from audit.models import Agent
from gate.writes import actions, digests
from gate.writes.errors import Unfit
from gate.writes.models import Canary, WriteRequest

KEYS = frozenset({"agent", "target", "statement", "parameters", "title", "reason", "flaw", "rows", "footprint"})
MAY = frozenset({"incident", "blast", "shape"})
HOURS_A_WEEK = 168
MOST_TRIED = 10


def read(text: str) -> list[dict[str, Any]]:
    """The canaries of a file: a JSON list. Raises Unfit."""
    try:
        found = json.loads(text)
    except ValueError as reason:
        raise Unfit(f"The file is not JSON: {reason}.") from reason
    if not isinstance(found, list) or not found:
        raise Unfit("The file holds a JSON list of canaries.")
    return found


@transaction.atomic
def plan(given: Mapping[str, Any], *, placed_by: str) -> Canary:
    """Keep one canary until it is placed. Raises Unfit for what could not be proposed as it is."""
    _check_keys(given)
    said = {"incident": "", **{name: given[name] for name in given if name in SAID}}
    write = _proposal(said)
    said |= {"statement": write.statement, "parameters": write.parameters, "title": write.title, "reason": write.reason}
    shown = {name: given[name] for name in ("rows", "footprint", "blast", "shape") if name in given}
    return Canary.objects.create(proposal=said, flaw=given["flaw"], plan=shown, placed_by=placed_by)


SAID = frozenset({"agent", "target", "statement", "parameters", "title", "reason", "incident"})


def plan_by_chance() -> None:
    """What beat asks for each hour: as many canaries a week as the operator wants, at no time that anybody could tell.

    Raises OSError or Unfit for a file that does not hold them.
    """
    if secrets.SystemRandom().random() >= settings.CANARIES_A_WEEK / HOURS_A_WEEK:
        return
    if Canary.objects.filter(write=None).exists():
        return  # the last one still waits for a proposal to stand beside
    plan(secrets.choice(read(Path(settings.CANARIES).read_text())), placed_by="beat")


def place_due() -> WriteRequest | None:
    """Propose the first planned canary that can be, in its agent's name; None when there is none."""
    due = Canary.objects.filter(write=None).order_by("pk").values_list("pk", "proposal")
    placed = (_place(number, said) for number, said in due[:MOST_TRIED])
    return next((write for write in placed if write is not None), None)


@transaction.atomic
def _place(number: int, said: dict[str, Any]) -> WriteRequest | None:
    try:
        write = _proposal(said)
    except Unfit:
        return None  # its agent was stopped, or its target retired, since it was planned
    key = _insert(number, said, write)
    if key is None:
        return None  # another process was faster
    write = WriteRequest.objects.select_related("target", "proposed_by_agent").get(pk=key)
    agent = write.proposed_by_agent
    assert agent is not None  # it was inserted with one
    actions.record_proposal(write, log.Actor("agent", agent.name, agent.owner_name))
    return write


def _proposal(said: Mapping[str, Any]) -> WriteRequest:
    agent = Agent.objects.filter(name=said["agent"], stopped_at=None).first()
    if agent is None:
        raise Unfit(f"There is no agent {said['agent']} at work, in whose name it would be proposed.")
    write = actions.proposal(
        said["target"], said["statement"], said["parameters"], said["title"], said["reason"], said["incident"]
    )  # fmt: skip
    write.proposed_by_agent = agent
    write.proposal_digest = digests.of_proposal(write)
    return write


def _insert(number: int, said: Mapping[str, Any], write: WriteRequest) -> int | None:
    made = {
        "said": said, "target": write.target_id, "agent": write.proposed_by_agent_id, "incident": write.incident_id,
        "verb": write.verb, "table": write.table, "expires_at": write.expires_at.isoformat(),
        "proposal_digest": write.proposal_digest,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("select writes_place_canary(%s, %s::jsonb)", [number, json.dumps(made)])
        row = cursor.fetchone()
    return None if row is None else row[0]


def _check_keys(given: Mapping[str, Any]) -> None:
    if not isinstance(given, dict) or not KEYS <= set(given) <= KEYS | MAY:
        raise Unfit(f"A canary has these keys: {', '.join(sorted(KEYS))}; and perhaps {', '.join(sorted(MAY))}.")
    if not isinstance(given["flaw"], str) or not given["flaw"].strip():
        raise Unfit("A canary says in `flaw` what is bad about it: whoever approved it reads that.")
    if not isinstance(given["footprint"], dict) or not all(map(_is_touch, given["footprint"].values())):
        raise Unfit('footprint says how many rows of a table are added, updated and deleted: {"shop.jobs": [0, 1, 0]}.')
    if not isinstance(given["rows"], list) or not given["rows"] or not all(map(_is_row, given["rows"])):
        raise Unfit("rows is a list of the rows that its preview shows, each with key, columns, before and after.")


def _is_touch(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(type(one) is int and one >= 0 for one in value)


def _is_row(row: Any) -> bool:
    if not isinstance(row, dict) or set(row) != {"key", "columns", "before", "after"}:
        return False
    columns, images = row["columns"], [row[name] for name in ("before", "after") if row[name] is not None]
    is_listed = isinstance(columns, list) and all(isinstance(one, str) for one in columns)
    is_keyed = is_listed and _is_image(row["key"]) and set(row["key"]) <= set(columns)
    return bool(images) and is_keyed and all(_is_image(one) and set(one) == set(columns) for one in images)


def _is_image(image: Any) -> bool:
    return isinstance(image, dict) and all(value is None or isinstance(value, str) for value in image.values())
