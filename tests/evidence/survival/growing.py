"""Traces of any length for tests and benchmarks: a third reasoning, a third calls, a third results of about 2 KB."""

from __future__ import annotations

import json
import random
from typing import Any

KINDS = ("prose", "log", "json")
RESULT = 2048
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ai", "on")]


def words(draw: random.Random, count: int = 4000) -> list[str]:
    """A vocabulary of made-up words."""
    return ["".join(draw.choices(_SYLLABLES, k=draw.randint(2, 4))) for _ in range(count)]


def trace(kind: str, steps: int, seed: int = 7) -> list[dict[str, Any]]:
    """A trace of that many steps, the same one each time. `kind` is one of KINDS."""
    draw = random.Random(seed)  # noqa: S311 - the same trace each time
    vocabulary = words(draw)
    write = {"prose": _prose, "log": _log, "json": _json}[kind]
    last = ""
    found: list[dict[str, Any]] = []
    for number in range(steps - 1):
        if number % 3 == 0:
            quoted = " ".join(last.split()[:12])
            found.append({"type": "reasoning", "content": f"{quoted} {_sentence(draw, vocabulary, 40)}"})
        elif number % 3 == 1:
            found.append({"type": "tool_call", "tool": f"tool-{number % 7}", "content": "{}"})
        else:
            last = write(draw, vocabulary)
            found.append({"type": "tool_result", "tool": f"tool-{(number - 1) % 7}", "content": last})
    return [*found, {"type": "assistant", "content": _sentence(draw, vocabulary, 60)}]


def _sentence(draw: random.Random, vocabulary: list[str], count: int) -> str:
    # Few words are said often, as in any language.
    said = [vocabulary[int(len(vocabulary) * draw.random() ** 2.5)] for _ in range(count)]
    return " ".join(said).capitalize() + "."


def _prose(draw: random.Random, vocabulary: list[str]) -> str:
    text = ""
    while len(text) < RESULT:
        text += _sentence(draw, vocabulary, draw.randint(8, 16)) + " "
    return text


def _log(draw: random.Random, vocabulary: list[str]) -> str:
    text = ""
    while len(text) < RESULT:
        level = draw.choice(("INFO", "WARN", "ERROR"))
        moment = f"2026-03-04T{draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02}Z"
        text += f"{moment} {level} {_sentence(draw, vocabulary, 6)[:-1]} id={draw.randrange(10**6)}\n"
    return text


def _json(draw: random.Random, vocabulary: list[str]) -> str:
    rows: list[dict[str, Any]] = []
    while len(json.dumps(rows)) < RESULT:
        rows.append({"id": draw.randrange(10**6), "state": draw.choice(vocabulary), "took_ms": draw.randrange(9000)})
    return json.dumps(rows)
