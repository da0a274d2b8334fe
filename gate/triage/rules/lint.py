"""What rule and reader files may not contain, because it is how a rule passes something that is not fine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

# Each of these makes up a value that is not there, or reads one kind of value as another.
GUESSES = frozenset({"get", "setdefault", "getattr", "hasattr", "next", "int", "float", "bool", "str", "all", "any",
                     "max", "min", "sum"})  # fmt: skip
# Each of these looks for words in free text, which whoever wrote the text decides.
SEARCHES = frozenset({"find", "rfind", "index", "search", "match", "fullmatch", "findall", "startswith",
                      "endswith", "lower", "upper", "casefold", "split", "strip", "replace"})  # fmt: skip
FORBIDDEN_IMPORTS = frozenset({"re", "random", "time", "os", "django", "json"})


def complaints(source: str, name: str) -> list[str]:
    """What is wrong with a rule or reader file, one sentence each with its line."""
    return [f"{name}:{line}: {sentence}" for line, sentence in sorted(set(_walk(ast.parse(source))))]


def complaints_about(file: Path) -> list[str]:
    """The same for a file."""
    return complaints(file.read_text(), f"{file.parent.name}/{file.name}")


def _walk(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        yield from ((getattr(node, "lineno", 0), sentence) for sentence in _about(node))


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
            yield from (f"it imports {n.name}." for n in names if n.name.split(".")[0] in FORBIDDEN_IMPORTS)
        case ast.ImportFrom(module=module):
            if str(module).split(".")[0] in FORBIDDEN_IMPORTS:
                yield f"it imports from {module}."
        case ast.Try():
            yield "it catches an exception, so something unreadable could count as read."


def _truthiness(test: ast.expr) -> Iterator[str]:
    """A test is a comparison, or a call that answers true or false by name: never the value itself."""
    match test:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
            if called == "isinstance" or called.startswith(("is_", "has_")) or called.endswith("_has"):
                return
    yield "it tests a value for being truthy; compare it with what it must be."


def _about_call(called: str) -> Iterator[str]:
    if called in GUESSES:
        yield f"{called}() makes up or converts a value."
    if called in SEARCHES:
        yield f"{called}() searches or rewrites text."


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
