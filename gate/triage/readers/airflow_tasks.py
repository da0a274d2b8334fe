"""airflow_get_task_instances: the tasks of one run of a pipeline, as Airflow's REST API lists them."""

from gate.triage.readers.document import Answer, Unreadable

STATES = (
    "success", "running", "failed", "upstream_failed", "skipped", "up_for_retry", "up_for_reschedule", "queued",
    "scheduled", "deferred", "removed", "restarting", "sensing", "shutdown", "none",
)  # fmt: skip
# What the list says, or the question, when there is more of it than it holds.
INCOMPLETE = ("total_entries", "next_cursor", "limit", "offset")
# Airflow writes both in every task; a record may have left out both, but not one of them.
WHOSE = ("dag_id", "dag_run_id")


class AirflowTasks(Answer):
    """The tasks of a run, each try of a task in the place of the one before."""

    tools = ("airflow_get_task_instances",)

    def complete(self) -> bool:
        """True. Raises Unreadable unless the list proves to hold every task of the run."""
        listed = self.listed()
        if self.result.integer("total_entries") != listed:
            raise Unreadable("/total_entries", f"`total_entries` is not the {listed} in the list.", f"{listed} listed")
        if self.result.has("next_cursor") and not self.result.is_null("next_cursor"):
            raise Unreadable("/next_cursor", "`next_cursor` says that the list goes on.", "a next page")
        if self.args.has("offset") and self.args.integer("offset") != 0:
            raise Unreadable("/offset", "the list was asked for from a later task on.", "an offset")
        if self.args.has("limit") and self.args.integer("limit") <= listed:
            raise Unreadable("/task_instances", f"the page is full with {listed}, so there may be more.", f"{listed}")
        return True

    def listed(self) -> int:
        """How many tasks are in the answer."""
        return self.result.length("task_instances")

    def task_id(self, index: int) -> str:
        """The id of a task."""
        return self.result.text("task_instances", index, "task_id")

    def map_index(self, index: int) -> int:
        """Which copy of a mapped task it is."""
        return self.result.integer("task_instances", index, "map_index")

    def state(self, index: int) -> str:
        """How a task stands, out of the closed list. A task that was never scheduled has null, which is no state."""
        return self.result.one_of(STATES, "task_instances", index, "state")

    def has_owners(self) -> bool:
        """Whether any task says to which run it belongs; then all of them must."""
        places = range(self.listed())
        return len([key for i in places for key in WHOSE if self.result.has("task_instances", i, key)]) > 0

    def dag_id(self, index: int) -> str:
        """The pipeline that a task belongs to."""
        return self.result.text("task_instances", index, "dag_id")

    def run_id(self, index: int) -> str:
        """The run that a task belongs to."""
        return self.result.text("task_instances", index, "dag_run_id")
