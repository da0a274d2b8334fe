"""The finer measure: which piece of which evidence stands in which later piece of text, and in which call.

It stands beside the compatible measure and never in its place. A piece survives in a later step when one sentence,
line or item of that step repeats enough of its words, quotes a run of them, or repeats a fact that was new with it. It
measures overlap as well: it cannot know what anyone relied on.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from evidence.survival.holding import Holding, numbers_in
from evidence.survival.parts import Match, Part, parts_of_all
from evidence.survival.pieces import Piece
from evidence.survival.repeated import threshold
from evidence.survival.words import STOP_WORDS

MEASURE = "counterseal-finer-3"
EVIDENCE = ("tool_result", "retrieval")
ANSWERS = ("assistant", "reasoning")
ACTION = "tool_call"
QUOTED = 4  # that many words in the same order are a quotation
LEAST_INFORMING = 3  # of which so many inform
# A fact that so many pieces of one result repeat marks none of them.
COMMON = 3
TRIVIAL = frozenset({"true", "false", "null", "none", "ok", "yes", "no", "success", "0", "1"})
LIMITATION = "Overlap of words and facts; it cannot show what a text relied on, or that it relied on nothing."
MOST_STEPS_MET = 64  # of those in which the same words stand; the first and the last of more


def analyze_finer(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What became of each piece of evidence in a trace that `analyze` takes, as one JSON-ready report.

    Offsets count code points of a step's content, of which the report states the SHA-256.
    """
    texts = [text if isinstance(text := step.get("content", ""), str) else "" for step in steps]
    kinds = [str(step["type"]) for step in steps]
    parts, unread = parts_of_all(texts)
    evidence = [part for at in _at(kinds, EVIDENCE) for part in parts[at] if _counts(part, texts[at])]
    sinks = [part for at in _at(kinds, (*ANSWERS, ACTION)) for part in parts[at]]
    _match(evidence, sinks, _first_told(parts))
    answers = _at(kinds, ("assistant",))
    report = _report(steps, texts, kinds, evidence, sinks, answers[-1] if answers else None)
    return {**report, "unread": unread}


