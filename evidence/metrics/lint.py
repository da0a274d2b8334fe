"""A definition says where a number comes from, not what to do: what would make it a policy, found in its body.

It finds nine sorts of flaw (`evidence.metrics.flaws`), and no intentions: a second person reads each version. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evidence.metrics import columns, lint_statement, lint_words
from evidence.metrics.definition import KEYS, MetricVersion
from evidence.metrics.flaws import (
    AGENT_PARAMETER,
    CONSEQUENCE,
    DIRECTION,
    FREE_TEXT,
    LABEL,
    UNVERSIONED,
    WORDS,
    Flaw,
)
from evidence.metrics.references import answered
from evidence.metrics.saying import LABEL as VERSIONED
from evidence.metrics.statements import PARAMETERS, numbered, tree_of
from evidence.wording import folding, prose

DIRECTING = frozenset({
    "higher_is_worse", "higher_is_better", "lower_is_worse", "lower_is_better", "metric_good", "direction", "polarity",
    "good", "bad", "threshold", "thresholds",
})  # fmt: skip
# What a caller may not bring, whatever it is called by: it would be a part of the computation.
COMPUTING = frozenset({
    "price", "prices", "weight", "weights", "factor", "rate", "threshold", "target", "budget", "slo", "penalty", "cost",
    "formula", "sql", "unit", "multiplier", "discount",
})  # fmt: skip
NAMED_PARAMETER = re.compile(r"(?<![:\w]):([A-Za-z_]\w*)")


def check(metric_id: str, body: Mapping[str, Any]) -> None:
    """Raise ValueError with the first flaw's sentence."""
    for flaw in flaws(metric_id, body):
        raise ValueError(flaw.sentence)


def check_valuation(name: str, body: Mapping[str, Any]) -> None:
    """Raise ValueError with the first flaw's sentence: a price has a name, a source and an owner, and says no more."""
    prices = body.get("prices")
    known = prices if isinstance(prices, Mapping) else {}
    for word in lint_words.of_a_text(str(body.get("title", ""))):
        raise ValueError(Flaw(WORDS, "/title", word).sentence)
    for kind, price in known.items():
        # A source is cited, and on page 3 it may well say what is best: only what it tells the reader to do counts.
        for _, word in prose.flaws(str(price.get("source", ""))) if isinstance(price, Mapping) else ():
            raise ValueError(Flaw(WORDS, f"/prices/{kind}/source", word).sentence)
    for kind in [name, *known]:
        for word in lint_words.of_a_name(str(kind)):
            raise ValueError(Flaw(WORDS, "/prices", word).sentence)
    if not (isinstance(body.get("owner"), str) and body["owner"].strip()):
        raise ValueError(Flaw(UNVERSIONED, "/owner", "no owner").sentence)


def check_successor(older: MetricVersion, newer: MetricVersion) -> None:
    """Raise ValueError when one version has two contents: old answers name the digest that they were made with."""
    if (older.metric_id, older.version) == (newer.metric_id, newer.version) and older.digest != newer.digest:
        raise ValueError(Flaw(UNVERSIONED, "/formula", f"{newer.metric_id} version {newer.version}").sentence)


def flaws(metric_id: str, body: Mapping[str, Any]) -> Iterator[Flaw]:
    """Every flaw of a definition, each once. The body may be half-typed: what is missing has fewer flaws."""
    yield from dict.fromkeys(_all(metric_id, body))


def _all(metric_id: str, body: Mapping[str, Any]) -> Iterator[Flaw]:
    yield from _directions(body)
    yield from _words(metric_id, body)
    yield from _parameters(body)
    yield from _labels(body)
    for place, text in _statements(body):
        yield from _of_statement(place, text, body)
    yield from _columns(body)
    yield from _unversioned(body)


def _directions(body: Mapping[str, Any]) -> Iterator[Flaw]:
    yield from (Flaw(DIRECTION, f"/{key}", key) for key in body if key not in KEYS and str(key).casefold() in DIRECTING)
    for place, text in _texts(body):
        for found in lint_words.DIRECTIONS.finditer(folding.folded(text)):
            yield Flaw(DIRECTION, place, found[0])


