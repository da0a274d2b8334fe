"""airflow_get_dag_run: one run of a pipeline, as Airflow's REST API tells it."""

from gate.triage.readers.document import Answer

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
