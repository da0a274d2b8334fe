"""What `manage.py up` runs, as a table, and the environment that each of its children gets.

A child knows what its work needs and no more: its own database role, the broker only where it publishes or consumes,
production credentials only where it reads or writes production; the session key, the mail server and the sign-in
provider only where people sign in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT, SIGKILL

from django.conf import settings

from audit import notes
from gate.config import database, embedded, environment, oidc, secrets_file, smtp
from gate.config.children import Child, Stage
from gate.config.environment import BASE_DIR
from gate.config.nightly import Nightly
from gate.config.programs import DRILL, PROGRAMS, Program
from gate.config.roles import role_name

# Each has a default; the planes that hold people and agents to them are told.
LIMITS = (
    "COUNTERSEAL_PROPOSALS_PER_HOUR", "COUNTERSEAL_APPROVALS_PER_HOUR", "COUNTERSEAL_VIEWING_SECONDS",
    "COUNTERSEAL_HIGH_RISK_VIEWING_SECONDS",
)  # fmt: skip
PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "COUNTERSEAL_HOSTS", "COUNTERSEAL_DEBUG", "COUNTERSEAL_VERDICT_RULES",
    "COUNTERSEAL_RETENTION_MONTHS", "COUNTERSEAL_LOG_PUBLIC_KEYS", *LIMITS,
)  # fmt: skip
# Where bad proposals are that people are to turn down, and how many come in a week.
CANARIES = ("COUNTERSEAL_CANARIES", "COUNTERSEAL_CANARIES_A_WEEK")
# The model that answers what a policy asks: who asks it is told, and nobody else.
ANSWERING = (
    "COUNTERSEAL_ANSWERING_KIND", "COUNTERSEAL_ANSWERING_URL", "COUNTERSEAL_ANSWERING_MODEL",
    "COUNTERSEAL_ANSWERING_KEY", "COUNTERSEAL_ANSWERING_KEY_FILE", "COUNTERSEAL_ANSWERING_PROXY",
)  # fmt: skip
# What else is passed on, to whom alone.
TOLD = {
    "people": ("COUNTERSEAL_SECRET_KEY", "COUNTERSEAL_METRICS_TOKEN", *smtp.VARIABLES, *oidc.VARIABLES),
    "agents": ("COUNTERSEAL_METRICS_TOKEN",),
    "answers": ANSWERING,
    "worker": CANARIES,
    "writer": ("COUNTERSEAL_WRITE_FLOOR",),
}
# Which production credentials a process is given, by the end of the variable's name.
CREDENTIALS = {
    "agents": ("_READER_DSN", "_READER_TOKEN"),
    # _READS_DSN: a reader that agents do not get, for sources that are for people alone.
    "reads": ("_READER_DSN", "_READER_TOKEN", "_READS_DSN", "_DOCTOR_DSN", "_DOCTOR_TOKEN"),
    "writer": ("_WRITER_DSN",),
}


@dataclass(frozen=True)
class Installation:
    """One machine's installation: where its state is, its secrets, and where its planes are found."""

    var: Path
    sockets: Path
    secrets: Mapping[str, str]
    port: int
    agents_port: int
    has_demo: bool
    witness_port: int = 0

    @property
    def origin(self) -> str:
        return os.environ.get("COUNTERSEAL_ORIGIN", f"http://localhost:{self.port}")

    @property
    def agents_origin(self) -> str:
        return os.environ.get("COUNTERSEAL_AGENTS_ORIGIN", f"http://localhost:{self.agents_port}")

    def demo_dsns(self) -> dict[str, str]:
        """The credentials of the demo's shop and of Counterseal's own record, as their definitions name them."""
        if not self.has_demo:
            return {}
        shop = {
            f"SHOP_{kind.upper()}_DSN": self._dsn(f"shop_{kind}", "shop") for kind in ("reader", "doctor", "writer")
        }
        own = {"OWN_READS_DSN": "own_reader", "OWN_DOCTOR_DSN": "own_doctor"}
        return shop | {name: self._dsn(role, database.NAME) for name, role in own.items()}

    def _dsn(self, role: str, name: str) -> str:
        return database.socket_url(self.sockets, role, self.secrets[role], name)

    def database_url(self, process: str) -> str:
        """The connection of a process's own role."""
        return database.socket_url(self.sockets, role_name(process), self.secrets[f"db_{process}"])

    def environment(self, process: str) -> dict[str, str]:
        """Everything that a child with this process's role is told."""
        names = (*PASSED_ON, *TOLD.get(process, ()))
        passed_on = {name: os.environ[name] for name in names if name in os.environ}
        return self._told_all(process) | self._told_it_alone(process) | passed_on | self._credentials(process)

    def _told_all(self, process: str) -> dict[str, str]:
        told = {
            "COUNTERSEAL_VAR": str(self.var),
            "COUNTERSEAL_PROCESS": process,
            "COUNTERSEAL_ORIGIN": self.origin,
            "COUNTERSEAL_AGENTS_ORIGIN": self.agents_origin,
            "COUNTERSEAL_LOG": settings.LOG_FORMAT,
            "COUNTERSEAL_LOG_PUBLIC_KEYS": str(notes.SigningKey.parse(self.secrets["seal_key"]).public),
            "PYTHONUNBUFFERED": "1",
        }
        if process not in database.WITHOUT_DATABASE:
            told["COUNTERSEAL_OWNER_URL" if process == "owner" else "DATABASE_URL"] = self.database_url(process)
        if process in database.KNOW_THE_BROKER:
            told["COUNTERSEAL_BROKER_URL"] = database.socket_broker_url(self.sockets, self.secrets["broker"])
        return told

    def _told_it_alone(self, process: str) -> dict[str, str]:
        match process:
            case "people":
                checkpoints = self._where_checkpoints_go()
                return {
                    "COUNTERSEAL_CASES": self._cases(),
                    "COUNTERSEAL_SECRET_KEY": self.secrets["secret_key"],
                    "COUNTERSEAL_WITNESS_KEY": checkpoints["COUNTERSEAL_WITNESS_KEY"],
                }
            case "worker":
                return {"COUNTERSEAL_CASES": self._cases()}
            case "sealer":
                return {"COUNTERSEAL_SEAL_KEY": self.secrets["seal_key"]}
            case "publisher":
                return self._where_checkpoints_go()
        return {}

    def _credentials(self, process: str) -> dict[str, str]:
        given = {**os.environ, **self.demo_dsns()}
        return {name: dsn for name, dsn in given.items() if name.endswith(CREDENTIALS.get(process, ()))}

    def _cases(self) -> str:
        """One's own folders of cases, and the shop's: its rules are tried on those before two admins activate them."""
        own = os.environ.get("COUNTERSEAL_CASES", "")
        shops = str(BASE_DIR / "gate" / "demo" / "cases") if self.has_demo else ""
        return ":".join(folder for folder in (own, shops) if folder)

    def _where_checkpoints_go(self) -> dict[str, str]:
        """The witness beside us, and whatever other places were named."""
        beside = {
            "COUNTERSEAL_WITNESS_URL": f"http://127.0.0.1:{self.witness_port}",
            "COUNTERSEAL_WITNESS_KEY": str(self.var / "witness" / "public_key"),
        }
        names = ("COUNTERSEAL_CHECKPOINT_FILE", "COUNTERSEAL_CHECKPOINT_WEBHOOK", *beside)
        return beside | {name: os.environ[name] for name in names if name in os.environ}


