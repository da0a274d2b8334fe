"""`manage.py up`: everything on one machine, started in order, kept running, stopped in order."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import psycopg
from django.utils.module_loading import import_string

from gate.config import database, embedded, place, secrets_file, services
from gate.config.children import Child, Stage, tail
from gate.config.environment import BASE_DIR, var_dir
from gate.config.nightly import Nightly
from gate.config.roles import PROCESSES, role_name
from gate.config.services import Installation
from gate.config.single import CannotStart, check_ports, free_port, lock

SECONDS_TO_HEALTH = 90.0
# The demo is named and not imported: nothing depends on it, and an installation without it starts the same.
DEMO_SHOP = "gate.demo.shop.provision"
DEMO_LOGINS, DEMO_VIEWS = "gate.demo.own.make_logins", "gate.demo.own.make_views"


class Supervisor:
    """One run of `up`. `say` shows a line to the person at the terminal."""

    def __init__(self, *, port: int, agents_port: int, has_demo: bool, say: Callable[[str], None]) -> None:
        self.ports = (port, agents_port)
        self.has_demo = has_demo
        self.say = say
        self.children: list[Child] = []
        self.nightly: Nightly | None = None
        self.is_asked_to_stop = False
        self._is_undisturbed = False

    def run(self) -> None:
        """Start all and stay until Ctrl-C or TERM, then stop all. Raises CannotStart."""
        _stop_on_signals(self._interrupt)
        var = var_dir()
        place.prepare(var)
        with place.in_words(var):
            held = lock(var / "up.lock", f"http://localhost:{self.ports[0]}")
        with held:
            check_ports(*self.ports)
            try:
                self._start_or_say_why(var)
                self._watch(lambda: False)
            except KeyboardInterrupt:
                self.say("Stopping.")
            finally:
                self._stop()

    def _start_or_say_why(self, var: Path) -> None:
        try:
            with place.in_words(var):
                self._start(self._installation(var))
        except (CannotStart, embedded.EmbeddedError) as refusal:
            place.check_room(var)  # a full disk has many faces, and this is the one to read
            raise CannotStart(str(refusal)) from refusal

    def _installation(self, var: Path) -> Installation:
        port, agents_port = self.ports
        secrets = secrets_file.create_missing()
        return Installation(var, database.run_dir(), secrets, port, agents_port, self.has_demo, free_port(8002))

    def _start(self, at: Installation) -> None:
        secrets_file.write(at.var / database.ORIGINS, {"people": at.origin, "agents": at.agents_origin})
        self._start_servers(at)
        self._run_to_end(
            at, {"upgrade": ("owner", services.manage("upgrade")), "collectstatic": ("people", _collectstatic())}
        )
        if self.has_demo:
            with closing(embedded.superuser_connection(at.sockets, database.NAME)) as own:
                import_string(DEMO_VIEWS)(own)
        for child in services.processes(at):
            self._add(child)
        self._wait_for_health(at)
        if self.has_demo:
            self._run_to_end(at, {"demo": ("people", services.manage("demo"))})
        self.nightly = services.nightly(at)
        self._welcome(at)

    def _add(self, child: Child) -> Child:
        self.children.append(child)
        with self._undisturbed():
            child.start()
        return child

    def _start_servers(self, at: Installation) -> None:
        database_server = self._add(services.postgres(at))
        assert database_server.process is not None  # just started
        self._add(services.valkey(at))
        try:
            with closing(embedded.wait_for_postgres(at.sockets, database_server.process)) as connection:
                self._make_databases(at, connection)
        except embedded.EmbeddedError as error:
            raise CannotStart(f"{error} The end of its log:\n{tail(database_server.log)}") from error
        self.say("PostgreSQL and Valkey are up.")

    def _make_databases(self, at: Installation, connection: psycopg.Connection[Any]) -> None:
        for process in PROCESSES:
            embedded.ensure_role(connection, role_name(process), at.secrets[f"db_{process}"])
        embedded.ensure_database(connection, database.NAME, role_name("owner"))
        if self.has_demo:
            passwords = {name: secret for name, secret in at.secrets.items() if name.startswith("shop_")}
            import_string(DEMO_SHOP)(connection, passwords)
            with closing(embedded.superuser_connection(at.sockets, database.NAME)) as own:
                import_string(DEMO_LOGINS)(own, at.secrets)

    def _run_to_end(self, at: Installation, commands: dict[str, tuple[str, list[str]]]) -> None:
        """Run commands side by side, tending the children meanwhile. Raises CannotStart when one fails."""
        running: list[tuple[str, subprocess.Popen[bytes]]] = []
        try:
            for name, (process, command) in commands.items():
                with self._undisturbed():
                    running.append(self._spawn(at, name, process, command))
            self._watch(lambda: all(step.poll() is not None for _, step in running))
        finally:
            for _, step in running:
                step.terminate()
            for _, step in running:
                step.wait()
        for name, step in running:
            if step.returncode:
                raise CannotStart(
                    f"manage.py {name} failed. The end of its log:\n{tail(at.var / 'log' / f'{name}.log')}"
                )

    def _spawn(
        self, at: Installation, name: str, process: str, command: list[str]
    ) -> tuple[str, subprocess.Popen[bytes]]:
        log = at.var / "log" / f"{name}.log"
        return name, embedded.spawn(command, log=log, env=at.environment(process), cwd=BASE_DIR)

    def _watch(self, is_over: Callable[[], bool]) -> None:
        """Start again what dies, until `is_over`. Raises KeyboardInterrupt once it was asked to stop."""
        while not is_over():
            if self.is_asked_to_stop:
                _break_off()
            for child in self.children:
                with self._undisturbed():
                    found_dead = child.tend()
                if found_dead:
                    self.say(found_dead)
            self._tend_nightly()
            time.sleep(0.1)

    def _tend_nightly(self) -> None:
        if self.nightly is not None:
            with self._undisturbed():
                failed = self.nightly.tend(datetime.now(UTC))
            if failed:
                self.say(failed)

    def _wait_for_health(self, at: Installation) -> None:
        deadline = time.monotonic() + SECONDS_TO_HEALTH
        planes = [(at.port, at.origin), (at.agents_port, at.agents_origin)]

        def is_over() -> bool:
            place.check_room(at.var)  # the planes would not be well for want of it
            return time.monotonic() > deadline or all(_is_healthy(*plane) for plane in planes)

        self._watch(is_over)
        for port, origin in planes:
            if not _is_healthy(port, origin):
                logs = [child.log for child in self.children if child.failures]
                raise CannotStart(
                    f"http://localhost:{port}/healthz is not well after {SECONDS_TO_HEALTH:.0f} s.\n"
                    + "\n".join(f"The end of {log}:\n{tail(log)}" for log in logs)
                )

    def _welcome(self, at: Installation) -> None:
        self.say(f"People:  {at.origin}")
        self.say(f"Agents:  {at.agents_origin}/mcp and {at.agents_origin}/api/v1/")
        for line in _who_can_sign_in(at) if self.has_demo else [_how_to_add_a_person()]:
            self.say(line)
        self.say("Ctrl-C stops everything.")

    def _interrupt(self, *_: Any) -> None:
        # Where Python runs its own code around a fork, it prints what is raised and forgets it: `_watch` looks here.
        self.is_asked_to_stop = True
        if not self._is_undisturbed:
            _break_off()

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """Put an interrupt off until a child is started: raised in the midst of that, it or the child would be lost.

        Raises KeyboardInterrupt afterwards.
        """
        self._is_undisturbed = True
        try:
            yield
        finally:
            self._is_undisturbed = False
        if self.is_asked_to_stop:
            _break_off()

    def _stop(self) -> None:
        _ignore_signals()
        if self.nightly is not None:
            self.nightly.stop()
        for stage in Stage:
            stopping = [child for child in self.children if child.stage == stage]
            for child in stopping:
                child.ask_to_stop()
            for child in stopping:
                if not child.wait_stopped():
                    self.say(f"{child.name} did not stop in {child.grace:.0f} s and was killed.")
        self.say("Stopped.")


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _stop_on_signals(interrupt: Callable[..., None]) -> None:
    # SIGINT too: a shell starts background jobs with it ignored. An ignored SIGHUP is nohup's, and meant.
    for number in SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)


def _break_off() -> NoReturn:
    # Ctrl-C comes twice, from the terminal and from uv, and people press it again: the order of stopping stands.
    _ignore_signals()
    raise KeyboardInterrupt


def _ignore_signals() -> None:
    # Not while a child is started: it would inherit that, and not hear that it shall stop.
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _collectstatic() -> list[str]:
    return services.manage("collectstatic", "--noinput", "--verbosity", "0")


def _is_healthy(port: int, origin: str) -> bool:
    # The address is ours, the name is the one that the plane answers to.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=6)
    with closing(connection):
        try:
            connection.request("GET", "/healthz", headers={"Host": urlsplit(origin).netloc})
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


def _who_can_sign_in(at: Installation) -> list[str]:
    demo = json.loads((at.var / "demo.json").read_text())
    people = demo["people"].items()
    return [f"Sign in: {name} ({_role_of(at, name)}), password {password}" for name, password in people]


def _role_of(at: Installation, username: str) -> str:
    # Asked of the database, for people's roles may have changed since the demo was made.
    with psycopg.connect(at.database_url("people")) as connection:
        row = connection.execute("select role from people_person where username = %s", [username]).fetchone()
    return str(row[0]).replace("_", "-") if row else "no longer here"


def _how_to_add_a_person() -> str:
    moved = os.environ.get("COUNTERSEAL_VAR")
    place = f"COUNTERSEAL_VAR={shlex.quote(moved)} " if moved else ""
    return f"Add a person: {place}python3 -m uv run manage.py add_person NAME --role admin"
