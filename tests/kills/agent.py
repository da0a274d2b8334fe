"""The monitor and the agent: incidents, investigations, findings and proposals, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from tests.kills.diary import Call, Diary, Proposal, Submission
from tests.kills.doors import Door, Mcp, Refused, Rest, Unknown
from tests.kills.pace import Pace, dice
from tests.kills.product import Product

Answer = TypeVar("Answer")
EXPECTED = {"already_proposed", "already_running", "not_startable", "already_submitted", "no_investigation",
            "deadline_passed", "budget_spent", "which_investigation", "rate_limited"}  # fmt: skip
JOBS = range(90301, 90361)  # the shop's ordinary jobs, which nothing else touches
INCREMENT = "UPDATE shop.jobs SET attempts = attempts + 1 WHERE job_id = $1"
MOST_OPEN = 8  # proposals that wait for a person, before the agent makes no more
TRIES = 6


class Agent:
    """One agent with its monitor. `live` does one round of work."""

    def __init__(self, product: Product, diary: Diary, pace: Pace, seed: str) -> None:
        self._monitor = Rest(product.agents, product.intake_token)
        self._doors: list[Door] = [Rest(product.agents, product.agent_token), Mcp(product.agents, product.agent_token)]
        self._diary, self._pace, self._random = diary, pace, dice(seed)
        self._count = 0

    def live(self) -> None:
        """An incident from its report to the findings, a proposal now and then, and a look at what became of those."""
        self._count += 1
        incident = self._report()
        if incident is not None:
            self._investigate(incident)
        if len(self._diary.undecided()) < MOST_OPEN:
            job = self._random.choice(JOBS)
            # Two writes of one row: what the second was approved for is no longer so once the first has run.
            for _ in range(2 if self._random.random() < 0.2 else 1):
                self._propose(job)
        self.look()
        self._pace.pause(self._random.uniform(0.5, 2.5))

    def look(self) -> None:
        """Ask where the newest proposals stand."""
        for one in sorted(self._diary.proposals.values(), key=lambda one: -one.number)[:4]:
            status = self._try("write_status", lambda number=one.number: self._door().status(number))
            if status:
                one.saw(status)

    def _door(self) -> Door:
        return self._random.choice(self._doors)

    def _report(self) -> int | None:
        """Report an incident until it is known to be there: its key makes the second report the same incident."""
        key = f"kills-{self._count}"
        began = datetime.now(UTC) - timedelta(hours=1)
        body = {
            "class": "job_failed", "title": f"Job 90412 failed ({key})", "subject": {"job_id": 90412},
            "began_at": began.isoformat().replace("+00:00", "Z"), "dedup_key": key,
        }  # fmt: skip
        number: int | None = self._persist("report_incident", lambda: self._monitor.report(body))
        if number is not None:
            self._diary.incidents[key] = number
        return number

    def _investigate(self, incident: int) -> None:
        door = self._door()
        number = self._persist("start_investigation", lambda: door.start(incident))
        if number is None:
            return
        job = self._ask(door, number, "find_job", {"job_id": 90412})
        self._ask(door, number, "list_job_attempts", {"job_id": 90412})
        cited = [{"fact": "job_completed", "audit_id": job.audit_id, "note": "As the shop says."}] if job else []
        self._submit(door, number, Submission("transient_failure_recovered", cited, f"Looked into I-{incident}."))

    def _ask(self, door: Door, investigation: int, tool: str, arguments: dict[str, Any]) -> Call | None:
        """One evidence call, asked anew when there was no answer: each is a call of its own."""
        for _ in range(3):
            try:
                told = door.ask(tool, arguments, investigation)
            except Unknown as doubt:
                self._doubt(tool, doubt)
                continue
            except Refused as refusal:
                if refusal.audit_id:  # it ran and failed: an answer, too
                    self._diary.calls.append(Call(refusal.audit_id, tool, arguments, None))
                elif refusal.code != "source_dark":
                    self._refused(tool, refusal)
                return None
            call = Call(told["audit_id"], tool, arguments, told["result"])
            self._diary.calls.append(call)
            return call
        return None

    def _submit(self, door: Door, investigation: int, work: Submission) -> None:
        body = {"hypothesis": work.hypothesis, "findings": work.findings, "answer": work.answer}
        is_in_doubt = False
        self._diary.acts.update(["submit"])
        for _ in range(TRIES):
            try:
                door.submit(investigation, body)
            except Unknown as doubt:
                self._doubt("submit_findings", doubt)
                is_in_doubt = True
                continue
            except Refused as refusal:
                self._refused("submit_findings", refusal)
                # Only this client hands in here, so a first try must have come through.
                if refusal.code != "already_submitted" or not is_in_doubt:
                    return
            self._diary.submissions[investigation] = work
            return

    def _propose(self, job: int) -> None:
        """Propose a write. A try that was not answered is not repeated as it was: nobody could tell the two apart."""
        title = f"Count an attempt of job {job} ({len(self._diary.titles) + 1})"
        self._diary.titles.add(title)
        body = {
            "target": "shop", "title": title, "reason": "To see that it happens once.", "statement": INCREMENT,
            "parameters": [{"t": "bigint", "v": str(job)}],
        }  # fmt: skip
        number = self._try("propose_write", lambda: self._door().propose(body))
        if number is not None:
            self._diary.proposals[number] = Proposal(number, title, job)

    def _persist(self, what: str, act: Callable[[], Answer]) -> Answer | None:
        """Try until there is an answer, a clear no, or no patience left."""
        for _ in range(TRIES):
            try:
                return act()
            except Unknown as doubt:
                self._doubt(what, doubt)
            except Refused as refusal:
                self._refused(what, refusal)
                return None
        return None

    def _try(self, what: str, act: Callable[[], Answer]) -> Answer | None:
        try:
            return act()
        except Unknown as doubt:
            self._doubt(what, doubt)
        except Refused as refusal:
            self._refused(what, refusal)
        return None

    def _doubt(self, what: str, doubt: Unknown) -> None:
        self._diary.could_not_tell(what, str(doubt))
        self._pace.pause(self._random.uniform(0.3, 1.0))

    def _refused(self, what: str, refusal: Refused) -> None:
        if refusal.code not in EXPECTED:
            self._diary.found(f"{what} was refused with {refusal}, which nothing explains.")
