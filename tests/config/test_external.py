"""Servers of one's own: PostgreSQL over TCP, Redis or RabbitMQ, each process alone with a role and an environment.

The processes are started by the lines of the Procfile that `manage.py units` prints. Run it with -m external.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import psycopg
import pytest
from psycopg import sql

from audit import notes
from gate.config import embedded, units
from gate.config.database import WITHOUT_DATABASE
from gate.config.programs import PROGRAMS, UPGRADE, Program
from gate.config.roles import PROCESSES, role_name
from gate.config.services import CREDENTIALS
from gate.demo import own, shop
from tests.machine import free_port

pytestmark = [pytest.mark.external, pytest.mark.timeout(300)]
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 90.0
PASSWORD = "a-password-of-its-own"
SEAL_KEY = notes.SigningKey("example.com/log", bytes(range(32)))


@dataclass(frozen=True)
class Outside:
    """The servers, and where the planes will be."""

    base: Path
    port: int
    broker: str
    people: int
    agents: int
    witness: int

    def url(self, role: str, database: str = "counterseal") -> str:
        return f"postgresql://{role}:{PASSWORD}-{role}@127.0.0.1:{self.port}/{database}"

    def told(self, program: Program) -> dict[str, str]:
        """What an operator writes into its environment file."""
        told = {
            "COUNTERSEAL_OWNER_URL" if program == UPGRADE else "DATABASE_URL": self.url(role_name(program.process)),
            "COUNTERSEAL_ORIGIN": f"http://localhost:{self.people}",
            "COUNTERSEAL_AGENTS_ORIGIN": f"http://localhost:{self.agents}",
            "COUNTERSEAL_VAR": str(self.base / "var"),
        }
        if "COUNTERSEAL_BROKER_URL" in units.told(program):
            told["COUNTERSEAL_BROKER_URL"] = self.broker
        if program.name == "people":
            told["COUNTERSEAL_SECRET_KEY"] = "k" * 50
        if "COUNTERSEAL_CASES" in units.told(program):
            told["COUNTERSEAL_CASES"] = str(ROOT / "gate" / "demo" / "cases")
        if "COUNTERSEAL_LOG_PUBLIC_KEYS" in units.told(program):
            told["COUNTERSEAL_LOG_PUBLIC_KEYS"] = str(SEAL_KEY.public)
        told |= self.about_the_log(program)
        for kind in ("reader", "doctor", "writer"):
            name = f"SHOP_{kind.upper()}_DSN"
            if name.endswith(CREDENTIALS.get(program.process, ())):
                told[name] = self.url(f"shop_{kind}", "shop")
        if program.process == "reads":
            told |= {"OWN_READS_DSN": self.url("own_reader"), "OWN_DOCTOR_DSN": self.url("own_doctor")}
        return told

    def about_the_log(self, program: Program) -> dict[str, str]:
        """The key that seals, and who witnesses it."""
        state = self.base / "var" / "witness"
        told = {
            "sealer": {"COUNTERSEAL_SEAL_KEY": str(SEAL_KEY)},
            "publisher": {
                "COUNTERSEAL_WITNESS_URL": f"http://127.0.0.1:{self.witness}",
                "COUNTERSEAL_WITNESS_KEY": str(state / "public_key"),
            },
        }
        return told.get(program.process, {})

    def start(self, program: Program, **other: str) -> subprocess.Popen[bytes]:
        """One process, by its line of the Procfile, in a shell that knows nothing else."""
        lines = "".join(f"{name}={quote(value)}\n" for name, value in {**self.told(program), **other}.items())
        (self.base / "env" / f"{program.name}.env").write_text(lines)
        found = dict(line.split(": ", 1) for line in units.procfile(ROOT).splitlines())[program.name]
        ports = {"people": f" --port {self.people}", "agents": f" --port {self.agents}"}
        ports["witness"] = f" --listen 127.0.0.1:{self.witness}"
        with (self.base / f"{program.name}.log").open("ab") as output:
            return subprocess.Popen(
                ["sh", "-c", found + ports.get(program.name, "")],
                env=bare(), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip

    def manage(self, program: Program, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *words], env={**bare(), **self.told(program)}, cwd=ROOT,
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout + self.logs()
        return done.stdout

    def logs(self) -> str:
        return "\n".join(f"== {log.name}\n{log.read_text()[-2000:]}" for log in sorted(self.base.glob("*.log")))


def bare() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}


def until(is_so: Callable[[], bool], outside: Outside, said: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, f"{said} after {PATIENCE:.0f} s\n{outside.logs()}"
        time.sleep(0.2)


def program_of(name: str) -> Program:
    return next(program for program in PROGRAMS if program.name == name)


@contextmanager
def ended(process: subprocess.Popen[bytes], how: int = signal.SIGTERM) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(how)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@contextmanager
def postgres(base: Path) -> Iterator[int]:
    """A server over TCP, with the owner and its database as the README has them made, and the demo's shop."""
    port = free_port()
    embedded.init_postgres(base / "postgres")
    command, options = embedded.postgres_command(
        base / "postgres", base / "run", listen_addresses="127.0.0.1", fsync="off", port=str(port)
    )
    hba = base / "postgres" / "pg_hba.conf"
    hba.write_text(embedded.HBA + "host all all 127.0.0.1/32 scram-sha-256\n")
    server = embedded.spawn(command, log=base / "postgres.log", **options)
    with ended(server, signal.SIGQUIT), _superuser(base / "run", port, server) as connection:
        connection.execute(f"create role counterseal_owner login createrole password '{PASSWORD}-counterseal_owner'")
        connection.execute("create database counterseal owner counterseal_owner")
        names = [f"shop_{kind}" for kind in ("owner", "reader", "doctor", "writer")]
        shop.provision(connection, {name: f"{PASSWORD}-{name}" for name in names})
        with psycopg.connect(
            host=str(base / "run"), port=port, user="postgres", dbname="counterseal", autocommit=True
        ) as ours:
            own.make_logins(ours, {name: f"{PASSWORD}-{name}" for name in own.LOGINS})
        yield port


