"""Decisions that were made, read back from the log: what a change is tried on, and what a page shows of lately."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from audit import reading as log_reading
from audit.models import Entry
from gate.admission import judging, reading
from gate.admission.program import Program
from gate.admission.reducer import Decision, decide

MOST = 200  # of the newest decisions of one policy


@dataclass(frozen=True)
class Call:
    """One action that a policy judged: the answers as they were, and what was decided."""

    entry: Entry
    answers: Any
    judged: Any
    executed: Any
    verdict: str
    rule: str | None

    def decided_by(self, program: Program) -> Decision:
        """What another program decides over the same answers."""
        return decide(program, self.answers, judged_action=self.judged, executed_action=self.executed)


@dataclass(frozen=True)
class Changed:
    """A recorded call that two programs decide differently."""

    call: Call
    was: Decision
    becomes: Decision


def recent(policy: str) -> list[Call]:
    """The newest decisions of a policy that can be read whole, newest first."""
    found = list(Entry.objects.filter(kind__in=judging.KINDS, tool=policy).order_by("-seq")[:MOST])
    contents = log_reading.contents_of(found)
    return [_call(entry, contents[entry.pk]) for entry in found if contents[entry.pk].is_readable]


def _call(entry: Entry, content: log_reading.Content) -> Call:
    # The numbers as a reducer compares them; the log's own reader gives them exact.
    args, result = reading.read(content.args_raw), reading.read(content.result_raw)
    return Call(
        entry, args["answers"], args["judged_action"], args["executed_action"], result["verdict"], result["rule"]
    )


def replayed(calls: Iterable[Call], old: Program, new: Program) -> list[Changed]:
    """The calls that `new` decides otherwise than `old`."""
    pairs = [Changed(call, call.decided_by(old), call.decided_by(new)) for call in calls]
    return [one for one in pairs if one.was.verdict != one.becomes.verdict]


def fired(calls: Sequence[Call], rule: str | None) -> int:
    """How many of these a rule decided; None is for those that were asked before any rule."""
    return sum(call.rule == rule for call in calls)
