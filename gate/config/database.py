"""Which database role this process connects as, where, and which broker it knows."""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dj_database_url

from audit.pooling import RECONNECT_SECONDS
from gate.config import secrets_file
from gate.config.environment import var_dir
from gate.config.roles import COMMANDS, role_name

NAME = "counterseal"
ORIGINS = "origins.json"  # below var/: with other ports than usual, an operator's command could not know them
PLANES = {"people": "COUNTERSEAL_ORIGIN", "agents": "COUNTERSEAL_AGENTS_ORIGIN"}
SOCKET_PATH_LIMIT = 100  # sun_path holds 107 bytes, and PostgreSQL adds its lock file's suffix
# The broker is known to those who publish and consume. A plane writes an outbox row instead.
KNOW_THE_BROKER = ("reads", "answers", "worker", "writer")
# The witness stands outside: whatever it were told about the log from within would be worth nothing. A replay reads
# files, and so does whatever judges by a policy or compares two, so that both can run in a build.
WITHOUT_DATABASE = ("witness", "replay", "policy")


def run_dir() -> Path:
    """The directory of the embedded servers' sockets: below var/, or below /tmp where that path is too long."""
    inside = var_dir() / "run"
    if len(str(inside / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT:
        return inside
    return Path("/tmp") / f"counterseal-{hashlib.sha256(str(var_dir()).encode()).hexdigest()[:12]}"


def place() -> Path | None:
    """The directory on whose disk the database is, when it is the embedded one; else None: its machine knows."""
    return var_dir() if configuration().get("HOST") == str(run_dir()) else None


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
    if process in WITHOUT_DATABASE:
        return {"ENGINE": "django.db.backends.dummy"}
    url = _given_url(process)
    if url:
        return _with_options(dict(dj_database_url.parse(url)))
    return _with_options(embedded(process))


def _given_url(process: str) -> str | None:
    return os.environ.get("COUNTERSEAL_OWNER_URL" if process == "owner" else "DATABASE_URL")


def stored_secret(name: str) -> str:
    """A secret of the embedded installation; empty for a process that was told its database, and so runs without."""
    process = process_of(sys.argv)
    return "" if process in WITHOUT_DATABASE or _given_url(process) else secrets_file.load().get(name, "")


def started_at(plane: str) -> str:
    """Where a plane of the embedded installation is reached, as it noted itself; empty when the environment says."""
    if PLANES[plane] in os.environ or not stored_secret("secret_key"):
        return ""
    try:
        noted = json.loads((var_dir() / ORIGINS).read_text())
    except FileNotFoundError:
        return ""
    return str(noted[plane])


def embedded(process: str) -> dict[str, Any]:
    """The embedded server's settings for one process of the roles table."""
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": NAME,
        "USER": role_name(process),
        "PASSWORD": secrets_file.load().get(f"db_{process}", ""),
        "HOST": str(run_dir()),
        "PORT": "",
    }


def socket_url(sockets: Path, role: str, password: str, name: str = NAME) -> str:
    """The URL of a database behind a socket directory, whatever characters its path has."""
    return f"postgresql://{role}:{quote(password, safe='')}@{quote(str(sockets), safe='')}/{name}"


def socket_broker_url(sockets: Path, password: str) -> str:
    """Celery's URL of the embedded Valkey."""
    return f"redis+socket://:{quote(password, safe='')}@{quote(str(sockets / 'valkey.sock'))}"


def broker_url(process: str) -> str:
    """COUNTERSEAL_BROKER_URL, or the embedded broker for the processes that know it; else empty."""
    given = os.environ.get("COUNTERSEAL_BROKER_URL", "")
    password = stored_secret("broker")
    if given or process not in KNOW_THE_BROKER or not password:
        return given
    return socket_broker_url(run_dir(), password)


def _with_options(settings: dict[str, Any]) -> dict[str, Any]:
    options = {"connect_timeout": 5, **settings.get("OPTIONS", {})}
    # The planes run many threads; everything else has one, and workers fork.
    if sys.argv[1:2] == ["serve"]:
        options["pool"] = {"min_size": 1, "max_size": 12, "timeout": 5, "reconnect_timeout": RECONNECT_SECONDS}
        settings = {**settings, "ENGINE": "gate.config.postgresql"}
    return {**settings, "CONN_HEALTH_CHECKS": True, "OPTIONS": options}