def _superuser(sockets: Path, port: int, server: subprocess.Popen[bytes]) -> psycopg.Connection[Any]:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return psycopg.connect(host=str(sockets), port=port, user="postgres", dbname="postgres", autocommit=True)
        except psycopg.OperationalError:
            assert server.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)


@contextmanager
def redis(base: Path) -> Iterator[str]:
    port = free_port()
    with (base / "redis.log").open("ab") as log:
        server = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--requirepass", "p", "--save", ""],
            stdout=log, stderr=log, cwd=base,
        )  # fmt: skip
    with ended(server):
        yield f"redis://:p@127.0.0.1:{port}/0"


@contextmanager
def rabbitmq(base: Path) -> Iterator[str]:
    port, distribution, mapper = free_port(), free_port(), free_port()
    (base / "rabbit").mkdir()
    (base / "rabbit").chmod(0o777)
    environment = {
        **bare(), "HOME": str(base / "rabbit"), "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port), "RABBITMQ_DIST_PORT": str(distribution), "ERL_EPMD_PORT": str(mapper),
        "RABBITMQ_NODENAME": f"test{port}@localhost", "RABBITMQ_MNESIA_BASE": str(base / "rabbit"),
        "RABBITMQ_LOG_BASE": str(base / "rabbit"), "RABBITMQ_ENABLED_PLUGINS_FILE": str(base / "rabbit" / "plugins"),
    }  # fmt: skip
    with (base / "rabbitmq.log").open("ab") as log:
        # The program below Debian's wrapper, which would change the account and with it lose the environment.
        server = subprocess.Popen(
            ["/usr/lib/rabbitmq/bin/rabbitmq-server"],
            stdout=log, stderr=log, env=environment, cwd=base, start_new_session=True,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + PATIENCE
        while not _answers(port):
            assert server.poll() is None, (base / "rabbitmq.log").read_text()[-2000:]
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield f"amqp://guest:guest@127.0.0.1:{port}//"
    finally:
        with ended(server):
            pass
        subprocess.run(["epmd", "-port", str(mapper), "-kill"], capture_output=True)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


BROKERS = {"redis-server": redis, "rabbitmq-server": rabbitmq}


@pytest.fixture(scope="module", params=BROKERS)
def outside(request: Any) -> Iterator[Outside]:
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not on this machine; install the package of that name")
    base = Path(tempfile.mkdtemp(prefix="counterseal-external-"))
    base.chmod(0o755)
    kept, units.ENVIRONMENT_FILES = units.ENVIRONMENT_FILES, base / "env"
    (base / "env").mkdir(mode=0o700)
    try:
        with postgres(base) as port, BROKERS[request.param](base) as broker:
            made = Outside(base, port, broker, free_port(), free_port(), free_port())
            made.manage(UPGRADE, "upgrade")
            with psycopg.connect(
                host=str(base / "run"), port=port, user="postgres", dbname="counterseal", autocommit=True
            ) as ours:
                own.make_views(ours)
            _set_passwords(made)
            yield made
    finally:
        units.ENVIRONMENT_FILES = kept
        shutil.rmtree(base, ignore_errors=True)


def _set_passwords(outside: Outside) -> None:
    # By the owner: nobody stronger is needed once the database is there.
    with psycopg.connect(outside.url("counterseal_owner"), autocommit=True) as connection:
        for name in (role_name(process) for process in PROCESSES[1:]):
            connection.execute(
                sql.SQL("alter role {} password {}").format(sql.Identifier(name), sql.Literal(f"{PASSWORD}-{name}"))
            )


def health(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=6)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def test_each_process_alone_takes_verdicts_from_report_to_inbox(outside: Outside) -> None:
    people = program_of("people")
    outside.manage(people, "collectstatic", "--noinput", "--verbosity", "0")
    with ExitStack() as running:
        started = {program.name: running.enter_context(ended(outside.start(program))) for program in PROGRAMS}
        until(lambda: health(outside.people) == health(outside.agents) == 200, outside, "The planes are not well")
        outside.manage(people, "demo")
        assert {name: process.poll() for name, process in started.items()} == dict.fromkeys(started)
    with psycopg.connect(outside.url("counterseal_people")) as connection:
        drafts = connection.execute("select outcome, count(*) from triage_draft group by 1").fetchall()
        left = connection.execute("select count(*) from audit_outbox where done_at is null").fetchone()
        writers = connection.execute("select distinct db_role from audit_entry").fetchall()
    assert sum(count for _, count in drafts) >= 6
    assert "pass" in dict(drafts)
    assert left == (0,)
    assert {"counterseal_agents", "counterseal_worker", "counterseal_reads"} <= {role for (role,) in writers}
    for log in outside.base.glob("*.log"):
        assert PASSWORD not in log.read_text(), log.name


WITH_A_ROLE = [program for program in PROGRAMS if program.process not in WITHOUT_DATABASE]


@pytest.mark.parametrize("program", WITH_A_ROLE, ids=lambda program: program.name)
def test_no_process_starts_with_more_power_than_its_own(outside: Outside, program: Program) -> None:
    with ended(outside.start(program, DATABASE_URL=outside.url("counterseal_owner"))) as process:
        until(lambda: process.poll() is not None, outside, f"{program.name} runs as the owner")
    assert process.returncode != 0
    assert "can do more than" in (outside.base / f"{program.name}.log").read_text()


def test_an_upgrade_again_keeps_everything(outside: Outside) -> None:
    assert "The guards are as before." in outside.manage(UPGRADE, "upgrade")
    assert json.loads((outside.base / "var" / "demo.json").read_text())["people"]
