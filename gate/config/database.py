"""Which database role this process connects as, and where."""

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import dj_database_url

from gate.config import secrets_file
from gate.config.environment import var_dir
from gate.config.roles import COMMANDS, role_name

SOCKET_PATH_LIMIT = 100  # sun_path holds 107 bytes, and PostgreSQL adds its lock file's suffix


def run_dir() -> Path:
    """The directory of the embedded servers' sockets: below var/, or below /tmp where that path is too long."""
    inside = var_dir() / "run"
    if len(str(inside / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT:
        return inside
    return Path("/tmp") / f"counterseal-{hashlib.sha256(str(var_dir()).encode()).hexdigest()[:12]}"


def process_of(argv: list[str]) -> str:
    """The process whose database role a command line runs as; `people` for commands that name none."""
    if "COUNTERSEAL_PROCESS" in os.environ:
        return os.environ["COUNTERSEAL_PROCESS"]
    words = [word for word in argv[1:] if not word.startswith("-")]
    for size in (2, 1):
        command = " ".join(words[:size])
        if command in COMMANDS:
            return COMMANDS[command]
    return "people"


def configuration() -> dict[str, Any]:
    """Django's settings for the default database.

    COUNTERSEAL_OWNER_URL (for `upgrade`) or DATABASE_URL come first; without them it is the embedded server.
    """
    process = process_of(sys.argv)
    url = os.environ.get("COUNTERSEAL_OWNER_URL" if process == "owner" else "DATABASE_URL")
    if url:
        return _with_options(dict(dj_database_url.parse(url)))
    return _with_options(embedded(process))


def embedded(process: str) -> dict[str, Any]:
    """The embedded server's settings for one process of the roles table."""
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "counterseal",
        "USER": role_name(process),
        "PASSWORD": secrets_file.load().get(f"db_{process}", ""),
        "HOST": str(run_dir()),
        "PORT": "",
    }


def _with_options(settings: dict[str, Any]) -> dict[str, Any]:
    return {**settings, "CONN_HEALTH_CHECKS": True, "OPTIONS": {"pool": {"min_size": 1, "max_size": 12}}}
