"""Start a scratch PostgreSQL with durable commits, migrate it, and run the benchmarks against it.

`python -m tests.bench` runs all of them small, `python -m tests.bench audit_browsing --entries 5000000` one large.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")


BENCHES = (
    "log_writes", "reads", "verdict", "drafts", "verdicts", "audit", "audit_tree", "audit_browsing", "writes",
    "survival", "read_plane", "admission", "metrics",
)  # fmt: skip


def main() -> int:
    """Run the named benchmarks, or every one, once on a server of its own."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHES, []], metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument(
        "--entries", type=int, default=100_000, help="how many the log holds that is sealed and browsed"
    )
    parser.add_argument("--writers", type=int, default=8)
    given = parser.parse_args()
    from gate.config import embedded
    from gate.config.roles import PROCESSES, role_name

    base = Path(tempfile.mkdtemp(prefix="counterseal-bench-"))
    base.chmod(0o755)
    embedded.init_postgres(base / "postgres")
    command, options = embedded.postgres_command(base / "postgres", base / "run")
    server = embedded.spawn(command, log=base / "log", death=signal.SIGQUIT, **options)
    try:
        with embedded.wait_for_postgres(base / "run", server) as connection:
            for process in PROCESSES:
                embedded.ensure_role(connection, role_name(process), "bench")
            embedded.ensure_database(connection, "counterseal", role_name("owner"))
        _run(base / "run", given)
    finally:
        server.send_signal(signal.SIGQUIT)
        server.wait(10)
        shutil.rmtree(base, ignore_errors=True)
    return 0


def _run(sockets: Path, given: argparse.Namespace) -> None:
    import django
    from django.conf import settings
    from django.core.management import call_command

    settings.DATABASES["default"].update(
        HOST=str(sockets), PORT="", NAME="counterseal", USER="counterseal_owner", PASSWORD="bench", OPTIONS={}
    )
    django.setup()
    call_command("migrate", verbosity=0)
    from tests.bench import (
        admission,
        audit,
        audit_browsing,
        audit_tree,
        drafts,
        log_writes,
        metrics,
        read_plane,
        reads,
        survival,
        timing,
        verdict,
        verdicts,
        writes,
    )

    benches = {
        "log_writes": lambda: log_writes.run(sockets),
        "reads": lambda: reads.run(sockets),
        "verdict": verdict.run,
        "drafts": drafts.run,
        "verdicts": lambda: verdicts.run(sockets),
        "audit": lambda: audit.run(sockets, given.writers),
        "audit_tree": lambda: audit_tree.run(sockets, given.entries),
        "audit_browsing": lambda: audit_browsing.run(sockets, given.entries),
        "writes": lambda: writes.run(sockets),
        "survival": survival.run,
        "read_plane": read_plane.run,
        "admission": admission.run,
        "metrics": lambda: metrics.run(sockets),
    }
    for name in given.names or BENCHES:
        timing.say_load()
        benches[name]()


if __name__ == "__main__":
    sys.exit(main())
