"""One run: clients at work, blows at random, and after each round a look at whether every promise was kept."""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass

import psycopg

from tests.kills import product, promises, promises_log, scene, victims
from tests.kills.agent import Agent
from tests.kills.diary import Diary, now
from tests.kills.doors import Unknown
from tests.kills.killer import Blow, Killer
from tests.kills.pace import Pace
from tests.kills.pages import Browser
from tests.kills.person import USERNAME, Person
from tests.kills.product import Product
from tests.kills.scene import Scene

ADMIN, AGENT = "mia", "triage-agent"
SETTLES_IN = 300.0  # seconds until queues are empty and everything runs
OPEN_WORK = """
select (select count(*) from audit_outbox where done_at is null and gave_up_at is null)
  + (select count(*) from triage_investigation where status = 'submitted')
  + (select count(*) from writes_writerequest where status in ('approved', 'executing', 'unknown'))
"""


@dataclass(frozen=True)
class Plan:
    """How long, in which rounds, and how hard."""

    seconds: float
    round_seconds: float
    longest_pause: float  # between two blows
    seed: int


def say(line: str) -> None:
    """A line for whoever watches, with the time."""
    sys.stdout.write(f"{now():%H:%M:%S} {line}\n")
    sys.stdout.flush()


class Run:
    """A running product, its clients, and what came of it."""

    def __init__(self, at: Product, plan: Plan) -> None:
        self.product, self.plan, self.diary, self.pace = at, plan, Diary(), Pace()
        self.agent = Agent(at, self.diary, self.pace, f"agent {plan.seed}")
        self.person = Person(at, self.diary, self.pace, f"person {plan.seed}")
        self.killer = Killer(at, self.diary, self.pace, f"killer {plan.seed}", plan.longest_pause)
        browser = Browser(at.people, USERNAME, at.passwords[USERNAME])
        self.scene = Scene(at, self.diary, browser, scene.jobs(at))
        self.unfinished = 0  # calls that began and never finished, at the last look

    def go(self) -> list[str]:
        """Rounds until the time is over or something broke. What broke."""
        self.pace.add("agent", self.agent.live, self.diary)
        self.pace.add("person", self.person.live, self.diary)
        self.pace.add("killer", self.killer.live, self.diary)
        ends = time.monotonic() + self.plan.seconds
        try:
            while time.monotonic() < ends and not self.diary.findings:
                self._round(min(self.plan.round_seconds, ends - time.monotonic()))
        finally:
            self.pace.end()
        return self.diary.findings

    def _round(self, seconds: float) -> None:
        self.pace.go()
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.pace.pause(min(60.0, max(0.0, ends - time.monotonic())))
            say(self.line())
        self._settle()
        self.agent.look()
        self._check()

    def _settle(self) -> None:
        """Wait until the clients stand still and nothing is left to do."""
        if not self.pace.rest(SETTLES_IN):
            self.diary.found(f"A client did not end what it was at within {SETTLES_IN:.0f} s.")
        deadline = time.monotonic() + SETTLES_IN
        while not self.is_quiet():
            if time.monotonic() > deadline:
                self.diary.found(f"It did not settle within {SETTLES_IN:.0f} s; health is {self.product.health()}.")
                return
            time.sleep(0.5)

    def is_quiet(self) -> bool:
        """Whether everything runs, and no job, submission or approved write is left over."""
        try:
            return victims.is_all_well(self.product) and self.product.rows(OPEN_WORK) == [(0,)]
        except psycopg.Error:
            return False

    def _check(self) -> None:
        try:
            broken = promises.broken(self.scene)
            self.unfinished = len(promises_log.unfinished(self.product))
        except (psycopg.Error, Unknown) as fault:
            broken = [f"The product could not be looked at when all was quiet: {fault!r}"]
        for sentence in broken:
            self.diary.found(sentence)
        say(f"Round over: {'every promise kept' if not self.diary.findings else 'BROKEN'}. {self.line()}")

    def line(self) -> str:
        """How far it is."""
        told, blows = self.diary, self.killer.blows
        kinds = Counter(blow.name for blow in blows)
        return (
            f"{len(blows)} blows ({', '.join(f'{what} {count}' for what, count in sorted(kinds.items()))}); "
            f"{len(told.incidents)} incidents, {len(told.calls)} calls, {len(told.submissions)} submissions, "
            f"{len(told.proposals)} proposals, {len(told.decisions)} decisions, {len(told.reviews)} reviews; "
            f"{sum(told.unknown.values())} answers unknown; {_recoveries(blows)}"
        )


def _recoveries(blows: list[Blow]) -> str:
    seconds = [blow.seconds for blow in blows if blow.seconds is not None]
    if not seconds:
        return "nothing recovered yet"
    return f"{len(seconds)} recoveries, p50 {statistics.median(seconds):.1f} s, max {max(seconds):.1f} s"


def allow_much(at: Product) -> None:
    """Let the agent do in an hour what it does in days: an admin raises its budget, on the agent's page."""
    admin = Browser(at.people, ADMIN, at.passwords[ADMIN])
    form = admin.open(f"/agents/{AGENT}/").form("/budget/")
    assert form is not None  # an admin sees it
    much = dict.fromkeys(("calls_per_hour", "open_investigations", "proposals_per_day"), "100000")
    assert admin.send(form, **much).status == 302


def run(plan: Plan) -> list[str]:
    """Start the product, run the plan against it, and stop it. What broke; then its directory is kept."""
    say(f"Seed {plan.seed}. Starting the product.")
    at = product.start()
    say(f"Its state is in {at.var}.")
    try:
        allow_much(at)
        one = Run(at, plan)
        findings = one.go()
    finally:
        victims.let_go(at)
        why = at.stop()
    if why:
        findings.append(why)
    _summarize(one, findings)
    if not findings:
        at.forget()
    return findings


def _summarize(one: Run, findings: list[str]) -> None:
    by_kind: dict[str, list[Blow]] = {}
    for blow in one.killer.blows:
        by_kind.setdefault(blow.what, []).append(blow)
    for what, blows in sorted(by_kind.items()):
        say(f"  {what}: {len(blows)} times, {_recoveries(blows)}")
    say(f"  answers unknown: {dict(one.diary.unknown)}; {one.unfinished} calls began and never finished, as shown")
    say(f"Done: {one.line()}")
    for sentence in findings:
        say(f"FINDING: {sentence}")
    say(
        f"Every promise was kept (seed {one.plan.seed})."
        if not findings
        else f"The state is kept in {one.product.var}."
    )
