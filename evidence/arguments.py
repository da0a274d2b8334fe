"""Whether a value fits a JSON Schema, said in one sentence that names the place and never repeats the value.

The value may be an agent's secret or a result that is kept out; the sentence goes into the log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

import simplejson
from jsonschema import Draft202012Validator, FormatChecker, TypeChecker
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from evidence.errors import Problem

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# What MCP of 2026-07-28 lets a schema say; the server would have to compare header and argument at each call.
HEADER = "x-mcp-header"
DEEPEST = 64  # levels of arrays and objects
LONGEST_NAME = 60  # characters of a name or a rule that a sentence repeats


def _is_number(checker: TypeChecker, value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_integer(checker: TypeChecker, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# Numbers are Decimals here. 1.0 is not taken for an integer: a contract that says integer means one.
_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many({"number": _is_number, "integer": _is_integer})
_IN_PATTERN = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.S)


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """A pattern as JSON Schema means it: `$` is the very end, not before a last line break, and \\d is 0 to 9."""
    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield ValidationError("It does not match the pattern.")


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_IN_PATTERN.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern), re.ASCII)


_Checker: type[Validator] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"pattern": _pattern}, type_checker=_TYPES
)
# What a schema that passed its own check can still meet: a reference in a circle, numbers that do not mix, …
_CRASHES = (Unresolvable, RecursionError, TypeError, ValueError, ArithmeticError)
_formats = FormatChecker(formats=["date", "time", "email", "ipv4", "ipv6", "uuid", "regex"])


@_formats.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


def exact(given: Any) -> dict[str, Any]:
    """Arguments as exact JSON, with Decimals for floats. Raises Problem for what JSON is not."""
    try:
        same = simplejson.loads(simplejson.dumps(given, use_decimal=True, allow_nan=False), use_decimal=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise _wrong("The arguments hold something that JSON does not.") from error
    if not isinstance(same, dict):
        raise _wrong("The arguments are an object: names with values.")
    if is_deep(same):
        raise _wrong(f"The arguments nest deeper than {DEEPEST} levels.")
    return same


def _wrong(sentence: str) -> Problem:
    return Problem(422, "wrong_arguments", sentence)


def is_deep(value: Any, left: int = DEEPEST) -> bool:
    """Whether a value nests deeper than what is walked here and when it is read again."""
    if left < 0:
        return True
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(is_deep(child, left - 1) for child in children)


def checker(schema: dict[str, Any]) -> Validator:
    """What checks values against this schema, for a caller that does so again and again. Threads may share it."""
    return _Checker(schema, format_checker=_formats)


def misfit(schema: dict[str, Any] | Validator, value: Any) -> str:
    """Why `value` does not fit `schema`, as one sentence; empty when it fits. What cannot be checked does not fit."""
    try:
        known = checker(schema) if isinstance(schema, dict) else schema
        worst = best_match(known.iter_errors(value))
    except _CRASHES as crash:
        return f"The schema cannot be applied to this value ({type(crash).__name__.strip('_')})."
    return "" if worst is None else _printable(_sentence(worst))


def flaw(schema: Any) -> str:
    """Why `schema` cannot describe an object of ours, as one sentence; empty when it can."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return 'its root must be an object schema ("type": "object").'
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.message[:200]}."
    if HEADER in _keys(schema):
        return f"{HEADER} has an argument travel in a header as well; here none does."
    # Following a reference to another document would fetch it.
    remote = next((name for name in _references(schema) if not name.startswith("#") and name != DIALECT), None)
    if remote is not None:
        return f"$ref {remote[:LONGEST_NAME]} leaves the document."
    lost = next((name for name in _references(schema) if name.startswith("#") and not _leads(schema, name)), None)
    return f"$ref {lost[:LONGEST_NAME]} leads nowhere." if lost is not None else _circle(schema)


def _leads(schema: dict[str, Any], reference: str) -> bool:
    try:
        Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver().lookup(reference)
    except Unresolvable:
        return False
    return True


def _circle(schema: dict[str, Any]) -> str:
    try:
        list(_Checker(schema).iter_errors({}))
    except RecursionError:
        return "a $ref leads back to itself without end."
    return ""


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("$ref", "$dynamicRef", "$id", "$schema") and isinstance(value, str):
                yield value
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _keys(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema
    for child in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _keys(child)


def _printable(sentence: str) -> str:
    """A name in a sentence may hold what neither an answer nor the log can: half a pair of surrogates, or NUL."""
    return sentence.encode("utf-8", "backslashreplace").decode().replace("\0", "\\u0000")


def _sentence(error: ValidationError) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "required":
        return f"{_inside(where, _missing(error))} is missing."
    if error.validator == "additionalProperties":
        return f"{_inside(where, _unknown(error))} is not a property of this tool."
    if error.validator == "type":
        return f"{where or 'The value'} must be of type {_types(error.validator_value)}."
    return f"{where or 'The value'} breaks the rule {error.validator}: {_short(error.validator_value)}."


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _missing(error: ValidationError) -> str:
    required: Any = error.validator_value
    return str(next(name for name in required if name not in _given(error)))


def _unknown(error: ValidationError) -> str:
    known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
    return _short(next((name for name in _given(error) if name not in known), "a property"))


def _given(error: ValidationError) -> dict[str, Any]:
    found: Any = error.instance
    return found if isinstance(found, dict) else {}


def _types(types: Any) -> str:
    return " or ".join(types) if isinstance(types, list) else str(types)


def _short(rule: Any) -> str:
    text = rule if isinstance(rule, str) else simplejson.dumps(rule, use_decimal=True)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"
