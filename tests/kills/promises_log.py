"""What the log and the queues must hold: every answer that was given, and nothing left over."""

from __future__ import annotations

import json
from typing import Any

from audit import canonical, payloads
from tests.kills.diary import Call
from tests.kills.product import Product
from tests.kills.scene import Scene


def every_cited_entry_is_there(scene: Scene) -> list[str]:
    """Each A-id that a client was told is the entry of that call, with that answer, unchanged."""
    there = {
        f"A-{row[0]}": row
        for row in scene.rows(
            "select e.seq, e.kind, e.tool, e.status, p.args, p.result, p.salt, e.args_c, e.result_c from audit_entry e"
            " join audit_payload p on p.entry_id = e.id where e.kind = 'call.finished'"
        )
    }
    return [why for call in scene.diary.calls if (why := _call_fault(call, there.get(call.audit_id)))]


def _call_fault(call: Call, row: tuple[Any, ...] | None) -> str:
    if row is None:
        return f"{call.audit_id} was told to an agent and is not there."
    _, _, tool, status, args, result, salt, args_c, result_c = row
    args_raw, result_raw = payloads.decompress(args), payloads.decompress(result)
    told = (call.tool, "failed" if call.result is None else "ok", call.arguments, call.result)
    if (tool, status, json.loads(args_raw), json.loads(result_raw)) != told:
        return f"{call.audit_id} holds another call than the agent was told."
    if (canonical.commitment(salt[:16], args_raw), canonical.commitment(salt[16:], result_raw)) != (args_c, result_c):
        return f"{call.audit_id} is not what its commitments say."
    return ""


def unfinished_calls_are_shown(scene: Scene) -> list[str]:
    """A call whose process died between start and finish says so on its page."""
    wrong = []
    for number in unfinished(scene.product):
        page = scene.browser.open(f"/audit/{number}/")
        if "Not there yet" not in page.text:
            wrong.append(f"A-{number} began a call that never finished, and its page does not say so.")
    return wrong


def unfinished(product: Product) -> list[int]:
    """The numbers of the calls that began and never finished."""
    return [number for (number,) in product.rows(
        "select s.seq from audit_entry s where s.kind = 'call.started' and not exists"
        " (select from audit_entry f where f.kind = 'call.finished' and f.parent = s.id) order by 1"
    )]  # fmt: skip


def writers_numbers_have_no_gap(scene: Scene) -> list[str]:
    """Each session of a writer numbered its entries from 1 on, each once."""
    return [
        f"Session {run} of {writer} wrote {count} entries, numbered to {last}."
        for writer, run, count, last in scene.rows(
            "select writer, writer_run, count(*), max(writer_seq) from audit_entry group by 1, 2"
            " having count(*) <> max(writer_seq) or count(distinct writer_seq) <> count(*) or min(writer_seq) <> 1"
        )
    ]


def the_outbox_is_empty(scene: Scene) -> list[str]:
    """No job waits, and none was given up."""
    left = scene.rows(
        "select id, task, subject_id, attempts, gave_up_at, error from audit_outbox where done_at is null order by id"
    )
    return [
        f"Job {job} ({task} of {subject}) is {'given up' if gave_up else 'open'} after {tried} attempts. {error}"
        for job, task, subject, tried, gave_up, error in left
    ]


def both_planes_are_well(scene: Scene) -> list[str]:
    """Health is 200 again."""
    answers = scene.product.health()
    return [] if answers == [200, 200] else [f"/healthz of the planes answers {answers}."]
