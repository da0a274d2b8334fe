"""One row by key through the agents' plane with everything on, beside a bare read of it and beside postgres-mcp.

`python -m tests.bench read_plane` starts the whole product and asks its plane over MCP HTTP in the era of 2026-07-28:
token, contract, schema, scope, certificate, rate limits, `call.started` and `call.finished` committed, guarded read.
The arms take turns, a few calls each, so that a busy machine slows all of them. Processor time is that of the arm's
own process, without the database's.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from evidence import reader
from gate.config import database
from tests.bench import another_server, timing
from tests.kills import product
from tests.kills.doors import Rest
from tests.kills.product import Product

ROUNDS, CALLS, WARM = 40, 10, 30
JOB = 90412
ROW = "job_id, kind, state, attempts, locked_by, started_at, finished_at, last_error"
BARE = f"select {ROW} from shop_read.jobs where job_id = "
ERA = "2026-07-28"
# Limits are for agents that ask a few times; they are all counted here, too.
UNBOUND = (
    "update audit_agent set calls_per_hour = 1000000 returning id",
    "update audit_definition set body = body || '{\"calls_per_minute\": {\"agent\": 100000, \"all\": 100000}}'"
    " where kind = 'source' returning id",
    "update triage_investigation set budget_calls = 1000000 returning id",
)  # fmt: skip
MOST_OF_OTHER, MOST_OVER_BARE = 1 / 3, 1.0  # the third of postgres-mcp's time, and milliseconds over the bare read


@dataclass
class Arm:
    """One way to read the row: what to do, and whose processor time counts."""

    name: str
    work: Callable[[], object]
    pid: int
    milliseconds: list[float] = field(default_factory=list)
    processor: float = 0.0  # milliseconds in all

    def run(self, times: int) -> None:
        """Some calls in a row."""
        before = _processor(self.pid)
        for _ in range(times):
            start = time.perf_counter()
            self.work()
            self.milliseconds.append((time.perf_counter() - start) * 1000)
        self.processor += _processor(self.pid) - before

    @property
    def median(self) -> float:
        """Of a call, in milliseconds."""
        return statistics.median(self.milliseconds)

    def line(self) -> str:
        """How long it took, in one line."""
        late = statistics.quantiles(self.milliseconds, n=20)[-1]
        each = self.processor / len(self.milliseconds)
        return f"{self.name}: {self.median:.2f} ms in the median, {late:.2f} at 95 %, {each:.2f} ms of processor"


def _processor(pid: int) -> float:
    """The processor time that a process has had, all its threads together, in milliseconds (see proc(5), stat)."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def run() -> None:
    """Print every arm's time, the ratios, and whether they are as promised."""
    with ExitStack() as stack:
        at = stack.enter_context(_product())
        arms = [_bare(at, stack), _guarded(at, stack), _through_the_plane(at, stack)]
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="counterseal-other-")))
        program = another_server.install(base)
        if program is not None:
            arms.append(_other(program, at, stack))
        _take_turns(arms)
        _say(*arms)


def _take_turns(arms: list[Arm]) -> None:
    for arm in arms:
        for _ in range(WARM):
            arm.work()
    timing.say_load()
    for _ in range(ROUNDS):
        for arm in arms:
            arm.run(CALLS)
    timing.say_load()


@contextmanager
def _product() -> Iterator[Product]:
    at = product.start()
    try:
        yield at
    finally:
        trouble = at.stop()
        at.forget()
    if trouble:
        print(trouble)  # noqa: T201


def _dsn(at: Product) -> str:
    """The shop's reader, as the plane has it: every arm reads with the same credential."""
    secrets = json.loads((at.var / "secrets.json").read_text())
    return database.socket_url(at.var / "run", "shop_reader", secrets["shop_reader"], "shop")


def _bare(at: Product, stack: ExitStack) -> Arm:
    session = stack.enter_context(psycopg.connect(_dsn(at), autocommit=True))
    return Arm("bare psycopg read", lambda: session.execute(f"{BARE}%s", [JOB]).fetchone(), os.getpid())


