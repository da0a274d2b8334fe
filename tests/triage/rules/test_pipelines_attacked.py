"""Runs of a pipeline that did not do all their work, each one field away from one that did."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gate.triage.outcomes import Fail
from gate.triage.readers.airflow_tasks import STATES
from tests.triage.rules import cases, twins
from tests.triage.rules.cases import DROP, both, put
from tests.triage.rules.twins import Case

TASK = "a2 result task_instances 1"
ATTACKS: list[tuple[str, Callable[[], Case], cases.Edit, str]] = [
    *[(f"a task is {state}", twins.pipeline, put(f"{TASK} state", state), f"middle is {state}")
      for state in STATES if state != "success"],
    ("a task without a state", twins.pipeline, put(f"{TASK} state", None), "not a text"),
    ("a task in capitals", twins.pipeline, put(f"{TASK} state", "SUCCESS"), "not one of"),
    ("no task", twins.pipeline, both(put("a2 result task_instances", []), put("a2 result total_entries", 0)),
     "no task"),
    ("one task is not listed", twins.pipeline, put(TASK, DROP), "`total_entries` is not the 2"),
    ("one task more than listed", twins.pipeline, put("a2 result total_entries", 4), "`total_entries` is not the 3"),
    ("a count as text", twins.pipeline, put("a2 result total_entries", "3"), "not a whole number"),
    ("one task twice in the place of another", twins.pipeline, put(f"{TASK} task_id", "end"), "not in the result"),
    ("one copy of a mapped task twice", twins.pipeline_as_airflow_writes_it, put(f"{TASK} map_index", 1), "twice"),
    ("a task of the run before", twins.pipeline_as_airflow_writes_it, put(f"{TASK} dag_run_id",
     "scheduled__2021-04-20"),
     "of another run"),
    ("a task of another pipeline", twins.pipeline_as_airflow_writes_it, put(f"{TASK} dag_id", "other"),
     "of another run"),
    ("a task of nobody knows which run", twins.pipeline_as_airflow_writes_it, put(f"{TASK} dag_run_id", DROP),
     "not in"),
    ("not the task that the incident names", twins.pipeline_as_airflow_writes_it,
     put("incident subject task_id", "load"), "load is not in the list"),
    ("the run is running", twins.pipeline, put("a1 result state", "running"), "is running"),
    ("the run failed", twins.pipeline, put("a1 result state", "failed"), "is failed"),
    ("the run is queued", twins.pipeline, put("a1 result state", "queued"), "is queued"),
    ("the run has no state", twins.pipeline, put("a1 result state", None), "not a text"),
    ("the run before", twins.pipeline, put("a1 result dag_run_id", "scheduled__2021-04-20T00:00:00+00:00"),
     "another run"),
    ("another pipeline", twins.pipeline, put("a1 result dag_id", "dag_state_test2"), "another pipeline"),
    ("an error body", twins.pipeline, put("a1 result", {"title": "Not Found", "status": 404}), "not in the result"),
    # The questions
    ("only what succeeded", twins.pipeline, put("a2 args state", ["success"]), "`state` was asked for too"),
    ("one task", twins.pipeline_as_airflow_writes_it, put("a2 args task_id", "middle"), "one task was asked for"),
    ("one pool", twins.pipeline, put("a2 args pool", "default"), "`pool` was asked for too"),
    ("from the second on", twins.pipeline_as_airflow_writes_it, put("a2 args offset", 1), "from a later task on"),
    ("a full page", twins.pipeline_as_airflow_writes_it, put("a2 args limit", 4), "the page is full"),
    ("tasks of the run before", twins.pipeline, put("a2 args dag_run_id", "scheduled__2021-04-20"),
     "another run was asked"),
    ("tasks of all runs", twins.pipeline, put("a2 args dag_run_id", "~"), "another run was asked"),
    ("another pipeline asked", twins.pipeline, put("a1 args dag_id", "dag_state_test2"), "another pipeline was asked"),
    ("two runs", twins.pipeline, put("a1 args run_id", "scheduled__2021-04-20"), "exactly once"),
    ("a run of some Airflow", twins.pipeline, put("incident subject environment", "production"), "does not say which"),
    ("no run in the incident", twins.pipeline, put("incident subject dag_run_id", DROP),
     "does not say its `dag_run_id`"),
]  # fmt: skip


@pytest.mark.parametrize(("title", "make", "edit", "why"), ATTACKS, ids=[attack[0] for attack in ATTACKS])
def test_a_run_that_left_work_undone_did_not_succeed(
    title: str, make: Callable[[], Case], edit: cases.Edit, why: str
) -> None:
    verdict = cases.decide(cases.edited(make(), edit))
    assert isinstance(verdict, Fail)
    assert why in cases.sentences(verdict), cases.sentences(verdict)


def test_a_run_that_was_cleared_since_is_heard() -> None:
    case = twins.pipeline()
    result = {**cases.entry(case, "a1")["result"], "state": "running"}
    twins.call(case, "a9", "airflow_get_dag_run", cases.entry(case, "a1")["args"], result)
    assert [reason.code for reason in cases.decide(case).reasons] == ["contradicted_later"]  # type: ignore[union-attr]
