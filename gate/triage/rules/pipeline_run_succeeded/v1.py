"""A run of a pipeline did all its work: it succeeded, and so did each of its tasks, none skipped and none missing."""

from gate.triage.readers.airflow_runs import AirflowRun
from gate.triage.readers.airflow_tasks import AirflowTasks
from gate.triage.rules import claims, subjects
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule, equal

DAG = ("dag_id",)
RUN = ("dag_run_id", "run_id")
TASK = ("task_id", "task")
# How the list is paged and sorted. A filter, above all one on the state, would hide what it leaves out.
PAGING = frozenset(("limit", "offset", "order_by"))


def asked_for_this_run(answer: AirflowRun, case: Case) -> Judgment:
    return asked_for(answer, case, frozenset((*DAG, *RUN)))


def asked_for_all_its_tasks(answer: AirflowTasks, case: Case) -> Judgment:
    return asked_for(answer, case, frozenset((*DAG, *RUN)) | PAGING)


def asked_for(answer: AirflowRun | AirflowTasks, case: Case, known: frozenset[str]) -> Judgment:
    """The subject's pipeline and run, by their ids, wherever else the subject says they run."""
    other = subjects.nothing_else_asked(answer, case, known | frozenset(TASK))
    if other.holds is not True:
        return other
    for name in TASK:
        if answer.args.has(name):
            return Judgment(False, name, "one task was asked for, where all were to be.")
    left_out = subjects.nothing_left_out(answer, case, frozenset((*DAG, *RUN, *TASK)))
    if left_out.holds is not True:
        return left_out
    run = answer.args.text(subjects.the_only(RUN, answer.args.keys(), "The run asked for"))
    if answer.args.text("dag_id") != claims.text(case, DAG):
        return Judgment(False, answer.args.text("dag_id"), "another pipeline was asked for.")
    return equal(run, claims.text(case, RUN), "another run was asked for.")


def is_this_run(answer: AirflowRun, case: Case) -> Judgment:
    if answer.dag_id() != claims.text(case, DAG):
        return Judgment(False, answer.dag_id(), "the answer is about another pipeline.")
    return equal(answer.run_id(), claims.text(case, RUN), "the answer is about another run.")


def are_its_tasks(answer: AirflowTasks, case: Case) -> Judgment:
    """Where the tasks say whose they are, all of them must say this run."""
    if not answer.has_owners():
        return Judgment(True, "not said", "")
    for index in range(answer.listed()):
        owner = answer.dag_id(index), answer.run_id(index)
        if owner != (claims.text(case, DAG), claims.text(case, RUN)):
            return Judgment(False, " ".join(owner), f"the task {answer.task_id(index)} is of another run.")
    return Judgment(True, f"{answer.listed()} tasks", "")


def run_succeeded(answer: AirflowRun, case: Case) -> Judgment:
    return equal(answer.state(), "success", f"the run is {answer.state()}.")


def ended_since(answer: AirflowRun, case: Case) -> Judgment:
    """An end from before the incident began is no recovery from it, and one after the answer cannot be."""
    if answer.tells_when_it_ended() is not True:
        return Judgment(True, "not said", "")
    ended = answer.ended_at()
    seen = f"{ended:%d %b %H:%M:%S} UTC"
    if ended < case.incident.began_at:
        return Judgment(False, seen, "it ended before the incident began.")
    return Judgment(ended <= answer.called_at(), seen, "it ended after the answer was given, which cannot be.")


def holds_every_task(answer: AirflowTasks, case: Case) -> Judgment:
    """Whole, not empty, each task once, and the one that the incident names among them."""
    answer.complete()
    ids = [answer.task_id(index) for index in range(answer.listed())]
    for name in sorted(frozenset(ids)):
        places = [index for index in range(len(ids)) if ids[index] == name]
        copies = frozenset(answer.map_index(index) for index in places) if len(places) > 1 else frozenset((0,))
        if len(copies) != len(places):
            return Judgment(False, name, f"the task {name} is in the list twice.")
    if claims.is_said(case, TASK) and claims.text(case, TASK) not in frozenset(ids):
        return Judgment(False, f"{len(ids)} tasks", f"the task {claims.text(case, TASK)} is not in the list.")
    return Judgment(len(ids) > 0, f"{len(ids)} tasks", "the list holds no task.")


def each_task_succeeded(answer: AirflowTasks, case: Case) -> Judgment:
    for index in range(answer.listed()):
        if answer.state(index) != "success":
            return Judgment(False, answer.state(index), f"the task {answer.task_id(index)} is {answer.state(index)}.")
    return Judgment(answer.listed() > 0, f"{answer.listed()} succeeded", "there is no task that could have succeeded.")


RUN_STATE = Need(
    readers=(AirflowRun,),
    asked=asked_for_this_run,
    answered=is_this_run,
    checks=(
        Check(
            title="The run of this incident has the state `success`",
            test=run_succeeded,
            earn="An answer about {subject} with the state `success`",
            unreadable="A state that cannot be read is not success",
        ),
        Check(
            title="It ended after the incident began, where the answer says when",
            test=ended_since,
            earn="`end_date` between the beginning of {ref} and the call",
            unreadable="An end without a time may be an earlier one",
        ),
    ),
    again=(run_succeeded,),
)
TASKS = Need(
    readers=(AirflowTasks,),
    asked=asked_for_all_its_tasks,
    answered=are_its_tasks,
    checks=(
        Check(
            title="Every task of the run is in the list, each once",
            test=holds_every_task,
            earn="A list of the tasks of {subject} without a filter, as long as its `total_entries`",
            unreadable="A list that may be cut is not a list of all",
        ),
        Check(
            title="Each task has the state `success`",
            test=each_task_succeeded,
            earn="The state `success` for every task in the same answer; a skipped task did not do its work",
            unreadable="A state that cannot be read is not success",
        ),
    ),
    again=(holds_every_task, each_task_succeeded),
)

RULE = Rule(
    hypothesis="pipeline_run_succeeded",
    version=1,
    facts=(
        Fact(name="run_succeeded", needs=(RUN_STATE,)),
        Fact(name="all_tasks_succeeded", needs=(TASKS,)),
    ),
)
