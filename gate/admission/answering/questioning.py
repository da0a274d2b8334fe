"""Every question of an ask put to the model, each by itself and at the same time, within one bounded time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from gate.admission.answering import parsing, protocols, wire, wording
from gate.admission.answering.endpoint import Endpoint
from gate.admission.answering.parsing import LATE, NoAnswer
from gate.admission.program import Question

AT_ONCE = 6


@dataclass(frozen=True)
class Answered:
    """One answer, or the reason why there is none; who gave it, and how long that took."""

    answer: dict[str, Any]
    model: str  # empty when nobody answered
    latency_ms: int


def ask(
    endpoint: Endpoint, questions: Sequence[Question], action: Mapping[str, Any], *, seconds: float
) -> dict[str, Answered]:
    """An answer to each question by its id. Returns in time, whatever the server does."""
    began = time.monotonic()
    http = wire.client(endpoint, seconds=seconds)
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="asking")
    try:
        jobs = {one.id: pool.submit(_ask_one, endpoint, http, one, action) for one in questions}
        wait(jobs.values(), timeout=seconds)
        return {name: _taken(job, began) for name, job in jobs.items()}
    finally:
        # Closed under whoever still waits: nobody is left to hear it.
        http.close()
        pool.shutdown(wait=False, cancel_futures=True)


def _taken(job: Future[Answered], began: float) -> Answered:
    return job.result() if job.done() else Answered(parsing.missing(LATE), "", _since(began))


def _ask_one(endpoint: Endpoint, http: Any, question: Question, action: Mapping[str, Any]) -> Answered:
    began = time.monotonic()
    model = ""
    try:
        said = protocols.ask(endpoint, http, wording.message(question, action), wording.schema(question))
        model = said.model
        return Answered(parsing.answer(question, said.text), model, _since(began))
    except (NoAnswer, wording.TooLong) as reason:
        return Answered(parsing.missing(str(reason)), model, _since(began))


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