def sha256_of(text: str) -> str:
    """The hash of a text, which a span into it is bound to. A lone surrogate is hashed as it would be written."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def for_browser(text: str, start: int, end: int) -> tuple[int, int]:
    """A span in code points as one in UTF-16 units, which is how a browser counts."""
    before = start + sum(ord(sign) > 0xFFFF for sign in text[:start])
    return before, before + end - start + sum(ord(sign) > 0xFFFF for sign in text[start:end])


def _at(kinds: Sequence[str], wanted: Iterable[str]) -> list[int]:
    return [at for at, kind in enumerate(kinds) if kind in wanted]


def _counts(part: Part, text: str) -> bool:
    """Whether a piece of evidence says enough to be met again: two informing words, or a fact that tells."""
    if text[part.piece.start : part.piece.end].strip().lower() in TRIVIAL:
        return False
    return len(part.informing) > 1 or any(True for _ in part.facts)


def _first_told(parts: Iterable[Sequence[Part]]) -> dict[str, int]:
    """Where each fact stands first, in whatever step."""
    first: dict[str, int] = {}
    for part in chain.from_iterable(parts):
        for fact in part.facts:
            first.setdefault(fact, part.step)
    return first


def _match(evidence: Sequence[Part], sinks: Sequence[Part], first: Mapping[str, int]) -> None:
    by_words = Holding([sink.informing for sink in sinks])
    steps = [sink.step for sink in sinks]
    quotes = _where((gram, number) for number, sink in enumerate(sinks) for gram in _grams(sink))
    facts = _where((fact, number) for number, sink in enumerate(sinks) for fact in sink.facts)
    common = Counter((part.step, fact) for part in evidence for fact in set(part.facts))
    worded: dict[frozenset[str], Sequence[int]] = {}
    for part in evidence:
        found: dict[int, str] = {}
        for fact in part.facts:
            if first[fact] == part.step and common[part.step, fact] <= COMMON:
                found.update(dict.fromkeys(_later(facts.get(fact, ()), part.step, steps), "fact"))
        if len(part.informing) > 1:
            words = part.informing
            if words not in worded:
                worded[words] = list(numbers_in(by_words.at_least(words, threshold(words))))
            found.update(dict.fromkeys(_later(worded[words], part.step, steps), "words"))
        for gram in _grams(part):
            found.update(dict.fromkeys(_later(quotes.get(gram, ()), part.step, steps), "quote"))
        part.matches = [Match(number, how) for number, how in sorted(found.items())]


def _where(pairs: Iterable[tuple[Any, int]]) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = defaultdict(list)
    for key, number in pairs:
        found[key].append(number)
    return found


def _later(numbers: Sequence[int], step: int, steps: Sequence[int]) -> Sequence[int]:
    """Those of the later pieces that stand after a step; of very many, the first and the last."""
    begin = bisect_right(numbers, step, key=steps.__getitem__)
    if len(numbers) - begin <= MOST_STEPS_MET:
        return numbers[begin:]
    half = MOST_STEPS_MET // 2
    return [*numbers[begin : begin + half], *numbers[-half:]]


def _grams(part: Part) -> Iterator[tuple[str, ...]]:
    words = [token.word for token in part.tokens]
    for at in range(len(words) - QUOTED + 1):
        gram = tuple(words[at : at + QUOTED])
        if len(set(gram) - STOP_WORDS) >= LEAST_INFORMING:
            yield gram


def _report(
    steps: Sequence[Mapping[str, Any]],
    texts: Sequence[str],
    kinds: Sequence[str],
    evidence: Sequence[Part],
    sinks: Sequence[Part],
    answer: int | None,
) -> dict[str, Any]:
    by_step: dict[int, list[Part]] = defaultdict(list)
    for part in evidence:
        by_step[part.step].append(part)
    said = _at(kinds, ANSWERS)
    records = [_record(at, steps[at], texts, kinds, by_step[at], sinks, answer, said) for at in _at(kinds, EVIDENCE)]
    sums = {key: sum(record[key] for record in records) for key in ("pieces", "surviving", "in_answer", "in_actions")}
    return {
        "measure": MEASURE,
        "limitation": LIMITATION,
        "steps": len(steps),
        **sums,
        "sources": len(records),
        "sources_surviving": sum(record["surviving"] > 0 for record in records),
        "sources_in_actions": sum(record["in_actions"] > 0 for record in records),
        "evidence": records,
        # The largest first: what cost most to read and left no trace that this measure sees.
        "no_overlap_detected": [
            {"step": record["step"], "characters": record["characters"]}
            for record in sorted(records, key=lambda record: -record["characters"])
            if record["class"] == "pieces" and not record["surviving"] and not record["in_actions"]
        ],
    }


def _record(
    at: int,
    step: Mapping[str, Any],
    texts: Sequence[str],
    kinds: Sequence[str],
    parts: Sequence[Part],
    sinks: Sequence[Part],
    answer: int | None,
    answers: Sequence[int],
) -> dict[str, Any]:
    said = [part for part in parts if any(kinds[sinks[match.sink].step] != ACTION for match in part.matches)]
    acted = [part for part in parts if any(kinds[sinks[match.sink].step] == ACTION for match in part.matches)]
    return {
        "step": at,
        "evidence_id": step.get("evidence_id"),
        "tool": step.get("tool"),
        "source": step.get("source"),
        "class": "pieces" if parts else "acknowledgement",
        "characters": len(texts[at]),
        "sha256": sha256_of(texts[at]),
        "pieces": len(parts),
        "surviving": len(said),
        "in_answer": sum(any(sinks[match.sink].step == answer for match in part.matches) for part in parts),
        "in_actions": len(acted),
        "met": _met(parts, sinks),
        "decay": _decay(at, parts, answers, sinks),
        "matches": [_shown(part, sinks) for part in parts if part.matches],
    }


def _met(parts: Sequence[Part], sinks: Sequence[Part]) -> list[dict[str, int]]:
    """Each later step in which any piece is met, and how many."""
    counts = Counter(step for part in parts for step in {sinks[match.sink].step for match in part.matches})
    return [{"step": step, "pieces": counts[step]} for step in sorted(counts)]


def _decay(at: int, parts: Sequence[Part], said: Sequence[int], sinks: Sequence[Part]) -> list[dict[str, Any]]:
    """The share of pieces that are met at a later answer or thought, or still later: at the first, and where it falls.

    Every one of them would make the report grow with the square of the trace.
    """
    begin = bisect_right(said, at)
    if not parts or begin == len(said):
        return []
    last = sorted(max((sinks[match.sink].step for match in part.matches), default=-1) for part in parts)
    falls = {bisect_right(said, step) for step in last if step > at}
    steps = [said[number] for number in sorted({begin, *falls}) if number < len(said)]
    return [{"step": step, "alive": (len(last) - bisect_left(last, step)) / len(last)} for step in steps]


def _shown(part: Part, sinks: Sequence[Part]) -> dict[str, Any]:
    places = [{"step": sinks[sink].step, "how": how, **_span(sinks[sink].piece)} for sink, how in part.matches]
    return {"kind": part.piece.kind, "path": part.piece.path, **_span(part.piece), "later": places}


def _span(piece: Piece) -> dict[str, int]:
    return {"start": piece.start, "end": piece.end}
