"""What a decision costs: per second on one core, beside a plain chain of conditions and beside a CEL engine.

`python -m tests.bench.admission` needs no database. All three read the same shipped policy over the same answers; the
two beside it check nothing first, so that the ratio is the price of checking. The hook's round trip is the command as a
client starts it, with its probes in a workspace and a server that answers at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import celpy

from gate.admission import claude_code_hook, exhaustive, files
from gate.admission.program import Program
from gate.admission.reducer import decide
from gate.admission.usable import usable
from tests.bench import timing

POLICY = "shell-commands"
ROUNDS = 15


def chain(answers: Mapping[str, Any]) -> str:
    """The shell's policy as somebody writes it by hand, in the order of its rules."""
    action, place = answers["action"]["value"], answers["place"]["value"]
    changes = action in ("removes", "overwrites")
    if changes and place in ("home", "system"):
        return "block"
    if changes and place == "workspace":
        return "block"
    if changes and answers["tracked"]["value"] == "yes":
        return "ask"
    if action == "nothing":
        return "allow"
    if (
        action == "removes" and place == "inside"
        and answers["regenerable"]["value"] == "yes" and answers["exists"]["value"] == "yes"
    ):  # fmt: skip
        return "allow"
    return "ask"


# The same as one expression, compiled once.
CEL = """
(action in ['removes', 'overwrites'] && place in ['home', 'system']) ? 'block' :
(action in ['removes', 'overwrites'] && place == 'workspace') ? 'block' :
(action in ['removes', 'overwrites'] && tracked == 'yes') ? 'ask' :
(action == 'nothing') ? 'allow' :
(action == 'removes' && place == 'inside' && regenerable == 'yes' && exists == 'yes') ? 'allow' : 'ask'
"""


def run() -> None:
    """Print rates and ratios, and check first that all three decide every cell alike."""
    raw = files.find(POLICY).program
    program = usable(raw)
    assert program is not None
    every = cells(program)
    activations = [activation(one) for one in every]
    engine = celpy.Environment()
    compiled = engine.program(engine.compile(CEL))
    for answers, given in zip(every, activations, strict=True):
        assert decide(program, answers).verdict == chain(answers) == str(compiled.evaluate(given))
    timing.say_load()
    turns = Turns(len(every))
    timing.compare(
        "decisions, beside an if chain that checks nothing",
        lambda: chain(every[turns.next()]),
        lambda: decide(program, every[turns.next()]),
    )
    timing.compare(
        "decisions, beside cel-python",
        lambda: compiled.evaluate(activations[turns.next()]),
        lambda: decide(program, every[turns.next()]),
    )
    timing.compare(
        "decisions from JSON that is read each time, beside cel-python",
        lambda: compiled.evaluate(activations[turns.next()]),
        lambda: decide(raw, every[turns.next()]),
    )
    _say_exhaustive()
    _say_hook()


class Turns:
    """Numbers round and round, so that no side decides one case all the time."""

    def __init__(self, length: int) -> None:
        self.length, self.at = length, 0

    def next(self) -> int:
        self.at = (self.at + 1) % self.length
        return self.at


def cells(program: Program) -> list[dict[str, Any]]:
    """Whole answers to every question: one per cell."""
    found: list[dict[str, Any]] = [{}]
    for question in program.questions:
        found = [
            {**cell, question.id: {"value": option, "by": "probe"}} for cell in found for option in question.options
        ]
    return found


def activation(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers as the engine takes them."""
    return {name: celpy.celtypes.StringType(answer["value"]) for name, answer in answers.items()}


def _say_exhaustive() -> None:
    for policy in files.shipped():
        program = usable(policy.program)
        assert program is not None
        number = exhaustive.check(program).cells
        milliseconds = timing.milliseconds(lambda one=program: exhaustive.check(one), times=20)  # type: ignore[misc]
        print(f"{policy.name}: every one of {number} cells in {milliseconds:.2f} ms")  # noqa: T201


def _say_hook() -> None:
    """The hook command with a server that answers at once: what the command itself takes, probes included."""
    with tempfile.TemporaryDirectory() as root:
        workspace = Path(root, "shop")
        Path(workspace, "node_modules").mkdir(parents=True)
        subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
        with _Answering() as url:
            call = lambda: _hook(workspace, url)  # noqa: E731
            call()
            whole = timing.milliseconds(call, times=ROUNDS)
    start = timing.milliseconds(lambda: subprocess.run([sys.executable, "-I", "-c", "pass"], check=True), times=ROUNDS)
    print(f"hook round trip: {whole:.0f} ms in the median, of which a Python process alone is {start:.0f} ms")  # noqa: T201


def _hook(workspace: Path, url: str) -> None:
    payload = {
        "session_id": "1", "cwd": str(workspace), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "rm -rf node_modules"}, "tool_use_id": "1",
    }  # fmt: skip
    given = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "COUNTERSEAL_URL": url, "COUNTERSEAL_TOKEN": "csa_x"}
    done = subprocess.run(
        [sys.executable, "-I", claude_code_hook.__file__], input=json.dumps(payload).encode(), env=given,
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout == b"", done.stdout


class _Answering:
    """A server that judges with the reducer, as the product's address does, and keeps nothing."""

    def __enter__(self) -> str:
        program = usable(files.find(POLICY).program)
        assert program is not None
        self._server = make_server("127.0.0.1", 0, _judge(program), handler_class=_Quiet)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *given: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Quiet(WSGIRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


def _judge(program: Program) -> Callable[..., list[bytes]]:
    from gate.admission import hooks

    def answer(environ: Mapping[str, Any], start: Callable[..., Any]) -> list[bytes]:
        call = hooks.call_of(json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))))
        decision = decide(program, call.answers, judged_action=call.judged, executed_action=call.executed)
        said = hooks.answer(decision.verdict, "")
        body = json.dumps(said).encode() if said else b""
        start("200 OK", [("Content-Length", str(len(body))), (hooks.ECHO, call.executed)])
        return [body]

    return answer


if __name__ == "__main__":
    began = time.perf_counter()
    run()
    print(f"-- {time.perf_counter() - began:.0f} s in all")  # noqa: T201
