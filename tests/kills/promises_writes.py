"""What was proposed and decided: each write at most once, with one effect, and shown as it is."""

from __future__ import annotations

from datetime import datetime

from tests.kills.diary import Proposal
from tests.kills.scene import Scene, jobs

# What a write's page says for a status that is final.
SHOWN = {
    "executed": "Executed", "refused_stale": "Refused as stale", "failed": "Failed", "rejected": "Rejected",
    "expired": "Expired",
}  # fmt: skip
FINAL = frozenset(SHOWN)


def every_proposal_is_there_once(scene: Scene) -> list[str]:
    """No acknowledged proposal lost, none twice, none that nobody made."""
    there = scene.rows("select id, title, parameters from writes_writerequest where title like 'Count an attempt%%'")
    titles = [title for _, title, _ in there]
    wrong = [
        f"“{title}” was proposed once and is there {titles.count(title)} times."
        for title in set(titles)
        if titles.count(title) > 1
    ]
    wrong += [f"“{title}” was proposed by nobody." for title in set(titles) - scene.diary.titles]
    found = {number: (title, parameters) for number, title, parameters in there}
    for one in scene.diary.proposals.values():
        if found.get(one.number) != (one.title, [{"t": "bigint", "v": str(one.job)}]):
            wrong.append(f"W-{one.number} was acknowledged; there is {found.get(one.number)}.")
    return wrong


def writes_are_executed_at_most_once(scene: Scene) -> list[str]:
    """Executed is what has its one ledger row; everything else has none."""
    ledger: dict[str, list[datetime]] = {}
    for ref, at in scene.shop("select write_ref, executed_at from shop.gate_ledger"):
        ledger.setdefault(ref, []).append(at)
    statuses = {f"W-{number}": status for number, status in scene.rows("select id, status from writes_writerequest")}
    wrong = [
        f"{ref} is shown as {status} and has {len(ledger.get(ref, []))} rows in the ledger."
        for ref, status in statuses.items()
        if len(ledger.get(ref, [])) != (status == "executed")
    ]
    wrong += [f"The ledger has {ref}, which nobody proposed." for ref in set(ledger) - set(statuses)]
    for one in scene.diary.proposals.values():
        wrong += _seen_wrongly(one, statuses.get(f"W-{one.number}", ""), ledger.get(f"W-{one.number}", []))
    return wrong


def _seen_wrongly(one: Proposal, status: str, ledger: list[datetime]) -> list[str]:
    """What was shown on the way and was not so."""
    final = [(at, seen) for at, seen in one.seen if seen in FINAL]
    wrong = [f"W-{one.number} was shown as {seen} and is {status} now." for _, seen in final if seen != status]
    early = [at for at, seen in final if seen == "executed" and not any(ran <= at for ran in ledger)]
    return wrong + [f"W-{one.number} was shown as executed at {at}, before it was." for at in early]


def writes_have_one_effect(scene: Scene) -> list[str]:
    """Each job was counted up once for each executed write, and by nothing else."""
    executed: dict[int, int] = {}
    for (parameters,) in scene.rows(
        "select parameters from writes_writerequest where status = 'executed' and title like 'Count an attempt%%'"
    ):
        job = int(parameters[0]["v"])
        executed[job] = executed.get(job, 0) + 1
    wrong = []
    for job, (attempts, changes) in jobs(scene.product).items():
        wanted, (attempts_before, changes_before) = executed.get(job, 0), scene.before[job]
        if (attempts - attempts_before, changes - changes_before) != (wanted, wanted):
            wrong.append(
                f"Job {job}: {wanted} writes were executed; it was counted up by {attempts - attempts_before} and"
                f" changed {changes - changes_before} times."
            )
    return wrong


def every_write_is_over_or_waits(scene: Scene) -> list[str]:
    """When all is quiet nothing is half done, and nobody is left not knowing."""
    left = scene.rows(
        "select id, status from writes_writerequest where status in ('proposed', 'approved', 'executing', 'unknown')"
    )
    return [f"W-{number} is still {status}." for number, status in left]


def every_outcome_has_one_entry(scene: Scene) -> list[str]:
    """The log tells once what became of a write that was run."""
    return [
        f"W-{number} is {status}, and the log tells so {count} times."
        for number, status, count in scene.rows(
            "select w.id, w.status, count(e.id) from writes_writerequest w left join audit_entry e"
            " on e.subject = 'W-' || w.id and e.kind = 'write.' || w.status"
            " where w.status in ('executed', 'refused_stale', 'failed', 'expired')"
            " group by w.id having count(e.id) <> 1"
        )
    ]


def pages_show_what_is_so(scene: Scene) -> list[str]:
    """The page of each write that was decided in this round says its status."""
    statuses = dict(scene.rows("select id, status from writes_writerequest"))
    wrong = []
    for number in sorted(scene.diary.decisions)[-20:]:
        page, words = scene.browser.open(f"/writes/{number}/"), SHOWN.get(statuses[number], "?")
        if f">{words}</span>" not in page.text:
            wrong.append(f"W-{number} is {statuses[number]}, and its page does not say {words}.")
    return wrong
