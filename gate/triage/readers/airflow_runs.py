"""airflow_get_dag_run: one run of a pipeline, as Airflow's REST API tells it."""

from datetime import datetime

from gate.triage.readers.document import Answer

# Airflow writes all of these in every run; a record may have left out all of them, but not one.
AS_WRITTEN = ("start_date", "end_date", "logical_date", "run_type")
STATES = ("queued", "running", "success", "failed")


class AirflowRun(Answer):
    """A run. Its state follows from its last tasks alone: it can be `success` over a task that failed."""

    tools = ("airflow_get_dag_run",)

    def dag_id(self) -> str:
        """The pipeline."""
        return self.result.text("dag_id")

    def run_id(self) -> str:
        """The run of it."""
        return self.result.text("dag_run_id")

    def state(self) -> str:
        """How it stands, out of the closed list."""
        return self.result.one_of(STATES, "state")

    def tells_when_it_ended(self) -> bool:
        """Whether the record has the run as Airflow writes it, with its times. While it runs, the end is null."""
        return len([key for key in AS_WRITTEN if self.result.has(key)]) > 0

    def ended_at(self) -> datetime:
        """When it came to its end."""
        return self.result.moment("end_date")
