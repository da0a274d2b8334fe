"""Writers as processes that can be killed, each forked from one that has everything loaded: a blow costs little then.

A line on standard input is a job; "pid" and later "end pid code" come back. Run by test_random_kills.
"""

from __future__ import annotations

import os
import sys

import django


def main() -> None:
    """Start a writer for each line until there are no more."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")
    django.setup()
    from gate.writes import sealed, tasks

    sealed.check = lambda entry: None  # no sealer runs beside these tests
    _say("ready")
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            tasks.execute_write(int(line))
            os._exit(0)
        _say(str(pid))
        _, status = os.waitpid(pid, 0)
        _say(f"end {os.waitstatus_to_exitcode(status)}")


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