def _guarded(at: Product, stack: ExitStack) -> Arm:
    dsn = _dsn(at)
    stack.callback(reader.close)
    return Arm("guarded read alone", lambda: reader.read(dsn, f"{BARE}$1::bigint", [JOB]), os.getpid())


def _through_the_plane(at: Product, stack: ExitStack) -> Arm:
    reported = Rest(at.agents, at.intake_token).report({
        "class": "job_failed", "title": "Job 90412 failed", "subject": {"job_id": JOB}, "began_at": _an_hour_ago(),
        "facts": {"error": "ReadTimeout", "job_kind": "settle_payouts"}, "dedup_key": "bench-read-plane",
    })  # fmt: skip
    look = Rest(at.agents, at.agent_token).start(reported)
    for statement in UNBOUND:
        at.rows(statement)
    where = urlsplit(at.agents)
    connection = http.client.HTTPConnection("127.0.0.1", where.port, timeout=30)
    stack.callback(connection.close)
    call = _Call(connection, where.netloc, at.agent_token, look)
    return Arm("one call through MCP HTTP, with everything on", call, _plane(at))


def _an_hour_ago() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600))


def _plane(at: Product) -> int:
    """The process of the agents' plane: a child of `up`."""
    children = Path(f"/proc/{at.up.pid}/task/{at.up.pid}/children").read_text().split()
    named = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ") for pid in children}
    return int(next(pid for pid, words in named.items() if b"serve agents" in words))


class _Call:
    """The same call again and again over one connection."""

    def __init__(self, connection: http.client.HTTPConnection, host: str, token: str, look: int) -> None:
        self._connection = connection
        self._headers = {
            "Host": host, "Authorization": f"Bearer {token}", "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": ERA, "Mcp-Method": "tools/call",
            "Mcp-Name": "find_job",
        }  # fmt: skip
        meta = {f"io.modelcontextprotocol/{key}": value for key, value in (
            ("protocolVersion", ERA), ("clientInfo", {"name": "bench", "version": "1"}), ("clientCapabilities", {}),
        )}  # fmt: skip
        params = {"name": "find_job", "arguments": {"job_id": JOB, "investigation": look}, "_meta": meta}
        self._body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    def __call__(self) -> None:
        """Raises RuntimeError when the answer is not the row."""
        self._connection.request("POST", "/mcp", self._body, self._headers)
        answer = self._connection.getresponse()
        told = json.loads(answer.read())
        if "result" not in told or told["result"]["structuredContent"]["result"]["job"]["job_id"] != JOB:
            raise RuntimeError(f"The plane answered {answer.status}: {json.dumps(told)[:300]}")


def _other(program: Path, at: Product, stack: ExitStack) -> Arm:
    server = stack.enter_context(another_server.running(program, _dsn(at)))
    asked = {"name": "execute_sql", "arguments": {"sql": f"{BARE}{JOB}"}}

    def work() -> None:
        text = server.ask("tools/call", asked)["content"][0]["text"]
        if str(JOB) not in text:
            raise RuntimeError(f"postgres-mcp answered {text[:300]}")

    return Arm("postgres-mcp 0.3.0, restricted, over stdio", work, server.process.pid)


def _say(bare: Arm, guarded: Arm, plane: Arm, other: Arm | None = None) -> None:
    for arm in (bare, guarded, plane, *([other] if other else [])):
        print(arm.line())  # noqa: T201
    over = guarded.median - bare.median
    print(f"guarded read over the bare one: {over:.2f} ms, at most {MOST_OVER_BARE:.0f} asked: {_kept(over <= 1)}")  # noqa: T201
    print(f"a call against the bare read: {plane.median / bare.median:.0f} times")  # noqa: T201
    if other is not None:
        ratio = plane.median / other.median
        print(f"a call against postgres-mcp: {ratio:.2f}, at most 0.33 asked: {_kept(ratio <= MOST_OF_OTHER)}")  # noqa: T201


def _kept(is_kept: Any) -> str:
    return "kept" if is_kept else "not kept"


if __name__ == "__main__":
    run()
