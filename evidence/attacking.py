"""Running a corpus of attacks, and of ordinary reads, against the guarded read of a source that is a copy.

An attack is a breach when it changed something, ended another session of the same role, showed what no answer may show,
ran past the limits, or was served although it must be refused. An ordinary read that is not served is a false refusal.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg

from evidence import exact_json, reader, watching
from evidence.errors import Refused

LIMITS = reader.Limits(rows=100, bytes=100_000, seconds=1.0)
PATIENCE = 15.0  # seconds beyond the limit, for a server that does not stop at once
# One text to its rows as JSON, or why there are none.
Read = Callable[[str], str | Refused]
MUST = ("refused", "bounded", "no_effect", "allowed")


@dataclass(frozen=True)
class Case:
    """One line of a corpus: its texts are read one after the other, in calls of their own."""

    id: str
    family: str
    texts: tuple[str, ...]
    must: str


@dataclass(frozen=True)
class Found:
    """What was wrong with one case."""

    case: Case
    why: str


def parse(text: str) -> tuple[list[Case], int]:
    """The cases of a corpus, and how many lines are for other doors than SQL. Raises ValueError with a sentence."""
    lines = [(at, line) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    cases = [case for at, line in lines if (case := _case(at, line)) is not None]
    return cases, len(lines) - len(cases)


def _case(at: int, line: str) -> Case | None:
    try:
        stated = json.loads(line)
        request = stated.get("request", {})
        texts = (stated["sql"],) if "sql" in stated else tuple(request.get("sequence", ()))
        case = Case(str(stated["id"]), str(stated["family"]), texts, stated["must"])
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ValueError(f"Line {at} is no case: it needs id, family, must, and sql or request.sequence.") from error
    if case.must not in MUST or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"Line {at} is no case: must is one of {', '.join(MUST)}, and SQL is text.")
    return case if texts else None


def breaches(
    dsn: str, doctor: psycopg.Connection[Any], cases: Sequence[Case], marks: Sequence[str], read: Read | None = None
) -> Iterator[Found]:
    """Try every attack as the reader. `marks` are texts that stand in no answer. Raises psycopg.Error.

    `read` is another door to the same source than the guarded read itself.
    """
    before = watching.look(doctor)
    with psycopg.connect(dsn, autocommit=True, application_name="counterseal neighbor") as neighbor:
        for case in cases:
            why = _try(read or partial(_read, dsn), case, marks)
            after = watching.look(doctor, before)
            changed = watching.changes(before, after)
            before = after
            if changed:
                yield Found(case, f"changed: {', '.join(changed)}")
            elif why:
                yield Found(case, why)
            if not _is_alive(neighbor):
                yield Found(case, "ended another session of the reader's role")
                return


def false_refusals(dsn: str, cases: Sequence[Case], read: Read | None = None) -> Iterator[Found]:
    """Try every ordinary read; those that are not served come back with the sentence."""
    for case in cases:
        for answer in map(read or partial(_read, dsn), case.texts):
            if isinstance(answer, Refused):
                yield Found(case, answer.sentence)


def _try(read: Read, case: Case, marks: Sequence[str]) -> str:
    """What is wrong with how the attack was answered; empty when nothing is."""
    begun = time.monotonic()
    answers = [read(text) for text in case.texts]
    took = time.monotonic() - begun
    if took > (LIMITS.seconds + PATIENCE) * len(case.texts):
        return f"took {took:.0f} s"
    # A refusal may quote the attack; what its own text does not hold came out of the database.
    shown = "\n".join(answer.sentence if isinstance(answer, Refused) else answer for answer in answers)
    told = next((mark for mark in marks if _stands(mark, shown) and mark not in "\n".join(case.texts)), None)
    if told is not None:
        return f"showed {told}"
    if any(isinstance(answer, Refused) and answer.code == "wrote" for answer in answers):
        return "was given a transaction number"
    is_refused = any(isinstance(answer, Refused) for answer in answers)
    return "was served, and must be refused" if case.must == "refused" and not is_refused else ""


def _stands(mark: str, shown: str) -> bool:
    """Whether the mark is there, as it is in a sentence or as JSON spells it: with escapes."""
    return mark in shown or exact_json.dumps(mark)[1:-1] in shown


def _read(dsn: str, text: str) -> str | Refused:
    try:
        return exact_json.dumps(reader.read(dsn, text, limits=LIMITS).rows)
    except Refused as refused:
        return refused


def _is_alive(session: psycopg.Connection[Any]) -> bool:
    try:
        return session.execute("select 1").fetchone() == (1,)
    except psycopg.Error:
        return False
