"""The files that run each process as a service of its own: systemd's units and a Procfile."""

from __future__ import annotations

import shlex
from pathlib import Path

from gate.config import oidc, smtp
from gate.config.database import KNOW_THE_BROKER, WITHOUT_DATABASE
from gate.config.programs import DRILL, PROGRAMS, UPGRADE, Program
from gate.config.services import ANSWERING, CANARIES, CREDENTIALS, LIMITS

ENVIRONMENT_FILES = Path("/etc/counterseal")
TARGET = "counterseal.target"
DRILL_TIMER = "counterseal-drill.timer"
BROKERS = "redis-server.service valkey-server.service rabbitmq-server.service"
# What a process of ours never needs. The files of the project are read, and only the state directory is written.
HARDENING = """\
DynamicUser=yes
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
PrivateTmp=yes
PrivateDevices=yes
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service"""


def environment_file(program: Program) -> Path:
    """The file with what only this process may know: its database, and its credentials."""
    return ENVIRONMENT_FILES / f"{program.name}.env"


def told(program: Program) -> str:
    """What its environment file has to hold, in words."""
    if program == UPGRADE:
        return "COUNTERSEAL_OWNER_URL"
    if program.process in WITHOUT_DATABASE:
        return "COUNTERSEAL_LOG_PUBLIC_KEYS"
    names = ["DATABASE_URL"]
    if program.process == "publisher":
        names += ["COUNTERSEAL_CHECKPOINT_FILE", "COUNTERSEAL_CHECKPOINT_WEBHOOK"]
        names += ["COUNTERSEAL_WITNESS_URL", "COUNTERSEAL_WITNESS_KEY"]
    if program.process in KNOW_THE_BROKER:
        names.append("COUNTERSEAL_BROKER_URL")
    if program.process == "people":
        names += ["COUNTERSEAL_SECRET_KEY", *(f"{name} (for mail)" for name in smtp.VARIABLES)]
        names += [f"{name} (for sign-in through a provider)" for name in oidc.VARIABLES]
    if program.process == "answers":
        names += [f"{name} (the model that answers what a policy asks)" for name in ANSWERING]
    if program.name == "verdicts":
        names += [f"{name} (for canaries)" for name in CANARIES]
    if program.process in ("people", "agents") or program.name in ("verdicts", "trials"):
        names.append("COUNTERSEAL_VERDICT_RULES (folders of rules of your own)")
    if program.process == "people" or program.name == "trials":
        names.append("COUNTERSEAL_CASES (folders of recorded cases that rules are tried on)")
    if program.process == "sealer":
        names.append("COUNTERSEAL_SEAL_KEY or COUNTERSEAL_SEAL_KEY_FILE")
    if program.process == "people":
        names.append("COUNTERSEAL_WITNESS_KEY (where a witness signs)")
        names.append("COUNTERSEAL_RETENTION_MONTHS (what the log's health says is kept)")
    if program.process in ("people", "auditor", "writer") or program.name == "verdicts":
        names.append("COUNTERSEAL_LOG_PUBLIC_KEYS")
    if program.process == "writer":
        names.append("COUNTERSEAL_ORIGIN (its own copy: whom passkeys sign for)")
        names.append("COUNTERSEAL_WRITE_FLOOR (the least that it asks for, whatever a policy says)")
    if program == DRILL:
        names.append("COUNTERSEAL_DRILL_URL (another server, where it may create a database)")
    if program.words[0] == "serve":
        names += ["COUNTERSEAL_ORIGIN", "COUNTERSEAL_AGENTS_ORIGIN", "COUNTERSEAL_HOSTS", "COUNTERSEAL_METRICS_TOKEN"]
        names += [f"{name} (a limit that has a default)" for name in LIMITS]
    if program.is_worker or program.process == "agents":
        names += [f"your *{ending}" for ending in CREDENTIALS.get(program.process, ())]
    return ", ".join(names)


def systemd(prefix: Path) -> dict[str, str]:
    """Each unit by the name of its file: one per process, the nightly drill, the upgrade, and the target over them."""
    units = {_unit_name(program): _service(program, prefix) for program in PROGRAMS}
    nightly = {_unit_name(DRILL): _oneshot(DRILL, prefix), DRILL_TIMER: _timer()}
    return {TARGET: _target(), **units, **nightly, _unit_name(UPGRADE): _oneshot(UPGRADE, prefix)}


