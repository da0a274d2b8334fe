"""The older of the two servers that the wheel carries, for tests of targets below 18."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from gate.config import embedded

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "32MB"}


@contextmanager
def server() -> Iterator[Path]:
    """A running server of that version; its socket directory. It ends with the block."""
    programs = embedded.postgres_bin().parent.parent / "pginstall" / "bin"
    base = Path(tempfile.mkdtemp(prefix="counterseal-older-"))
    base.chmod(0o755)
    with mock.patch.object(embedded, "postgres_bin", return_value=programs):
        embedded.init_postgres(base / "postgres")
        command, options = embedded.postgres_command(base / "postgres", base / "run", **FAST)
    process = embedded.spawn(command, log=base / "log", death=signal.SIGQUIT, **options)
    try:
        with embedded.wait_for_postgres(base / "run", process) as connection:
            embedded.ensure_role(connection, "writes_test_writer", "w")
        yield base / "run"
    finally:
        _end(process)
        shutil.rmtree(base, ignore_errors=True)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGQUIT)
    process.wait(10)
