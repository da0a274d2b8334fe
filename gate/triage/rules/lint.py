"""What rule and reader files may not contain, because it is how a rule passes something that is not fine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from gate.triage.rules.language import Rule

# Each of these makes up a value that is not there, or reads one kind of value as another.
GUESSES = frozenset({"get", "setdefault", "getattr", "hasattr", "next", "int", "float", "bool", "str", "all", "any",
                     "max", "min", "sum"})  # fmt: skip
# Each of these looks for words in free text, which whoever wrote the text decides.
SEARCHES = frozenset({"find", "rfind", "index", "search", "match", "fullmatch", "findall", "startswith",
                      "endswith", "lower", "upper", "casefold", "split", "rsplit", "splitlines", "strip", "lstrip",
                      "rstrip", "replace", "partition", "rpartition", "removeprefix", "removesuffix"})  # fmt: skip
# Each of these reaches around the lint, or out of the process.
ESCAPES = frozenset({"eval", "exec", "compile", "open", "print", "input", "globals", "locals", "vars", "setattr",
                     "delattr", "import_module", "__import__"})  # fmt: skip
# What a check may build on: the readers and grammars of this package, its own folder, and what only holds values.
ALLOWED_IMPORTS = frozenset({"__future__", "collections", "dataclasses", "datetime", "decimal", "enum", "functools",
                             "itertools", "operator", "types", "typing"})  # fmt: skip
OUR_PACKAGES = ("gate.triage.cases", "gate.triage.grammars", "gate.triage.readers", "gate.triage.rules")
# A fact says what was seen. These words say what to think of it.
VERDICT_WORDS = frozenset({"safe", "ok", "fine", "pass"})
NEGATIVES = frozenset({"no", "not", "never", "none", "without", "zero", "nothing"})


def complaints(source: str, name: str) -> list[str]:
    """What is wrong with a rule or reader file, one sentence each with its line."""
    return [f"{name}:{line}: {sentence}" for line, sentence in sorted(set(_walk(ast.parse(source))))]


def complaints_about(file: Path) -> list[str]:
    """The same for a file."""
    return complaints(file.read_text(), f"{file.parent.name}/{file.name}")


def complaints_about_rule(rule: Rule) -> list[str]:
    """What is wrong with a rule as it stands: names that judge, and facts that only say what was not seen."""
    said = [
        f"the fact {fact.name} says `{word}`, which is for the verdict."
        for fact in rule.facts
        for word in _judging(fact.name)
    ]
    if not rule.facts:
        said.append("it has no fact, so there is nothing to pass by.")
    elif all(is_negative(fact.name) for fact in rule.facts):
        said.append(
            "all of its facts are absences, which a dead source shows as well; add one that something is there."
        )
    return said + [
        f"the fact {fact.name} has no check." for fact in rule.facts if not all(need.checks for need in fact.needs)
    ]


def is_negative(fact: str) -> bool:
    """Whether a fact's name says that something is absent."""
    return not NEGATIVES.isdisjoint(fact.split("_"))


def _judging(fact: str) -> list[str]:
    return sorted(VERDICT_WORDS.intersection(fact.split("_")))


def _walk(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        yield from ((_line(node), sentence) for sentence in _about(node))


def _line(node: ast.AST) -> int:
    """Where it stands; what has no place of its own stands where its first part does."""
    placed = [found.lineno for found in ast.walk(node) if isinstance(found, ast.expr | ast.stmt | ast.arg)]
    return min(placed, default=0)


def _about(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.BoolOp(op=ast.Or()):
            yield "`or` takes the next value where one is missing."
        case ast.BoolOp(values=values):
            yield from (sentence for value in values for sentence in _truthiness(value))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _truthiness(operand)
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield from _truthiness(test)
        case ast.comprehension(ifs=tests):
            yield from (sentence for test in tests for sentence in _truthiness(test))
        case ast.arguments(defaults=defaults, kw_defaults=kw_defaults):
            if defaults or [default for default in kw_defaults if default is not None]:
                yield "a parameter has a default, so a caller can leave out what must be said."
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
            yield from _about_call(called)
        case ast.Compare(ops=ops, comparators=right):
            yield from _about_membership(ops, right)
        case ast.Import(names=names):
            yield from (_about_import(alias.name) for alias in names if not _is_allowed(alias.name))
        case ast.ImportFrom(module=module, level=0):
            if not _is_allowed(str(module)):
                yield _about_import(str(module))
        case ast.Try():
            yield "it catches an exception, so something unreadable could count as read."


def _is_allowed(module: str) -> bool:
    return module.split(".")[0] in ALLOWED_IMPORTS or any(f"{module}.".startswith(f"{ours}.") for ours in OUR_PACKAGES)


def _about_import(module: str) -> str:
    return f"it imports {module}; a check builds on readers and grammars alone (its own with `from ..name import`)."


def _truthiness(test: ast.expr) -> Iterator[str]:
    """A test is a comparison, or a call that answers true or false by name: never the value itself."""
    match test:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
            if called in ("has", "isinstance") or called.startswith(("is_", "has_")) or called.endswith("_has"):
                return
    yield "it tests a value for being truthy; compare it with what it must be."


def _about_call(called: str) -> Iterator[str]:
    if called in GUESSES:
        yield f"{called}() makes up or converts a value."
    if called in SEARCHES:
        yield f"{called}() searches or rewrites text."
    if called in ESCAPES:
        yield f"{called}() reaches around what this lint can see."


def _about_membership(ops: list[ast.cmpop], right: list[ast.expr]) -> Iterator[str]:
    for op, container in zip(ops, right, strict=True):
        if isinstance(op, ast.In | ast.NotIn) and not _is_closed(container):
            yield "`in` searches something that is not a closed list."


def _is_closed(container: ast.expr) -> bool:
    match container:
        case ast.Tuple() | ast.Set() | ast.List():
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.isupper()
        case ast.Call(func=ast.Name(id="frozenset")):
            return True
    return False
