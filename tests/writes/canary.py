"""A canary as an operator's file has it: it says one job and takes a thousand."""

from __future__ import annotations

from typing import Any

ROWS = [
    {
        "key": {"job_id": str(number)}, "columns": ["job_id", "state", "locked_by"],
        "before": {"job_id": str(number), "state": "running", "locked_by": "worker-7"},
        "after": {"job_id": str(number), "state": "cancelled", "locked_by": None},
    }
    for number in range(1, 4)
]  # fmt: skip
CANARY: dict[str, Any] = {
    "agent": "triage-agent", "target": "orders", "title": "Requeue job 1", "reason": "Job 1 hangs since noon.",
    "statement": "update shop.jobs set state = 'cancelled', locked_by = null where state = $1",
    "parameters": [{"t": "text", "v": "running"}], "footprint": {"shop.jobs": [0, 3, 0]}, "rows": ROWS,
    "flaw": "It says that it requeues one job, and cancels every job that runs.",
}  # fmt: skip
