"""Start a scratch PostgreSQL with durable commits, migrate it, and run the benchmarks against it."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gate.config.settings")


def main() -> int:
    """Run every benchmark once, on a server of its own."""
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
        _run(base / "run")
    finally:
        server.send_signal(signal.SIGQUIT)
        server.wait(10)
        shutil.rmtree(base, ignore_errors=True)
    return 0


def _run(sockets: Path) -> None:
    import django
    from django.conf import settings
    from django.core.management import call_command

    settings.DATABASES["default"].update(
        HOST=str(sockets), PORT="", NAME="counterseal", USER="counterseal_owner", PASSWORD="bench", OPTIONS={}
    )
    django.setup()
    call_command("migrate", verbosity=0)
    from tests.bench import log_writes, reads, verdicts

    for bench in (log_writes, reads, verdicts):
        bench.run(sockets)


if __name__ == "__main__":
    sys.exit(main())
