"""A writer in a process of its own that sends itself a signal right after a named step. Run by test_kills.

python -m tests.writes.writer_child JOB_ID [STEP SIGNAL]
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import django


def stop_after(name: str, wanted: signal.Signals) -> None:
    from gate.writes import execution

    kept = getattr(execution, name)

    def step(*given: Any) -> Any:
        result = kept(*given)
        os.kill(os.getpid(), wanted)
        return result

    setattr(execution, name, step)


def main(job_id: str, step: str = "", wanted: str = "SIGKILL") -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")
    django.setup()
    from gate.writes import sealed, tasks

    sealed.check = lambda entry: None  # no sealer runs beside these tests
    if step:
        stop_after(step, signal.Signals[wanted])
    tasks.execute_write(int(job_id))


if __name__ == "__main__":
    main(*sys.argv[1:])