def _texts(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The sentences that an answer or a page shows as the definition's own."""
    places = [("/title", body.get("title")), *_listed("/limitations", body.get("limitations"))]
    for number, one in enumerate(_objects(body.get("supported_counterfactuals"))):
        for key in ("held_fixed", "not_modelled"):
            places += _listed(f"/supported_counterfactuals/{number}/{key}", one.get(key))
    yield from ((place, text) for place, text in places if isinstance(text, str))


def _listed(place: str, said: object) -> list[tuple[str, Any]]:
    return [(f"{place}/{number}", text) for number, text in enumerate(said if isinstance(said, list) else [])]


def _words(metric_id: str, body: Mapping[str, Any]) -> Iterator[Flaw]:
    for place, text in _texts(body):
        yield from (Flaw(WORDS, place, word) for word in lint_words.of_a_text(text))
    for place, name in [("metric_id", metric_id), *_names(body)]:
        yield from (Flaw(WORDS, place, word) for word in lint_words.of_a_name(name))
        if lint_words.LIGHTS & set(folding.words(name)):
            yield Flaw(CONSEQUENCE, place, name)


def _names(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The names that an answer or a description carries: of parts, of what is asked by, of what may be set to what."""
    yield from _named(body.get("grain"), "/grain")
    for key in ("scope", "parameters"):
        yield from _named(body.get(key), f"/{key}")
    for number, one in enumerate(_objects(body.get("decomposers"))):
        for key in ("name", "kinds", "key"):
            yield from _named(one.get(key), f"/decomposers/{number}")
    for number, one in enumerate(_objects(body.get("supported_counterfactuals"))):
        for key in ("variable", "values"):
            yield from _named(one.get(key), f"/supported_counterfactuals/{number}")


def _named(said: object, place: str) -> Iterator[tuple[str, str]]:
    """A name, or each of several."""
    several = said if isinstance(said, Mapping | list) else [said]
    yield from ((place, name) for name in several if isinstance(name, str))


def _objects(said: object) -> list[Mapping[str, Any]]:
    return [one for one in said if isinstance(one, Mapping)] if isinstance(said, list) else []


def _parameters(body: Mapping[str, Any]) -> Iterator[Flaw]:
    """What the formula is computed with is read from the source; what a caller says is only where to look."""
    fields, said = body.get("source_fields"), body.get("parameters")
    known = fields if isinstance(fields, Mapping) else {}
    for key, origin in said.items() if isinstance(said, Mapping) else ():
        if not (isinstance(origin, str) and origin in known):
            yield Flaw(AGENT_PARAMETER, f"/parameters/{key}", str(key))
    scope = body.get("scope")
    for key in scope if isinstance(scope, Mapping | list) else ():
        if COMPUTING & set(folding.words(str(key))):
            yield Flaw(AGENT_PARAMETER, "/scope", str(key))


def _labels(body: Mapping[str, Any]) -> Iterator[Flaw]:
    fields = body.get("source_fields")
    for field in fields if isinstance(fields, Mapping | list) else ():
        yield from (Flaw(LABEL, "/source_fields", str(field)) for _ in lint_statement.labels(str(field)))


def _statements(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    places = [("/formula", body.get("formula")), ("/trace_hook", body.get("trace_hook"))]
    for number, one in enumerate(_objects(body.get("supported_counterfactuals"))):
        places.append((f"/supported_counterfactuals/{number}/rows", one.get("rows")))
    yield from ((place, text) for place, text in places if isinstance(text, str))


def _of_statement(place: str, text: str, body: Mapping[str, Any]) -> Iterator[Flaw]:
    others = [name for name in NAMED_PARAMETER.findall(text) if name not in PARAMETERS]
    if others:
        yield from (Flaw(AGENT_PARAMETER, place, f":{name}") for name in others)
        return
    fields = body.get("source_fields")
    try:
        tree = tree_of(numbered(text))
    except ValueError:
        return  # it is no statement, and `formula.parse` says why
    for code, found in lint_statement.flaws(tree, fields if isinstance(fields, Mapping) else {}):
        yield Flaw(code, place, found)
    for written in lint_statement.written(tree):
        yield from _of_written(place, written)


def _of_written(place: str, written: str) -> Iterator[Flaw]:
    """A text that the statement answers by itself: a kind, or a sentence that it should not say."""
    if len(written.split()) > 1:
        yield Flaw(FREE_TEXT, place, written)
    yield from (Flaw(WORDS, place, word) for word in lint_words.of_a_name(written))
    if lint_words.LIGHTS & set(folding.words(written)):
        yield Flaw(CONSEQUENCE, place, written)


def _columns(body: Mapping[str, Any]) -> Iterator[Flaw]:
    """A column without a meaning is a text that somebody would read as one."""
    text, measure = body.get("formula"), body.get("measure")
    if not isinstance(text, str) or not isinstance(measure, str) or measure not in columns.NEEDED:
        return
    keys = {str(one.get("key")) for one in _objects(body.get("decomposers"))}
    known = columns.NEEDED[measure] | columns.FLAGS | columns.TICKS | {columns.ENTITY} | keys
    for name in _answered(text):
        if name not in known:
            yield Flaw(FREE_TEXT, "/formula", name)


def _answered(text: str) -> tuple[str, ...]:
    try:
        return answered(tree_of(numbered(text)))
    except ValueError:
        return ()


def _unversioned(body: Mapping[str, Any]) -> Iterator[Flaw]:
    if all(one.get("value") is None for one in _objects(body.get("golden"))):
        yield Flaw(UNVERSIONED, "/golden", "no golden value that is a number")
    if not (isinstance(body.get("owner"), str) and body["owner"].strip()):
        yield Flaw(UNVERSIONED, "/owner", "no owner")
    valuation = body.get("valuation")
    if isinstance(valuation, str) and not VERSIONED.fullmatch(valuation):
        yield Flaw(UNVERSIONED, "/valuation", valuation)
