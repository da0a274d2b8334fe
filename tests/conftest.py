"""One PostgreSQL for the whole run, with the product's own roles and grants.

Ordinary database tests run as the owner. `as_role("people")` connects as a process's role instead, and needs
`django_db(transaction=True)`. Entries are committed on connections of their own and stay until the run ends: find
them by call id or subject, never by counting.
"""

from __future__ import annotations

import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_cluster: dict[str, Any] = {}
EMPTY_LOG = "empty_log"
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "64MB"}


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return  # it only hands tests to its workers, and each of those has a server of its own
    from django.conf import settings

    from gate.config import embedded
    from gate.config.roles import PROCESSES, role_name
    from tests import flushing

    base = Path(tempfile.mkdtemp(prefix="counterseal-test-"))
    base.chmod(0o755)
    embedded.init_postgres(base / "postgres")
    command, options = embedded.postgres_command(base / "postgres", base / "run", **FAST)
    server = embedded.spawn(command, log=base / "log", death=signal.SIGQUIT, **options)
    with embedded.wait_for_postgres(base / "run", server) as connection:
        for process in PROCESSES:
            embedded.ensure_role(connection, role_name(process), f"test-{process}")
        connection.execute(f"alter role {role_name('owner')} createdb")
        # Lets the owner end other roles' sessions when a test database is dropped.
        connection.execute(f"grant pg_signal_backend to {role_name('owner')}")
    _cluster.update(base=base, server=server)
    default = settings.DATABASES["default"]
    default.update(HOST=str(base / "run"), PORT="", NAME="counterseal", USER=role_name("owner"), PASSWORD="test-owner")
    default["OPTIONS"] = {}
    default.setdefault("TEST", {})
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    # scrypt is slow by design, and tests sign in often
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Tests decide at once and often; what limits that is tested where a test sets it.
    settings.VIEWING_SECONDS = {"normal": 0, "high": 0}
    settings.PROPOSALS_PER_HOUR = settings.APPROVALS_PER_HOUR = 1_000_000
    flushing.replace_flush()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not _cluster:
        return
    from audit import streams

    streams.close()
    server: subprocess.Popen[bytes] = _cluster["server"]
    server.send_signal(signal.SIGQUIT)
    server.wait(10)
    shutil.rmtree(_cluster["base"], ignore_errors=True)
    _cluster.clear()


@pytest.fixture(scope="session")
def cluster_socket() -> Path:
    """The socket directory of the run's PostgreSQL, for tests that make databases of their own as `superuser`."""
    return Path(_cluster["base"]) / "run"


@pytest.fixture
def superuser(cluster_socket: Path) -> Iterator[Any]:
    """A superuser's autocommit connection to the cluster."""
    import psycopg

    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname="postgres", autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any, cluster_socket: Path) -> None:
    import psycopg
    from django.db import connection

    from gate.config import provision
    from gate.config.roles import role_name

    with django_db_blocker.unblock():
        provision.apply()
        with connection.cursor() as cursor:
            # Tests that are not about roles write any kind as the owner.
            cursor.execute(f"grant insert on audit_kind to {role_name('owner')}")
            # Entries stay while incidents go. No real incident may be given a number that a test has made up.
            cursor.execute("alter table triage_incident alter column id restart with 1000000")
        # The same tables with an empty log: tests that count, seal or tamper copy it (see `own_log`).
        connection.close()
        with psycopg.connect(
            host=str(cluster_socket), user="postgres", dbname="postgres", autocommit=True
        ) as superuser:
            superuser.execute(f"drop database if exists {EMPTY_LOG}")
            superuser.execute(f'create database {EMPTY_LOG} template "{connection.settings_dict["NAME"]}"')


@pytest.fixture
def as_role(transactional_db: None) -> Iterator[Callable[[str], None]]:
    """Call it with a process's name, and Django connects as that process's role from then on."""
    from django.db import connection

    from gate.config.roles import role_name

    kept = dict(connection.settings_dict)

    def become(process: str) -> None:
        connection.close()
        connection.settings_dict.update(USER=role_name(process), PASSWORD=f"test-{process}")

    yield become
    connection.close()
    connection.settings_dict.update(kept)


@pytest.fixture
def own_log(as_role: Callable[[str], None], superuser: Any) -> Iterator[str]:
    """A database of its own for the test, with an empty log; Django uses it until the test ends. Its name."""
    from django.db import connection

    from audit import streams
    from gate.config.roles import role_name

    usual, name = connection.settings_dict["NAME"], f"log_{secrets.token_hex(4)}"
    superuser.execute(f"create database {name} template {EMPTY_LOG} strategy file_copy owner {role_name('owner')}")
    connection.close()
    connection.settings_dict["NAME"] = name
    yield name
    connection.close()
    streams.close()
    connection.settings_dict["NAME"] = usual
    superuser.execute(f"drop database {name} with (force)")


@pytest.fixture(autouse=True)
def no_flood() -> Iterator[None]:
    """Refusals are counted by name and minute, tests use the same names, and the database ends before the process."""
    from evidence import recording
    from gate.people import refusals

    yield
    recording.counting.counts.clear()
    recording.limited.counts.clear()
    refusals.counting.counts.clear()


@pytest.fixture
def make_person(db: None) -> Callable[..., Any]:
    """A person by name and role; the password is "correct horse battery"."""
    from gate.people.models import Person

    def make(username: str, role: str = "on_call", full_name: str = "") -> Person:
        return Person.objects.create_user(
            username, password="correct horse battery", role=role, full_name=full_name or username.title()
        )

    return make


@pytest.fixture
def make_agent(make_person: Callable[..., Any]) -> Callable[..., tuple[Any, str]]:
    """An agent with its owner and a token: (agent, token)."""
    from audit import agents, log
    from audit.models import Agent

    def make(name: str = "triage-agent", owner: Any = None, scopes: tuple[str, ...] = agents.SCOPES) -> tuple[Any, str]:
        owner = owner or make_person(f"{name}-owner", "admin")
        by = log.Actor("person", str(owner), owner.username)
        token = agents.issue_token(name, owner=owner, scopes=list(scopes), label="test", by=by)
        return Agent.objects.get(name=name), token

    return make


@pytest.fixture
def define(make_person: Callable[..., Any]) -> Callable[..., Any]:
    """Draft a definition by one admin and activate it by another, as the screens do."""
    from audit import twohands
    from gate.people.models import Person
    from tests.earned import as_golden, as_tried

    def hands() -> tuple[Person, Person]:
        found = list(Person.objects.filter(username__in=["first-hand", "second-hand"]).order_by("username"))
        return (
            (found[0], found[1]) if found else (make_person("first-hand", "admin"), make_person("second-hand", "admin"))
        )

    def make(kind: str, name: str, body: dict[str, Any]) -> Any:
        first, second = hands()
        version = twohands.draft(kind, name, body, by=first, reason="for a test")
        if kind == "rule":
            as_tried(version, second)
        if kind == "metric":
            as_golden(version, second)
        return twohands.activate(version.pk, by=second)

    return make