def lend_demo_credentials() -> None:
    """Put the demo's readers and doctors into this command's environment, as the reads worker has them.

    Only for commands that run as `reads` on the embedded server, such as `prove_reader`; what is set already stays.
    """
    if settings.PROCESS != "reads" or not database.stored_secret("shop_reader"):
        return
    at = Installation(environment.var_dir(), database.run_dir(), secrets_file.load(), 0, 0, has_demo=True)
    for name, dsn in at.demo_dsns().items():
        if name.endswith(CREDENTIALS["reads"]):
            os.environ.setdefault(name, dsn)


def manage(*words: str) -> list[str]:
    """A command line of manage.py under the Python that runs us."""
    return [sys.executable, str(BASE_DIR / "manage.py"), *words]


def postgres(at: Installation) -> Child:
    """The database; its files are made on the first start. Raises EmbeddedError."""
    data = at.var / "postgres"
    embedded.init_postgres(data)
    command, options = embedded.postgres_command(data, at.sockets)
    embedded.clear_pid_files(data, at.sockets)
    log = at.var / "log" / "postgres.log"
    # SIGINT is its fast stop: open transactions are rolled back, nothing is lost.
    return Child("postgres", command, Stage.DATABASE, log, options, stop_signal=SIGINT, death_signal=SIGINT, grace=20)


def valkey(at: Installation) -> Child:
    """The broker."""
    command = embedded.valkey_command(at.var / "valkey", at.sockets, at.secrets["broker"])
    return Child("valkey", command, Stage.BROKER, at.var / "log" / "valkey.log", {"cwd": "/"})


def processes(at: Installation) -> list[Child]:
    """Our own processes, in the order of starting; without those that have nothing to do here."""
    needed = [program for program in PROGRAMS if not program.needs or os.environ.get(program.needs)]
    return [_worker(at, program) if program.is_worker else _child(at, program) for program in needed]


def nightly(at: Installation) -> Nightly:
    """The tamper drill, which runs once a night."""
    options = {"cwd": BASE_DIR, "env": at.environment(DRILL.process)}
    return Nightly(DRILL.title, DRILL.command(), at.var / "drill.began", at.var / "log" / "drill.log", options)


def _child(at: Installation, program: Program) -> Child:
    options = {"cwd": BASE_DIR, "env": at.environment(program.process)}
    ports = {"people": ["--port", str(at.port)], "agents": ["--port", str(at.agents_port)]}
    ports["witness"] = ["--listen", f"127.0.0.1:{at.witness_port}"]
    command = [*program.command(), *ports.get(program.name, [])]
    return Child(program.name, command, Stage.ASKING, at.var / "log" / f"{program.name}.log", options)


def _worker(at: Installation, program: Program) -> Child:
    # TERM as QUIT: a task that runs gets three seconds and then goes back to the queue.
    options = {"cwd": BASE_DIR, "env": {**at.environment(program.process), "REMAP_SIGTERM": "SIGQUIT"}}
    log = at.var / "log" / f"{program.name}.log"
    name = f"{program.name} worker"
    # Killed and not asked when we die: the broker goes at the same moment, and a warm stop would wait for it.
    return Child(name, program.command(), Stage.WORKING, log, options, death_signal=SIGKILL, grace=15)