def procfile(prefix: Path) -> str:
    """One line per process. Each reads its own environment file: a shared one would hand every secret to everyone."""
    return "".join(f"{program.name}: {_shell(program, prefix)}\n" for program in PROGRAMS)


def _shell(program: Program, prefix: Path) -> str:
    variables = [f"{name}={value}" for name, value in _environment(program).items()]
    command = shlex.join(["env", *variables, *program.command(_python(prefix), prefix)])
    return f"cd {shlex.quote(str(prefix))} && set -a && . {environment_file(program)} && exec {command}"


def _environment(program: Program) -> dict[str, str]:
    given = {"COUNTERSEAL_PROCESS": program.process, "PYTHONUNBUFFERED": "1"}
    # TERM as QUIT: a task that runs gets three seconds and then goes back to the queue.
    return given | ({"REMAP_SIGTERM": "SIGQUIT"} if program.is_worker else {})


def _python(prefix: Path) -> str:
    return str(prefix / ".venv" / "bin" / "python")


def _unit_name(program: Program) -> str:
    return f"counterseal-{program.name}.service"


def _target() -> str:
    wanted = " ".join([*map(_unit_name, PROGRAMS), DRILL_TIMER])
    return f"""\
[Unit]
Description=Counterseal
Wants={wanted}

[Install]
WantedBy=multi-user.target
"""


def _service(program: Program, prefix: Path) -> str:
    brokers = f" {BROKERS}" if program.process in KNOW_THE_BROKER else ""
    # Who has nothing for it to do writes no file, and nothing is started.
    condition = f"ConditionPathExists={environment_file(program)}\n" if program.needs else ""
    return f"""\
[Unit]
Description=Counterseal: {program.title}
After=network-online.target postgresql.service {_unit_name(UPGRADE)}{brokers}
Wants=network-online.target
PartOf={TARGET}
{condition}# It comes back however long the database or the broker was away.
StartLimitIntervalSec=0

[Service]
{_what_runs(program, prefix)}
Restart=always
RestartSec=5
KillMode=mixed
TimeoutStopSec=20
{HARDENING}

[Install]
WantedBy={TARGET}
"""


def _oneshot(program: Program, prefix: Path) -> str:
    # The upgrade is started by hand once per release. Nothing wants it, so that the owner's connection can be kept
    # elsewhere.
    return f"""\
[Unit]
Description=Counterseal: {program.title}
After=network-online.target postgresql.service
Wants=network-online.target

[Service]
{_what_runs(program, prefix)}
{HARDENING}
"""


def _timer() -> str:
    return f"""\
[Unit]
Description=Counterseal: {DRILL.title} each night
PartOf={TARGET}

[Timer]
OnCalendar=*-*-* 03:00:00
RandomizedDelaySec=3600
Persistent=true

[Install]
WantedBy={TARGET}
"""


def _what_runs(program: Program, prefix: Path) -> str:
    state = f"counterseal-{program.name}"
    variables = {**_environment(program), "COUNTERSEAL_VAR": f"/var/lib/{state}"}
    lines = [
        f"Type={'oneshot' if program in (DRILL, UPGRADE) else 'exec'}",
        f"User={state}",
        f"StateDirectory={state}",
        f"WorkingDirectory={_escaped(str(prefix))}",
        *(f"Environment={name}={value}" for name, value in variables.items()),
        f"# holds {told(program)}",
        f"EnvironmentFile={environment_file(program)}",
    ]
    if program.name == "people":
        collect = [_python(prefix), str(prefix / "manage.py"), "collectstatic", "--noinput", "--verbosity", "0"]
        lines.append(f"ExecStartPre={_command(collect)}")
    return "\n".join([*lines, f"ExecStart={_command(program.command(_python(prefix), prefix))}"])


def _command(words: list[str]) -> str:
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    escaped = _escaped(word)
    return f'"{escaped}"' if not escaped or " " in escaped else escaped


def _escaped(text: str) -> str:
    # A percent sign begins a specifier of systemd's.
    return text.replace("%", "%%")
